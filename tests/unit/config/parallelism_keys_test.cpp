#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

// The keys for the parallelism of a model and the size of the batch. Mistakes are in tests/cases/parallelism.cases.

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

}  // namespace

TEST_CASE("without the key, and with the word data, every rank has the whole model", "[memory]") {
    for (const char* training :
         {"ranks: 6", "ranks: 6, parallelism: data", "ranks: 6, parallelism: {}", "ranks: 6, parallelism: {data: 6}"}) {
        CAPTURE(training);
        const Plan plan = plan_of(training);
        CHECK(plan.parallelism.whole_model());
        CHECK(plan.replicas() == 6);
        CHECK(plan.batch_per_rank == 32);
        CHECK(plan.optimizer == Optimizer::momentum);
    }
}

TEST_CASE("a word chooses one way to split between all ranks", "[memory]") {
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

TEST_CASE("a number of cells or stages is a mapping's height or stages", "[memory]") {
    CHECK(plan_of("ranks: 8, parallelism: {domain: 4}").parallelism.layout == Layout{1, 4, 1});
    CHECK(plan_of("ranks: 8, parallelism: {domain: {height: 2, width: 4}}").parallelism.layout == Layout{1, 2, 4});
    CHECK(plan_of("ranks: 8, parallelism: {pipeline: 2}").parallelism.pipeline.stages == 2);
    CHECK(plan_of("ranks: 8, parallelism: {pipeline: {stages: 2}}").parallelism.pipeline.stages == 2);
}

TEST_CASE("products have the remaining ranks as columns, stated or not", "[memory]") {
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
                         {fmt::format("model: {}", rows), fmt::format("model: {}, data: {}", rows, columns)}) {
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

TEST_CASE("every key of a product is read", "[memory]") {
    const Plan plan = plan_of(
        "ranks: 16, batch: 64, optimizer: adam, iterations: 1, parallelism: {model: 2, data: 4, pipeline: {stages: 2, "
        "micro_batches: 4, schedule: interleaved, virtual_stages: 2, layers: [1, 1, 1, 1]}, activations: {allgather: "
        "bruck, "
        "reduce_scatter: direct, allreduce: rabenseifner, all_to_all: pairwise, uneven_allgather: padded-ring, "
        "uneven_allreduce: ring}, sharding: gradients, layers: [{first: stem, last: body, model: 1, data: 8, "
        "activations: {allgather: direct}}, {first: head, activations: {allreduce: direct}}]}");
    CHECK(plan.optimizer == Optimizer::adam);
    CHECK(plan.iterations == 1);
    CHECK(plan.batch_per_rank == 16);
    const Parallelism& parallelism = plan.parallelism;
    CHECK(parallelism.layout == Layout{2, 1, 1});
    CHECK(parallelism.pipeline.stages == 2);
    CHECK(parallelism.pipeline.micro_batches == 4);
    CHECK(parallelism.pipeline.schedule == PipelineSchedule::interleaved);
    CHECK(parallelism.pipeline.virtual_stages == 2);
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

TEST_CASE("schedules and sharding are chosen by words", "[memory]") {
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

TEST_CASE("gradients are exchanged after each microbatch if they are sharded, without a pipeline, or by word",
          "[memory]") {
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

TEST_CASE("an automatic grid is one variant for each factorisation that divides the batch", "[memory]") {
    for (std::int64_t ranks = 1; ranks <= 30; ++ranks) {
        for (const std::int64_t batch : {1, 7, 12, 60}) {
            CAPTURE(ranks, batch);
            const config::Scenario scenario =
                load(fmt::format("ranks: {}, batch: {}, parallelism: {{model: auto}}", ranks, batch));
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

TEST_CASE("an automatic grid has the same rows in the base and in each variant", "[memory]") {
    const config::Scenario scenario =
        load("ranks: 8, batch: 32",
             "variants:\n  plain: {}\n  all: {training.parallelism: {model: auto}}\n"
             "  head: {training.parallelism: {layers: [{first: head, model: auto}]}}\n"
             "  both: {training.parallelism: {model: auto, layers: [{first: stem, data: 8}, "
             "{first: head, model: auto}]}}\n");
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

TEST_CASE("stages and cells take their ranks before an automatic grid", "[memory]") {
    const config::Scenario scenario =
        load("ranks: 24, batch: 12, parallelism: {model: auto, domain: 2, pipeline: {stages: 2, micro_batches: 2}}");
    // 24 / (2 stages · 2 cells) = 6 = rows · columns, and each column's 12/columns samples are two microbatches.
    std::vector<std::string> names;
    for (const config::Variant& variant : scenario.variants) names.push_back(variant.name);
    CHECK(names == std::vector<std::string>{"base 1x6", "base 2x3", "base 3x2", "base 6x1"});
    const config::Scenario odd =
        load("ranks: 24, batch: 18, parallelism: {model: auto, domain: 2, pipeline: {stages: 2, micro_batches: 2}}");
    names.clear();
    for (const config::Variant& variant : odd.variants) names.push_back(variant.name);
    CHECK(names == std::vector<std::string>{"base 2x3", "base 6x1"});
    REQUIRE(odd.left_out.size() == 2);
    CHECK(odd.left_out[0] == "base 1x6: the 3 samples of a replica cannot be divided into 2 microbatches");
}

TEST_CASE("of batch and batch_per_rank, and of model: auto and data, the later one applies", "[memory]") {
    const std::string base = "ranks: 8, batch: 64, parallelism: {model: 2, data: 4}";
    const auto plan = [&](const std::string& variant, const std::vector<std::string>& assignments = {}) {
        return load(base, "variants: {a: {training: {" + variant + "}}}\n", assignments).variants.front().plan;
    };
    CHECK(plan("").batch_per_rank == 16);
    CHECK(plan("batch_per_rank: 5").batch_per_rank == 5);
    CHECK(plan("batch_per_rank: 5", {"training.batch=32"}).batch_per_rank == 8);
    CHECK(plan("parallelism: {model: auto}", {"training.parallelism.data=8"}).parallelism.layout.rows == 1);
    CHECK(plan("parallelism: {model: auto}", {"training.parallelism.model=4", "training.parallelism.data=2"})
              .parallelism.layout.rows == 4);
    CHECK(plan("parallelism: model").parallelism.layout.rows == 8);
    CHECK(load(base, "", {"training.parallelism.model=auto"}).variants.size() == 4);
}

TEST_CASE("the size of a microbatch determines their number, from the batch of a replica", "[memory]") {
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

TEST_CASE("with an open grid each choice has its own number of microbatches", "[memory]") {
    // 1×4, 2×2 and 4×1: 6, 12 and 24 samples for a replica.
    const config::Scenario scenario =
        load("ranks: 4, batch: 24, parallelism: {model: auto, pipeline: {micro_batch_size: 3}}");
    REQUIRE(scenario.variants.size() == 3);
    for (const config::Variant& variant : scenario.variants) {
        CHECK(variant.plan.parallelism.pipeline.micro_batches == variant.plan.batch_per_rank / 3);
        CHECK(variant.plan.batch_per_rank == 6 * variant.plan.parallelism.layout.rows);
    }
}

TEST_CASE("state is sharded among all ranks with the same weights, or within groups of them", "[memory]") {
    const auto sharded = [](const std::string& value) {
        return plan_of("ranks: 8, parallelism: {sharding: " + value + "}").parallelism;
    };
    CHECK(sharded("gradients").sharding == Sharding::gradients);
    CHECK_FALSE(sharded("gradients").shard_ranks);
    const Parallelism groups = sharded("{of: parameters, within: 4}");
    CHECK(groups.sharding == Sharding::parameters);
    CHECK(groups.shard_ranks == 4);
}

TEST_CASE("the schedule zb-h1 splits the backward pass", "[memory]") {
    CHECK(plan_of("ranks: 2, parallelism: {pipeline: {stages: 2, schedule: zb-h1}}").parallelism.pipeline.schedule ==
          PipelineSchedule::zero_bubble_h1);
}

TEST_CASE("the overlap of exchanges among rows is a word, or a number of chunks with sequence parallelism",
          "[memory]") {
    const Plan open = plan_of("ranks: 2, parallelism: {model: 2}");
    CHECK(open.parallelism.model_overlap == ModelOverlap::as_gradients);
    CHECK(open.hides_input_gradients());
    CHECK(!plan_of("ranks: 2, overlap: none, parallelism: {model: 2}").hides_input_gradients());
    CHECK(!plan_of("ranks: 2, parallelism: {model: 2, model_overlap: none}").hides_input_gradients());
    CHECK(plan_of("ranks: 2, overlap: none, parallelism: {model: 2, model_overlap: weight-gradients}")
              .hides_input_gradients());
}

TEST_CASE("weights are gathered before the forward pass only where ranks update a share of them each", "[memory]") {
    CHECK(plan_of("ranks: 2, parallelism: {sharding: optimizer}").parallelism.gather == Gather::after_update);
    for (const char* sharding : {"optimizer", "gradients"})
        CHECK(plan_of(fmt::format("ranks: 2, parallelism: {{sharding: {}, gathering: before-forward}}", sharding))
                  .parallelism.gather == Gather::before_forward);
}

TEST_CASE("one device queue holds up the computation only behind gatherings before each pass", "[memory]") {
    const std::string parameters = "ranks: 2, parallelism: {sharding: parameters";
    CHECK(plan_of(parameters + "}").parallelism.device_queues == DeviceQueues::several);
    CHECK(plan_of(parameters + ", device_queues: one}").parallelism.device_queues == DeviceQueues::one);
}

TEST_CASE("transfers block with 1f1b, as in Megatron-LM, or by word", "[memory]") {
    const auto pipeline = [](const std::string& keys) {
        return plan_of("ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 2, " + keys + "}}")
            .parallelism.pipeline;
    };
    for (const std::string automatic : {"", ", transfers: auto"}) {
        CHECK(pipeline("schedule: 1f1b" + automatic).blocks());
        CHECK_FALSE(pipeline("schedule: gpipe" + automatic).blocks());
        CHECK_FALSE(pipeline("schedule: zb-h1" + automatic).blocks());
        CHECK_FALSE(pipeline("schedule: interleaved, virtual_stages: 2" + automatic).blocks());
    }
    for (const std::string schedule : {"1f1b", "gpipe", "zb-h1"}) {
        CHECK(pipeline("transfers: blocking, schedule: " + schedule).blocks());
        CHECK_FALSE(pipeline("transfers: overlapped, schedule: " + schedule).blocks());
    }
    CHECK(pipeline("schedule: 1f1b").scatter_gather);
    CHECK_FALSE(pipeline("scatter_gather: false").scatter_gather);
}

TEST_CASE("virtual stages are the parts of the model on each stage", "[memory]") {
    const Plan plan = plan_of(
        "ranks: 2, parallelism: {pipeline: {stages: 2, micro_batches: 4, virtual_stages: 2, schedule: interleaved}}");
    CHECK(plan.parallelism.pipeline.virtual_stages == 2);
}

TEST_CASE("gradients' algorithms must fit the ranks that share weights", "[memory]") {
    const std::string overlay = "algorithm: pipelined-tree, overlay: {topology: tree, hosts: 4}";
    CHECK(errors_of("ranks: 8, parallelism: {model: 2}, " + overlay).empty());
    const std::vector<Diagnostic> errors = errors_of("ranks: 8, parallelism: {model: 4}, " + overlay);
    REQUIRE(errors.size() == 1);
    CHECK(contains(errors[0].message, "all-reduce of gradients among 2 ranks"));
    // Automatic grids keep the algorithms that fit: four replicas, or a single one, which exchanges nothing.
    const config::Scenario scenario = load("ranks: 8, batch: 8, parallelism: {model: auto}, " + overlay);
    REQUIRE(scenario.variants.size() == 2);
    CHECK(scenario.variants[0].name == "base 2x4");
    CHECK(scenario.variants[1].name == "base 8x1");
    CHECK(scenario.left_out.size() == 2);
}
