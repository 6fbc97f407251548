#include "sim/config/parallelism.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/collective/algorithm.hpp"
#include "sim/config/exchange.hpp"

namespace syncline::config {

namespace {

/// Of all layers, or of a range.
struct WrittenLayout {
    Layout layout;
    std::int64_t columns = 0;  ///< 0: what remains
    bool automatic = false;
    bool given = false;
};

WrittenLayout describe_layout(Fields& fields) {
    WrittenLayout written;
    Layout& layout = written.layout;
    const auto rows = [&](Fields& inner, const char* key) {
        inner.integer({key, "Ranks that hold a part of every weight each (model or tensor parallelism)."}, layout.rows,
                      1, largest_group);
    };
    const auto columns = [&](Fields& inner, const char* key) {
        inner.integer({key, "Replicas, each with its part of the batch; by default as many as the ranks make."},
                      written.columns, 1, largest_group);
    };
    rows(fields, "model");
    columns(fields, "data");
    int word = -1;
    fields.choice_or_section(
        {"grid", "Rows × columns, the same as `model` and `data`; `auto`: every factorisation, each a variant."}, word,
        {"auto"}, [&](Fields& inner) {
            rows(inner, "rows");
            columns(inner, "columns");
        });
    written.automatic = word == 0;
    fields.integer_or_section({"domain", "Into how many parts images are cut: by height, or by height and width."},
                              layout.height, 1, largest_group, [&](Fields& inner) {
                                  inner.integer({"height", "From top to bottom."}, layout.height, 1, largest_group);
                                  inner.integer({"width", "From left to right."}, layout.width, 1, largest_group);
                              });
    for (const char* key : {"model", "data", "grid", "domain"}) written.given = written.given || fields.given(key);
    for (const char* key : {"model", "data"})
        if (fields.given(key) && fields.given("grid"))
            fields.reject(key, fmt::format("'{}' beside 'grid'", key), "`grid: {rows: 8, columns: 4}` says both");
    return written;
}

/// Rejects a layout whose factors do not make up the ranks of a stage.
void check_factors(Fields& fields, const WrittenLayout& written, std::int64_t ranks, std::int64_t stages) {
    const Layout& layout = written.layout;
    const std::string whose =
        stages == 1 ? fmt::format("{} ranks", ranks) : fmt::format("{} ranks of each of {} stages", ranks, stages);
    const char* rows = fields.given("model") ? "model" : "grid.rows";
    if (ranks % layout.rows != 0)
        return fields.reject(rows, fmt::format("{} do not divide into {} rows", whose, layout.rows), "");
    if (ranks / layout.rows % layout.cells() != 0)
        return fields.reject("domain",
                             layout.rows == 1 ? fmt::format("{} do not divide into {}×{} parts of an image", whose,
                                                            layout.height, layout.width)
                                              : fmt::format("{} do not divide into {} rows of {}×{} parts of an image",
                                                            whose, layout.rows, layout.height, layout.width),
                             "");
    if (written.columns == 0 || layout.replica() * written.columns == ranks) return;
    const std::string cells =
        layout.cells() == 1 ? "" : fmt::format(" × {}×{} parts of an image", layout.height, layout.width);
    fields.reject(fields.given("data") ? "data" : "grid.columns",
                  fmt::format("{} rows{} × {} columns are {} ranks, and there are {}", layout.rows, cells,
                              written.columns, layout.replica() * written.columns, whose),
                  fmt::format("{} columns remain, also without this key", ranks / layout.replica()));
}

void describe(Fields& fields, ActivationAlgorithms& algorithms) {
    const auto one = [&](Key key, std::string& name, const char* operation) {
        fields.one_of(key, name, algorithm_names(operation));
    };
    one({"allgather", "Outputs, of which every row has a part; and weights that are shared out."}, algorithms.allgather,
        "allgather");
    one({"reduce_scatter", "Gradients, of which every rank needs a part; also those of weights that are shared out."},
        algorithms.reduce_scatter, "reduce-scatter");
    one({"allreduce", "Partial sums of outputs, and of gradients of inputs."}, algorithms.allreduce, "allreduce");
    one({"all_to_all", "Where layers that follow each other are laid out differently."}, algorithms.all_to_all,
        "all-to-all");
    one({"uneven_allgather", "Where a layer has fewer parts than there are rows."}, algorithms.uneven_allgather,
        "allgather");
    one({"uneven_allreduce", "Where a layer has fewer parts than there are rows."}, algorithms.uneven_allreduce,
        "allreduce");
}

void describe_activations(Fields& fields, ActivationAlgorithms& algorithms) {
    fields.section({"activations", "What carries out the exchanges of activations and of their gradients."},
                   [&](Fields& inner) { describe(inner, algorithms); });
}

/// The keys of a pipeline beside `stages`, whose number may also stand alone.
void describe(Fields& fields, Pipeline& pipeline) {
    fields.integer({"stages", "Groups of ranks that hold some layers each."}, pipeline.stages, 1, largest_group);
    fields.integer({"micro_batches", "Into which a replica's batch is cut."}, pipeline.micro_batches, 1, 1 << 24);
    fields.one_of({"schedule",
                   "All forward and then all backward passes (`gpipe`), one after the other as soon as it can be "
                   "(`1f1b`), or that with several chunks of layers on each stage (`interleaved`)."},
                  pipeline.schedule,
                  {{"gpipe", PipelineSchedule::gpipe},
                   {"1f1b", PipelineSchedule::one_f_one_b},
                   {"interleaved", PipelineSchedule::interleaved}});
    fields.integer({"chunks", "Of layers on each stage."}, pipeline.chunks, 1, 1 << 16);
    fields.integer_list(
        {"layers", "How many layers each part of the model has, chunks × stages of them; by default balanced by time."},
        pipeline.layers, 1, 1 << 24);
    if (!fields.sound()) return;
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    if (interleaved && pipeline.chunks == 1)
        fields.reject("schedule", "an interleaved schedule needs several chunks of layers on each stage",
                      "write for example `chunks: 2`");
    if (!interleaved && pipeline.chunks > 1)
        fields.reject("chunks", fmt::format("{} chunks on a stage need an interleaved schedule", pipeline.chunks),
                      "write `schedule: interleaved`");
    if (interleaved && pipeline.micro_batches % pipeline.stages != 0)
        fields.reject(fields.given("micro_batches") ? "micro_batches" : "schedule",
                      fmt::format("an interleaved schedule needs a multiple of its {} stages as micro-batches, not {}",
                                  pipeline.stages, pipeline.micro_batches),
                      "");
    const std::int64_t parts = pipeline.stages * pipeline.chunks;
    if (!pipeline.layers.empty() && std::ssize(pipeline.layers) != parts)
        fields.reject("layers",
                      fmt::format("{} stages of {} chunks are {} parts, and here are {}", pipeline.stages,
                                  pipeline.chunks, parts, pipeline.layers.size()),
                      "");
}

/// `stage_ranks`: nothing if it is not known.
void describe_range(Fields& fields, std::optional<std::int64_t> stage_ranks, std::int64_t stages,
                    Parallelism& parallelism, OpenPlan& open) {
    LayerRange range;
    fields.text({"first", "The name of its first layer.", true}, range.first);
    range.last = range.first;
    fields.text({"last", "The name of its last layer, which is in it; by default the first one."}, range.last);
    const WrittenLayout written = describe_layout(fields);
    ActivationAlgorithms algorithms = parallelism.algorithms;
    describe_activations(fields, algorithms);
    if (fields.given("activations")) range.algorithms = algorithms;
    if (written.given) range.layout = written.layout;
    if (written.automatic) open.ranges.push_back(parallelism.ranges.size());
    parallelism.ranges.push_back(std::move(range));
    if (!fields.sound()) return;
    if (!written.given && !fields.given("activations"))
        fields.reject("first", "nothing is said about these layers", "write for example `grid: {rows: 8}`");
    if (stage_ranks) check_factors(fields, written, *stage_ranks, stages);
}

void describe_product(Fields& fields, std::optional<std::int64_t> ranks, Parallelism& parallelism, OpenPlan& open) {
    const WrittenLayout written = describe_layout(fields);
    parallelism.layout = written.layout;
    open.grid = written.automatic;
    Pipeline& pipeline = parallelism.pipeline;
    fields.integer_or_section({"pipeline", "Stages that hold some layers each: how many, or a mapping."},
                              pipeline.stages, 1, largest_group, [&](Fields& inner) { describe(inner, pipeline); });
    describe_activations(fields, parallelism.algorithms);
    fields.flag({"sequence",
                 "Between the halves of a transformer's layers each row holds a part of the positions: all-reduces "
                 "become reduce-scatters and allgathers."},
                parallelism.sequence);
    fields.one_of({"sharding",
                   "What ranks with the same weights share out between them: the optimiser's state (ZeRO-1), and the "
                   "gradients (ZeRO-2), and the weights (ZeRO-3, FSDP)."},
                  parallelism.sharding,
                  {{"none", Sharding::none},
                   {"optimizer", Sharding::optimizer},
                   {"gradients", Sharding::gradients},
                   {"parameters", Sharding::parameters}});
    const bool divides = ranks && fields.sound() && *ranks % pipeline.stages == 0;
    if (ranks && fields.sound() && !divides)
        fields.reject("pipeline.stages", fmt::format("{} ranks do not divide into {} stages", *ranks, pipeline.stages),
                      "");
    const auto stage_ranks = divides ? std::optional(*ranks / pipeline.stages) : std::nullopt;
    if (stage_ranks) check_factors(fields, written, *stage_ranks, pipeline.stages);
    fields.each({"layers", "Ranges of layers that are laid out in another way than the others."},
                [&](Fields& inner) { describe_range(inner, stage_ranks, pipeline.stages, parallelism, open); });
    if (!fields.sound() || !parallelism.sequence || open.automatic()) return;
    if (!splits_weights(parallelism))
        fields.reject("sequence", "with one row nobody shares the positions", "write for example `model: 8`");
}

}  // namespace

bool splits_weights(const Parallelism& parallelism) {
    return parallelism.layout.rows > 1 ||
           std::any_of(parallelism.ranges.begin(), parallelism.ranges.end(),
                       [](const LayerRange& range) { return range.layout && range.layout->rows > 1; });
}

void describe_parallelism(Fields& training, std::optional<std::int64_t> ranks, Parallelism& parallelism,
                          OpenPlan& open) {
    enum Way { data, model, domain, pipeline };
    int way = data;
    training.choice_or_section(
        {"parallelism",
         "What is split between ranks: nothing but the batch (`data`), all weights (`model`), images by height "
         "(`domain`), layers (`pipeline`), or a product of these."},
        way, {"data", "model", "domain", "pipeline"},
        [&](Fields& inner) { describe_product(inner, ranks, parallelism, open); });
    if (way == model) parallelism.layout.rows = ranks.value_or(1);
    if (way == domain) parallelism.layout.height = ranks.value_or(1);
    if (way == pipeline) parallelism.pipeline.stages = ranks.value_or(1);
}

}  // namespace syncline::config
