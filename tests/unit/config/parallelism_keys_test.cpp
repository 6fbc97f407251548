#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "sim/config/files.hpp"
#include "tests/catch.hpp"

// The keys for the parallelism of a model and the size of the batch.

using namespace syncline;

namespace {

const std::string machine =
    "platform:\n"
    "  device: {flops: 1 Tflops, memory_bandwidth: 100 GBps}\n"
    "  fabric: {bandwidth: 10 Gbps, latency: 1 us}\n";

/// 30 = 2·3·5 outputs; its images have 64×64 pixels, and its layers' names are not similar to each other.
const std::string network =
    "workload:\n"
    "  name: net\n"
    "  input: [3, 64, 64]\n"
    "  layers:\n"
    "    - {name: stem, kind: convolution, input: [3, 64, 64], filters: 30, kernel: 3, padding: 1}\n"
    "    - {name: body, kind: convolution, input: [30, 64, 64], filters: 30, kernel: 3, padding: 1}\n"
    "    - {name: neck, kind: convolution, input: [30, 64, 64], filters: 30, kernel: 1}\n"
    "    - {name: head, kind: dense, inputs: 122880, outputs: 30}\n";

/// Returns the scenario with these lines in `training`, in line 12. Throws ConfigError.
config::Scenario load(const std::string& training, const std::string& rest = "",
                      const std::vector<std::string>& assignments = {}) {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("syncline-parallelism-{}.yaml", getpid());
    std::ofstream(path) << machine << network << "training: {" << training << "}\n" << rest;
    struct Remove {
        std::filesystem::path path;
        ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    return config::load_scenario(path.string(), assignments);
}

Plan plan_of(const std::string& training) {
    const config::Scenario scenario = load(training);
    REQUIRE(scenario.variants.size() == 1);
    CHECK(scenario.variants.front().name == "base");
    CHECK(scenario.variants.front().choice_of.empty());
    return scenario.variants.front().plan;
}

std::vector<Diagnostic> errors_of(const std::string& training) {
    try {
        load(training);
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

struct Mistake {
    const char *training, *at, *message, *hint;
};

/// Checks that `mistake` is the only error, at the last occurrence of `at`.
void check_mistake(const Mistake& mistake) {
    CAPTURE(mistake.training);
    const std::vector<Diagnostic> errors = errors_of(mistake.training);
    for (const Diagnostic& error : errors) UNSCOPED_INFO(render(error));
    CHECK(errors.size() == 1);
    if (errors.empty()) return;
    CHECK(contains(errors[0].message, mistake.message));
    CHECK(contains(errors[0].hint, mistake.hint));
    CHECK(errors[0].where.line == 12);
    const std::string line = std::string("training: {") + mistake.training + "}";
    CHECK(errors[0].where.column == static_cast<int>(line.rfind(mistake.at)) + 1);
}

}  // namespace

TEST_CASE("without the key, and with the word data, every rank has the whole model") {
    for (const char* training : {"ranks: 6", "ranks: 6, parallelism: data", "ranks: 6, parallelism: {}",
                                 "ranks: 6, parallelism: {data: 6}", "ranks: 6, parallelism: {grid: {columns: 6}}"}) {
        CAPTURE(training);
        const Plan plan = plan_of(training);
        CHECK(plan.parallelism.data_only());
        CHECK(plan.replicas() == 6);
        CHECK(plan.batch_per_rank == 32);
        CHECK(plan.optimizer == Optimizer::momentum);
    }
}

TEST_CASE("a word chooses one way to split between all ranks") {
    const Plan model = plan_of("ranks: 6, parallelism: model");
    CHECK(model.parallelism.layout == Layout{6, 1, 1});
    CHECK(model.replicas() == 1);
    const Plan domain = plan_of("ranks: 8, parallelism: domain");
    CHECK(domain.parallelism.layout == Layout{1, 8, 1});
    const Plan pipeline = plan_of("ranks: 4, parallelism: pipeline");
    CHECK(pipeline.parallelism.pipeline.stages == 4);
    CHECK(pipeline.parallelism.layout.replica() == 1);
    CHECK(pipeline.replicas() == 1);
}

TEST_CASE("a number of cells or stages is a mapping's height or stages") {
    CHECK(plan_of("ranks: 8, parallelism: {domain: 4}").parallelism.layout == Layout{1, 4, 1});
    CHECK(plan_of("ranks: 8, parallelism: {domain: {height: 2, width: 4}}").parallelism.layout == Layout{1, 2, 4});
    CHECK(plan_of("ranks: 8, parallelism: {pipeline: 2}").parallelism.pipeline.stages == 2);
    CHECK(plan_of("ranks: 8, parallelism: {pipeline: {stages: 2}}").parallelism.pipeline.stages == 2);
}

TEST_CASE("products have the remaining ranks as columns, stated or not") {
    for (std::int64_t stages = 1; stages <= 3; ++stages) {
        for (const std::int64_t rows : {1, 2, 5}) {
            for (std::int64_t height = 1; height <= 3; ++height) {
                for (const std::int64_t columns : {1, 3}) {
                    const std::int64_t ranks = stages * rows * height * 2 * columns;
                    const std::string way = fmt::format(
                        "ranks: {}, batch: {}, parallelism: {{pipeline: {{stages: {}, micro_batches: 3}}, domain: "
                        "{{height: {}, width: 2}}, ",
                        ranks, 6 * columns, stages, height);
                    for (const std::string& grid :
                         {fmt::format("model: {}", rows), fmt::format("grid: {{rows: {}}}", rows),
                          fmt::format("model: {}, data: {}", rows, columns),
                          fmt::format("grid: {{rows: {}, columns: {}}}", rows, columns)}) {
                        const std::string text = way + grid + "}";
                        CAPTURE(text);
                        const Plan plan = plan_of(text);
                        CHECK(plan.parallelism.layout == Layout{rows, height, 2});
                        CHECK(plan.parallelism.pipeline.stages == stages);
                        CHECK(plan.replicas() == columns);
                        CHECK(plan.batch_per_rank == 6);
                        CHECK(plan.global_batch() == 6 * columns);
                    }
                }
            }
        }
    }
}

TEST_CASE("every key of a product is read") {
    const Plan plan = plan_of(
        "ranks: 16, batch: 64, optimizer: adam, iterations: 1, parallelism: {model: 2, data: 4, pipeline: {stages: 2, "
        "micro_batches: 4, schedule: interleaved, chunks: 2, layers: [1, 1, 1, 1]}, activations: {allgather: bruck, "
        "reduce_scatter: direct, allreduce: rabenseifner, all_to_all: pairwise, uneven_allgather: padded-ring, "
        "uneven_allreduce: ring}, sharding: gradients, layers: [{first: stem, last: body, grid: {rows: 1, columns: 8}, "
        "activations: {allgather: direct}}, {first: head, activations: {allreduce: direct}}]}");
    CHECK(plan.optimizer == Optimizer::adam);
    CHECK(plan.iterations == 1);
    CHECK(plan.batch_per_rank == 16);
    const Parallelism& parallelism = plan.parallelism;
    CHECK(parallelism.layout == Layout{2, 1, 1});
    CHECK(parallelism.pipeline.stages == 2);
    CHECK(parallelism.pipeline.micro_batches == 4);
    CHECK(parallelism.pipeline.schedule == PipelineSchedule::interleaved);
    CHECK(parallelism.pipeline.chunks == 2);
    CHECK(parallelism.pipeline.layers == std::vector<std::int64_t>{1, 1, 1, 1});
    CHECK(parallelism.algorithms.allgather == "bruck");
    CHECK(parallelism.algorithms.reduce_scatter == "direct");
    CHECK(parallelism.algorithms.allreduce == "rabenseifner");
    CHECK(parallelism.algorithms.all_to_all == "pairwise");
    CHECK(parallelism.algorithms.uneven_allgather == "padded-ring");
    CHECK(parallelism.algorithms.uneven_allreduce == "ring");
    CHECK(parallelism.sharding == Sharding::gradients);
    CHECK(!parallelism.sequence);
    REQUIRE(parallelism.ranges.size() == 2);
    const LayerRange &images = parallelism.ranges[0], &head = parallelism.ranges[1];
    CHECK(images.first == "stem");
    CHECK(images.last == "body");
    CHECK(images.layout == Layout{1, 1, 1});
    REQUIRE(images.algorithms);
    CHECK(images.algorithms->allgather == "direct");
    // What a range does not set is as for all layers.
    CHECK(images.algorithms->all_to_all == "pairwise");
    CHECK(head.first == "head");
    CHECK(head.last == "head");
    CHECK(!head.layout);
    REQUIRE(head.algorithms);
    CHECK(head.algorithms->allreduce == "direct");
    CHECK(head.algorithms->allgather == "bruck");
}

TEST_CASE("schedules and sharding are chosen by words") {
    const auto schedule = [](const std::string& word) {
        return plan_of("ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 2, schedule: " + word + "}}")
            .parallelism.pipeline.schedule;
    };
    CHECK(schedule("gpipe") == PipelineSchedule::gpipe);
    CHECK(schedule("1f1b") == PipelineSchedule::one_f_one_b);
    CHECK(plan_of("ranks: 2, parallelism: pipeline").parallelism.pipeline.schedule == PipelineSchedule::one_f_one_b);
    const auto sharding = [](const std::string& word) {
        return plan_of("ranks: 2, parallelism: {sharding: " + word + "}").parallelism.sharding;
    };
    CHECK(sharding("none") == Sharding::none);
    CHECK(sharding("optimizer") == Sharding::optimizer);
    CHECK(sharding("gradients") == Sharding::gradients);
    CHECK(sharding("parameters") == Sharding::parameters);
    CHECK(plan_of("ranks: 2, optimizer: sgd").optimizer == Optimizer::sgd);
}

TEST_CASE("gradients are exchanged after each micro-batch if they are sharded, without a pipeline, or by word") {
    const auto each = [](const std::string& keys) {
        return plan_of("ranks: 4, parallelism: {" + keys + "}").parallelism.syncs_each_micro_batch();
    };
    for (const bool automatic : {false, true}) {
        const std::string sync = automatic ? ", gradient_sync: auto" : "";
        CHECK_FALSE(each("sharding: none" + sync));
        CHECK_FALSE(each("sharding: optimizer" + sync));
        CHECK(each("sharding: gradients" + sync));
        CHECK(each("sharding: parameters" + sync));
        CHECK_FALSE(each("pipeline: 2, sharding: parameters" + sync));
    }
    for (const std::string sharding : {"none", "optimizer", "gradients", "parameters"}) {
        CHECK(each("gradient_sync: each-micro-batch, sharding: " + sharding));
        CHECK_FALSE(each("gradient_sync: last-micro-batch, sharding: " + sharding));
        CHECK_FALSE(each("pipeline: 2, gradient_sync: last-micro-batch, sharding: " + sharding));
    }
}

TEST_CASE("an automatic grid is one variant for each factorisation that divides the batch") {
    for (std::int64_t ranks = 1; ranks <= 30; ++ranks) {
        for (const std::int64_t batch : {1, 7, 12, 60}) {
            CAPTURE(ranks, batch);
            const config::Scenario scenario =
                load(fmt::format("ranks: {}, batch: {}, parallelism: {{grid: auto}}", ranks, batch));
            std::set<std::int64_t> expected;
            std::size_t divisors = 0;
            for (std::int64_t columns = 1; columns <= ranks; ++columns) {
                if (ranks % columns != 0) continue;
                ++divisors;
                if (batch % columns == 0) expected.insert(ranks / columns);
            }
            std::set<std::int64_t> found;
            for (const config::Variant& variant : scenario.variants) {
                const Plan& plan = variant.plan;
                const std::int64_t rows = plan.parallelism.layout.rows;
                found.insert(rows);
                CHECK(rows * plan.replicas() == ranks);
                CHECK(plan.global_batch() == batch);
                CHECK(variant.name == fmt::format("base {}x{}", rows, ranks / rows));
                CHECK(variant.choice_of == "base");
            }
            CHECK(found == expected);
            CHECK(scenario.variants.size() == expected.size());
            CHECK(scenario.left_out.size() == divisors - expected.size());
        }
    }
}

TEST_CASE("an automatic grid has the same rows in the base and in each variant") {
    const config::Scenario scenario =
        load("ranks: 8, batch: 32",
             "variants:\n  plain: {}\n  all: {training.parallelism: {grid: auto}}\n"
             "  head: {training.parallelism: {layers: [{first: head, grid: auto}]}}\n"
             "  both: {training.parallelism: {grid: auto, layers: [{first: stem, data: 8}, "
             "{first: head, grid: auto}]}}\n");
    std::vector<std::string> names;
    for (const config::Variant& variant : scenario.variants) {
        names.push_back(variant.name);
        CAPTURE(variant.name);
        const Plan& plan = variant.plan;
        CHECK(plan.global_batch() == 32);
        const std::int64_t rows = plan.parallelism.layout.rows;
        if (variant.choice_of == "head") {
            CHECK(rows == 1);
            CHECK(plan.batch_per_rank == 4);
            CHECK(variant.name == fmt::format("head {0}x{1}", plan.parallelism.ranges[0].layout->rows,
                                              8 / plan.parallelism.ranges[0].layout->rows));
        }
        if (variant.choice_of == "both") {
            CHECK(plan.parallelism.ranges[0].layout == Layout{1, 1, 1});
            CHECK(plan.parallelism.ranges[1].layout->rows == rows);
        }
    }
    CHECK(names == std::vector<std::string>{"plain", "all 1x8", "all 2x4", "all 4x2", "all 8x1", "head 1x8", "head 2x4",
                                            "head 4x2", "head 8x1", "both 1x8", "both 2x4", "both 4x2", "both 8x1"});
    CHECK(scenario.variants[0].choice_of.empty());
    CHECK(scenario.left_out.empty());
}

TEST_CASE("stages and cells take their ranks before an automatic grid") {
    const config::Scenario scenario =
        load("ranks: 24, batch: 12, parallelism: {grid: auto, domain: 2, pipeline: {stages: 2, micro_batches: 2}}");
    // 24 / (2 stages · 2 cells) = 6 = rows · columns, and each column's 12/columns samples are two micro-batches.
    std::vector<std::string> names;
    for (const config::Variant& variant : scenario.variants) names.push_back(variant.name);
    CHECK(names == std::vector<std::string>{"base 1x6", "base 2x3", "base 3x2", "base 6x1"});
    const config::Scenario odd =
        load("ranks: 24, batch: 18, parallelism: {grid: auto, domain: 2, pipeline: {stages: 2, micro_batches: 2}}");
    names.clear();
    for (const config::Variant& variant : odd.variants) names.push_back(variant.name);
    CHECK(names == std::vector<std::string>{"base 2x3", "base 6x1"});
    REQUIRE(odd.left_out.size() == 2);
    CHECK(odd.left_out[0] == "base 1x6: the 3 samples of a replica cannot be divided into 2 micro-batches");
}

TEST_CASE("of batch and batch_per_rank, and of grid and model, the later one applies") {
    const std::string base = "ranks: 8, batch: 64, parallelism: {model: 2, data: 4}";
    const auto plan = [&](const std::string& variant, const std::vector<std::string>& assignments = {}) {
        return load(base, "variants: {a: {training: {" + variant + "}}}\n", assignments).variants.front().plan;
    };
    CHECK(plan("").batch_per_rank == 16);
    CHECK(plan("batch_per_rank: 5").batch_per_rank == 5);
    CHECK(plan("batch_per_rank: 5", {"training.batch=32"}).batch_per_rank == 8);
    CHECK(plan("parallelism: {grid: {rows: 8}}").parallelism.layout.rows == 8);
    CHECK(plan("parallelism: {grid: {rows: 8}}", {"training.parallelism.model=4", "training.parallelism.data=2"})
              .parallelism.layout.rows == 4);
    CHECK(plan("parallelism: model").parallelism.layout.rows == 8);
    CHECK(load(base, "", {"training.parallelism.grid=auto"}).variants.size() == 4);
}

TEST_CASE("factors that do not multiply to the ranks are errors that name the factors") {
    const Mistake mistakes[] = {
        {"ranks: 8, parallelism: {model: 3}", "3}", "8 ranks cannot be divided into 3 rows", ""},
        {"ranks: 8, parallelism: {grid: {rows: 3}}", "3}}", "8 ranks cannot be divided into 3 rows", ""},
        {"ranks: 8, parallelism: {pipeline: 3}", "3}", "8 ranks cannot be divided into 3 stages", ""},
        {"ranks: 8, parallelism: {pipeline: {stages: 3}}", "3}}", "8 ranks cannot be divided into 3 stages", ""},
        {"ranks: 8, parallelism: {pipeline: 2, model: 3}", "3}",
         "4 ranks of each of 2 stages cannot be divided into 3 rows", ""},
        {"ranks: 8, parallelism: {domain: 3}", "3}", "8 ranks cannot be divided into 3×1 parts", ""},
        {"ranks: 8, parallelism: {model: 4, domain: {height: 2, width: 2}}", "{height",
         "8 ranks cannot be divided into 4 rows of 2×2 parts", ""},
        {"ranks: 8, parallelism: {model: 4, data: 4}", "4}", "4 rows × 4 columns are 16 ranks, but there are 8 ranks",
         "write 2 columns"},
        {"ranks: 8, parallelism: {grid: {rows: 2, columns: 2}}", "2}}", "2 rows × 2 columns are 4 ranks",
         "write 4 columns"},
        {"ranks: 8, parallelism: {data: 4}", "4}", "1 rows × 4 columns are 4 ranks", "write 8 columns"},
        {"ranks: 8, parallelism: {layers: [{first: head, model: 3}]}", "3}]", "8 ranks cannot be divided into 3 rows",
         ""},
        {"ranks: 8, parallelism: {layers: [{first: head, grid: {rows: 4, columns: 4}}]}", "4}}]",
         "4 rows × 4 columns are 16 ranks", "write 2 columns"},
        {"ranks: 4, parallelism: {model: 2, grid: {rows: 2}}", "2, grid", "'model' and 'grid' exclude each other", ""},
        {"ranks: 4, parallelism: {data: 2, grid: {rows: 2}}", "2, grid", "'data' and 'grid' exclude each other", ""},
        {"ranks: 4, parallelism: {model: 0}", "0}", "'model': '0' is out of range", ""},
        {"ranks: 4, parallelism: {grid: automatic}", "automatic", "'grid' cannot be 'automatic'", "auto"},
        {"ranks: 4, parallelism: pipelin", "pipelin", "'parallelism' cannot be 'pipelin'", "'pipeline'"},
        {"ranks: 4, parallelism: {modl: 2}", "modl", "unknown key 'modl'", "'model'"},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("the size of a micro-batch determines their number, from the batch of a replica") {
    for (const std::int64_t replicas : {1, 2, 3}) {
        for (const std::int64_t size : {1, 2, 5, 7}) {
            for (const std::int64_t number : {1, 3, 4}) {
                const std::string rest = fmt::format(
                    "ranks: {}, parallelism: {{pipeline: {{stages: 2, micro_batch_size: {}}}}}", 2 * replicas, size);
                CAPTURE(rest, number);
                for (const std::string& batch : {fmt::format("batch: {}", replicas * size * number),
                                                 fmt::format("batch_per_rank: {}", size * number)}) {
                    const Plan plan = plan_of(batch + ", " + rest);
                    CHECK(plan.parallelism.pipeline.micro_batches == number);
                    CHECK(plan.batch_per_rank == size * number);
                }
            }
        }
    }
}

TEST_CASE("with an open grid each choice has its own number of micro-batches") {
    // 1×4, 2×2 and 4×1: 6, 12 and 24 samples for a replica.
    const config::Scenario scenario =
        load("ranks: 4, batch: 24, parallelism: {grid: auto, pipeline: {micro_batch_size: 3}}");
    REQUIRE(scenario.variants.size() == 3);
    for (const config::Variant& variant : scenario.variants) {
        CHECK(variant.plan.parallelism.pipeline.micro_batches == variant.plan.batch_per_rank / 3);
        CHECK(variant.plan.batch_per_rank == 6 * variant.plan.parallelism.layout.rows);
    }
}

TEST_CASE("state is sharded among all ranks with the same weights, or within groups of them") {
    const auto sharded = [](const std::string& value) {
        return plan_of("ranks: 8, parallelism: {sharding: " + value + "}").parallelism;
    };
    CHECK(sharded("gradients").sharding == Sharding::gradients);
    CHECK_FALSE(sharded("gradients").shard_ranks);
    const Parallelism groups = sharded("{of: parameters, within: 4}");
    CHECK(groups.sharding == Sharding::parameters);
    CHECK(groups.shard_ranks == 4);
    const Mistake mistakes[] = {
        {"ranks: 8, parallelism: {sharding: {of: parameters}}", "{of", "missing key 'within'", ""},
        {"ranks: 8, parallelism: {sharding: {of: parameters, within: nodes}}", "nodes", "'nodes' is not a whole number",
         ""},
        {"ranks: 8, parallelism: {sharding: {of: parameters, within: 3}}", "3}}",
         "8 ranks with the same weights cannot be divided into groups of 3", "a number that divides them"},
        {"ranks: 8, parallelism: {sharding: {of: parameters, within: node}}", "node}}", "no two ranks of a node",
         "in place of"},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("the schedule zb-h1 splits the backward pass") {
    CHECK(plan_of("ranks: 2, parallelism: {pipeline: {stages: 2, schedule: zb-h1}}").parallelism.pipeline.schedule ==
          PipelineSchedule::zero_bubble_h1);
    check_mistake({"ranks: 2, parallelism: {pipeline: {stages: 2, chunks: 2, schedule: zb-h1}}", "2, schedule",
                   "need an interleaved schedule", "interleaved"});
}

TEST_CASE("the overlap of exchanges among rows is a word, or a number of chunks with sequence parallelism") {
    const Plan open = plan_of("ranks: 2, parallelism: {model: 2}");
    CHECK(open.parallelism.model_overlap == ModelOverlap::as_gradients);
    CHECK(open.hides_input_gradients());
    CHECK(!plan_of("ranks: 2, overlap: none, parallelism: {model: 2}").hides_input_gradients());
    CHECK(!plan_of("ranks: 2, parallelism: {model: 2, model_overlap: none}").hides_input_gradients());
    CHECK(plan_of("ranks: 2, overlap: none, parallelism: {model: 2, model_overlap: weight-gradients}")
              .hides_input_gradients());
    const Mistake mistakes[] = {
        {"ranks: 2, parallelism: {model_overlap: none}", "none}", "needs more than one row", "`model: 8`"},
        {"ranks: 2, parallelism: {model: 2, model_overlap: {chunks: 4}}", "{chunks", "of `sequence`",
         "`sequence: true`"},
        {"ranks: 2, batch: 4, parallelism: {grid: auto, model_overlap: {chunks: 4}}", "{chunks", "of `sequence`",
         "`sequence: true`"},
        {"ranks: 2, parallelism: {model: 2, model_overlap: {chunks: 1}}", "1}}", "chunks", ""},
        {"ranks: 2, parallelism: {model: 2, model_overlap: {}}", "{}", "chunks", ""},
        {"ranks: 2, parallelism: {model: 2, model_overlap: all}", "all}", "all", ""},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("weights are gathered before the forward pass only where ranks update a share of them each") {
    CHECK(plan_of("ranks: 2, parallelism: {sharding: optimizer}").parallelism.gather == Gather::after_update);
    for (const char* sharding : {"optimizer", "gradients"})
        CHECK(plan_of(fmt::format("ranks: 2, parallelism: {{sharding: {}, gathering: before-forward}}", sharding))
                  .parallelism.gather == Gather::before_forward);
    const Mistake mistakes[] = {
        {"ranks: 2, parallelism: {gathering: before-forward}", "before", "a share each", "`sharding: optimizer`"},
        {"ranks: 2, parallelism: {sharding: parameters, gathering: before-forward}", "before", "a share each",
         "`sharding: optimizer`"},
        {"ranks: 2, parallelism: {sharding: optimizer, gathering: later}", "later", "later", ""},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("one device queue holds up the computation only behind gatherings before each pass") {
    const std::string parameters = "ranks: 2, parallelism: {sharding: parameters";
    CHECK(plan_of(parameters + "}").parallelism.device_queues == DeviceQueues::several);
    CHECK(plan_of(parameters + ", device_queues: one}").parallelism.device_queues == DeviceQueues::one);
    CHECK(errors_of("ranks: 2, batch: 2, parallelism: {sharding: optimizer, device_queues: several}").empty());
    const Mistake mistakes[] = {
        {"ranks: 2, parallelism: {device_queues: one}", "one}", "before each pass", "`sharding: parameters`"},
        {"ranks: 2, parallelism: {sharding: gradients, device_queues: one}", "one}", "before each pass",
         "`sharding: parameters`"},
        {"ranks: 2, parallelism: {sharding: parameters, device_queues: two}", "two}", "two", ""},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("channels need a collective") {
    check_mistake(
        {"ranks: 2, channels: 2, parallelism: {pipeline: 2}", "2, parallelism", "this plan has none", "remove it"});
    CHECK(errors_of("ranks: 4, channels: 2, parallelism: {pipeline: 2}").empty());
    CHECK(errors_of("ranks: 1, channels: 2").empty());
}

TEST_CASE("transfers block with 1f1b, as in Megatron-LM, or by word") {
    const auto pipeline = [](const std::string& keys) {
        return plan_of("ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 2, " + keys + "}}")
            .parallelism.pipeline;
    };
    for (const std::string automatic : {"", ", transfers: auto"}) {
        CHECK(pipeline("schedule: 1f1b" + automatic).blocks());
        CHECK_FALSE(pipeline("schedule: gpipe" + automatic).blocks());
        CHECK_FALSE(pipeline("schedule: zb-h1" + automatic).blocks());
        CHECK_FALSE(pipeline("schedule: interleaved, chunks: 2" + automatic).blocks());
    }
    for (const std::string schedule : {"1f1b", "gpipe", "zb-h1"}) {
        CHECK(pipeline("transfers: blocking, schedule: " + schedule).blocks());
        CHECK_FALSE(pipeline("transfers: overlapped, schedule: " + schedule).blocks());
    }
    CHECK(pipeline("schedule: 1f1b").scatter_gather);
    CHECK_FALSE(pipeline("scatter_gather: false").scatter_gather);
    check_mistake(
        {"ranks: 2, parallelism: {pipeline: {stages: 2, transfers: block}}", "block}}", "'block'", "blocking"});
}

TEST_CASE("virtual stages are another name of chunks") {
    const Plan plan = plan_of(
        "ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 4, virtual_stages: 2, schedule: interleaved}}");
    CHECK(plan.parallelism.pipeline.chunks == 2);
}

TEST_CASE("pipelines that do not fit are errors") {
    const Mistake mistakes[] = {
        {"ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 2, schedule: interleaved}}", "interleaved",
         "needs several chunks", "chunks: 2"},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, chunks: 2}}", "2}}", "2 chunks on a stage need an interleaved",
         "schedule: interleaved"},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 3, chunks: 2, schedule: interleaved}}",
         "3, chunks", "the 2 stages must divide the number of micro-batches, 3", ""},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, virtual_stages: 2}}", "2}}",
         "2 chunks on a stage need an interleaved", "schedule: interleaved"},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, chunks: 2, virtual_stages: 2, schedule: interleaved}}",
         "2, schedule", "'virtual_stages' is another name of 'chunks'", "remove one"},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 2, micro_batch_size: 4}}", "4}}",
         "exclude each other", "remove one"},
        {"ranks: 2, batch_per_rank: 20, parallelism: {pipeline: {stages: 2, micro_batch_size: 6}}", "6}}",
         "the 20 samples of a replica cannot be divided into micro-batches of 6", "write 5 or 10"},
        {"ranks: 2, batch_per_rank: 20, parallelism: {pipeline: {stages: 2, micro_batch_size: 21}}", "21}}",
         "the 20 samples of a replica cannot be divided into micro-batches of 21", "write at most 20"},
        {"ranks: 4, batch: 24, parallelism: {pipeline: {stages: 2, micro_batch_size: 9}}", "9}}",
         "the 12 samples of a replica cannot be divided into micro-batches of 9", "write 6 or 12"},
        {"ranks: 2, batch_per_rank: 20, parallelism: {pipeline: {stages: 2, micro_batch_size: 0}}", "0}}",
         "'micro_batch_size': '0' is out of range", ""},
        {"ranks: 2, batch_per_rank: 12, parallelism: {pipeline: {stages: 2, micro_batch_size: 4, chunks: 2, schedule: "
         "interleaved}}",
         "4, chunks", "the 2 stages must divide the number of micro-batches, 3", ""},
        {"ranks: 2, batch_per_rank: 12, exchange: gossip, parallelism: {pipeline: {micro_batch_size: 4}}", "gossip",
         "is modelled only if every rank has the whole model", "allreduce"},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, layers: [1, 2, 1]}}", "[", "are 2 parts, but 3 are listed", ""},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, layers: [1, 2]}}", "[",
         "these are 3 layers, but workload 'net' has 4", ""},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, layers: [4, 0]}}", "0]", "'layers': '0' is out of range", ""},
        {"ranks: 5, parallelism: {pipeline: {stages: 5}}", "5}}", "has 4 layers, too few for 5 parts", ""},
        {"ranks: 5, parallelism: {pipeline: 5}", "5}", "has 4 layers, too few for 5 parts", ""},
        {"ranks: 5, parallelism: pipeline", "pipeline", "has 4 layers, too few for 5 parts", ""},
        {"ranks: 2, batch_per_rank: 32, parallelism: {pipeline: {stages: 2, micro_batches: 5}}", "5}}",
         "the 32 samples of a replica cannot be divided into 5 micro-batches", ""},
        {"ranks: 4, batch: 20, parallelism: {pipeline: {stages: 2, micro_batches: 4}}", "4}}",
         "the 10 samples of a replica cannot be divided into 4 micro-batches", ""},
        {"ranks: 2, parallelism: {pipeline: {stages: 2, schedule: 1f2b}}", "1f2b", "'schedule' cannot be '1f2b'",
         "'1f1b'"},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("ranges of layers are of the model, and each layer is in one range") {
    const Mistake mistakes[] = {
        {"ranks: 4, parallelism: {layers: [{first: haed, model: 2}]}", "haed", "workload 'net' has no layer 'haed'",
         "'head'"},
        {"ranks: 4, free_layers: [stem, haed]", "[stem, haed", "workload 'net' has no layer 'haed'", "'head'"},
        {"ranks: 4, parallelism: {layers: [{first: stem, data: 4}, {first: body, last: nek, model: 2}]}", "nek",
         "workload 'net' has no layer 'nek'", "'neck'"},
        {"ranks: 4, parallelism: {layers: [{first: classifier, model: 2}]}", "classifier", "has no layer 'classifier'",
         "from 'stem' to 'head'"},
        {"ranks: 4, parallelism: {layers: [{first: head, last: body, model: 2}]}", "body", "'body' is before 'head'",
         ""},
        {"ranks: 4, parallelism: {layers: [{first: body, last: head, model: 2}, {first: neck, data: 4}]}", "neck",
         "layer 'neck' is also in item 1", ""},
        {"ranks: 4, parallelism: {layers: [{first: neck}]}", "neck", "this range changes nothing for its layers",
         "grid"},
        {"ranks: 4, parallelism: {layers: [{last: neck, model: 2}]}", "{last", "missing key 'first'", ""},
        {"ranks: 4, parallelism: {layers: []}", "[]", "'layers' has no items", ""},
        {"ranks: 4, parallelism: {layers: {first: neck}}", "{first", "'layers' is a mapping, not a list", ""},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("batches that do not divide are errors") {
    const Mistake mistakes[] = {
        {"ranks: 8, batch: 20", "20", "20 samples cannot be divided into 8 replicas", "24 samples would divide"},
        {"ranks: 8, batch: 1", "1", "1 sample cannot be divided into 8 replicas", "8 samples would divide"},
        {"ranks: 8, parallelism: {model: 2}, batch: 30", "30", "30 samples cannot be divided into 4 replicas",
         "32 samples would divide"},
        {"ranks: 8, batch_per_rank: 4, batch: 32", "32", "'batch' and 'batch_per_rank' exclude each other", ""},
        {"ranks: 8, parallelism: {grid: auto}", "auto", "there is no 'batch'", "`batch`"},
        {"ranks: 2, batch: 8, parallelism: {grid: auto, pipeline: {micro_batches: 3}}", "auto", "none of 2 grids fits",
         "1x2: the 4 samples of a replica cannot be divided into 3 micro-batches"},
        {"ranks: 8, batch: 0", "0", "'batch': '0' is out of range", ""},
        {"ranks: 8, parallelism: {layers: [{first: head, grid: auto}]}", "auto", "there is no 'batch'", "`batch`"},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("keys that exclude each other do not hide a plan that cannot be carried out") {
    const std::vector<Diagnostic> errors =
        errors_of("ranks: 4, batch: 8, batch_per_rank: 2, parallelism: {pipeline: 3}");
    REQUIRE(errors.size() == 2);
    const bool first = contains(errors[0].message, "exclude each other");
    CHECK(contains(errors[first ? 0 : 1].message, "'batch' and 'batch_per_rank' exclude each other"));
    CHECK(contains(errors[first ? 1 : 0].message, "4 ranks cannot be divided into 3 stages"));
}

TEST_CASE("features for plain data parallelism are refused with any other") {
    const Mistake mistakes[] = {
        {"ranks: 4, parallelism: model, exchange: parameter-server", "parameter-server", "'parameter-server'",
         "exchange: allreduce"},
        {"ranks: 4, parallelism: {model: 2}, exchange: gossip", "gossip", "'gossip'", "exchange: allreduce"},
        {"ranks: 4, parallelism: {sharding: optimizer}, overlap: across-iterations", "across-iterations",
         "'across-iterations'", "wait-free"},
        {"ranks: 4, parallelism: {pipeline: 2}, schedule: priority", "priority", "'priority'", "fifo"},
        {"ranks: 4, parallelism: {pipeline: {micro_batches: 2}}, fusion: {threshold: 1 MiB, cycle: 5 ms}", "5 ms",
         "'cycle'", ""},
        {"ranks: 4, parallelism: {domain: 2}, fusion: {threshold: 1 MiB, negotiation: true}", "true", "'negotiation'",
         ""},
        {"ranks: 4, parallelism: {layers: [{first: head, model: 2}]}, schedule: priority", "priority", "'priority'",
         "fifo"},
        {"ranks: 4, batch: 64, parallelism: {grid: auto}, exchange: gossip", "gossip", "'gossip'", "allreduce"},
        {"ranks: 4, parallelism: {sharding: gradients}, algorithm: segmented-ring, segment: 1 MiB", "1 MiB",
         "'segment' has no effect on sharded gradients", "reduce_scatter"},
        {"ranks: 4, parallelism: {sharding: gradients}, selection: {name: s, rows: [{operation: allreduce, algorithm: "
         "ring}]}",
         "{name", "no effect on sharded gradients", "remove"},
        {"ranks: 4, parallelism: {sequence: true}", "true", "'sequence' needs more than one row", "model: 8"},
        {"ranks: 4, parallelism: {pipeline: 2, sharding: gradients, gradient_sync: each-micro-batch}",
         "each-micro-batch", "a pipeline exchanges gradients after its last micro-batch", "last-micro-batch"},
    };
    for (const Mistake& mistake : mistakes) {
        check_mistake(mistake);
        // The same is accepted if every rank has the whole model.
        std::string plain = mistake.training;
        const auto from = plain.find("parallelism: "), to = plain.find("}, ", from);
        if (to == std::string::npos || plain.find("grid") != std::string::npos) continue;
        plain.replace(from, to + 1 - from, "parallelism: data");
        CAPTURE(plain);
        CHECK(errors_of(plain).empty());
    }
}

TEST_CASE("errors of the arrangement are reported at their key") {
    const Mistake mistakes[] = {
        {"ranks: 4, parallelism: {model: 4, sequence: true}", "true", "no sequence positions", "transformers"},
        {"ranks: 128, parallelism: domain", "domain", "128×1 cells", "under `layers`"},
        {"ranks: 128, parallelism: {domain: {height: 128}}", "{height", "128×1 cells", "under `layers`"},
        {"ranks: 6, parallelism: {model: 2, layers: [{first: head, model: 3}]}", "[{first",
         "activations cannot be moved", ""},
    };
    for (const Mistake& mistake : mistakes) check_mistake(mistake);
}

TEST_CASE("gradients' algorithms must fit the ranks that share weights") {
    const std::string overlay = "algorithm: pipelined-tree, overlay: {topology: tree, hosts: 4}";
    CHECK(errors_of("ranks: 8, parallelism: {model: 2}, " + overlay).empty());
    const std::vector<Diagnostic> errors = errors_of("ranks: 8, parallelism: {model: 4}, " + overlay);
    REQUIRE(errors.size() == 1);
    CHECK(contains(errors[0].message, "all-reduce of gradients among 2 ranks"));
    // Automatic grids keep the algorithms that fit: four replicas, or a single one, which exchanges nothing.
    const config::Scenario scenario = load("ranks: 8, batch: 8, parallelism: {grid: auto}, " + overlay);
    REQUIRE(scenario.variants.size() == 2);
    CHECK(scenario.variants[0].name == "base 2x4");
    CHECK(scenario.variants[1].name == "base 8x1");
    CHECK(scenario.left_out.size() == 2);
}
