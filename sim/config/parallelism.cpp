#include "sim/config/parallelism.hpp"

#include <fmt/format.h>

#include "sim/collective/algorithm.hpp"
#include "sim/config/exchange.hpp"

namespace syncline::config {

namespace {

/// The layout of all layers or of a range, as written.
struct WrittenLayout {
    Layout layout;
    OpenPlan::Grid open;
    bool given = false;
};

WrittenLayout describe_layout(Fields& fields) {
    WrittenLayout written;
    Layout& layout = written.layout;
    fields.integer_or_word(
        {"model",
         "Number of ranks that each hold a part of every weight (model or tensor parallelism): rows. `auto`: every "
         "factorisation of the ranks into rows and replicas becomes a variant, `base 2x4`; needs `batch`."},
        layout.rows, largest_group, "auto");
    written.open.automatic = layout.rows == 0;
    if (written.open.automatic) layout.rows = 1;
    fields.integer({"data",
                    "Number of replicas, each with its part of the batch: columns. Default: as many as the ranks "
                    "allow."},
                   written.open.columns, 1, largest_group);
    if (written.open.automatic && fields.given("data"))
        fields.reject("data", "'data' has no effect with `model: auto`", "remove it: replicas are what the rows leave");
    fields.integer_or_section(
        {"domain", "Number of image partitions: by height, or by height and width."}, layout.height, 1, largest_group,
        [&](Fields& inner) {
            inner.integer({"height", "Number of partitions from top to bottom."}, layout.height, 1, largest_group);
            inner.integer({"width", "Number of partitions from left to right."}, layout.width, 1, largest_group);
        });
    for (const char* key : {"model", "data", "domain"}) written.given = written.given || fields.given(key);
    return written;
}

void describe(Fields& fields, ActivationAlgorithms& algorithms) {
    const auto one = [&](Key key, std::string& name, const char* operation) {
        fields.one_of(key, name, algorithm_names(operation));
    };
    one({"allgather", "Algorithm for outputs of which every row has a part, and for sharded weights."},
        algorithms.allgather, "allgather");
    one({"reduce_scatter",
         "Algorithm for gradients of which every rank needs a part, and for those of sharded weights."},
        algorithms.reduce_scatter, "reduce-scatter");
    one({"allreduce", "Algorithm for partial sums of outputs and of gradients of inputs."}, algorithms.allreduce,
        "allreduce");
    one({"all_to_all",
         "Algorithm between consecutive layers with different layouts, of experts' tokens, and of `ulysses`."},
        algorithms.all_to_all, "all-to-all");
    one({"uneven_allgather", "Algorithm of allgathers in a layer with fewer parts than there are rows."},
        algorithms.uneven_allgather, "allgather");
    one({"uneven_allreduce", "Algorithm of all-reduces in a layer with fewer parts than there are rows."},
        algorithms.uneven_allreduce, "allreduce");
}

void describe_activations(Fields& fields, ActivationAlgorithms& algorithms) {
    fields.section({"activations", "Algorithms of the exchanges of activations and of their gradients."},
                   [&](Fields& inner) { describe(inner, algorithms); });
}

/// Describes the keys of a pipeline. The number of stages may also be given alone, in place of the mapping.
void describe(Fields& fields, Pipeline& pipeline, OpenPlan& open) {
    fields.integer({"stages", "Number of stages: groups of ranks that each hold some of the layers."}, pipeline.stages,
                   1, largest_group);
    fields.integer(
        {"micro_batches",
         "Number of micro-batches into which a replica's batch is divided, whatever the batch and the number "
         "of replicas."},
        pipeline.micro_batches, 1, 1 << 24);
    fields.integer({"micro_batch_size",
                    "Samples of a micro-batch, in place of `micro_batches`, whose number then follows; it must divide "
                    "the batch of a replica. Default: the batch of a replica, divided by `micro_batches`."},
                   open.micro_batch_size, 1, 1 << 24);
    if (fields.given("micro_batches") && fields.given("micro_batch_size"))
        fields.reject("micro_batch_size", "'micro_batch_size' and 'micro_batches' exclude each other",
                      "remove one of the two");
    fields.one_of({"schedule",
                   "Pipeline schedule: all forward passes, then all backward passes (`gpipe`); one forward and one "
                   "backward pass in turn, as soon as possible (`1f1b`); `1f1b` with several virtual stages on each "
                   "stage (`interleaved`); or `1f1b` with the gradients of weights apart, later in the bubble "
                   "(`zb-h1`)."},
                  pipeline.schedule,
                  {{"gpipe", PipelineSchedule::gpipe},
                   {"1f1b", PipelineSchedule::one_f_one_b},
                   {"interleaved", PipelineSchedule::interleaved},
                   {"zb-h1", PipelineSchedule::zero_bubble_h1}});
    fields.integer(
        {"virtual_stages", "Number of parts of the model on each stage, which are not neighbours (Megatron-LM)."},
        pipeline.chunks, 1, 1 << 16);
    fields.integer_list(
        {"layers", "Number of layers of each of the model's virtual_stages × stages parts. Default: balanced by time."},
        pipeline.layers, 1, 1 << 24);
    fields.one_of(
        {"transfers",
         "Transfers to other stages: the next pass waits until they have arrived (`blocking`), or computes "
         "beside them (`overlapped`). `auto`: `blocking` with the schedule `1f1b`, otherwise `overlapped`, as "
         "in Megatron-LM."},
        pipeline.transfers,
        {{"auto", Transfers::as_schedule}, {"blocking", Transfers::blocking}, {"overlapped", Transfers::overlapped}});
    fields.flag(
        {"scatter_gather",
         "Without sequence parallelism, rows send a share of their equal outputs each, which the rows of the "
         "other stage gather, as in DeepSpeed and Megatron-LM; `false`: each row sends all, as in Megatron-Core."},
        pipeline.scatter_gather);
}

/// Describes the key of a context group. The number of ranks may also be given alone.
void describe_context(Fields& fields, Parallelism& parallelism) {
    fields.integer_or_section(
        {"context",
         "Context parallelism: number of ranks that divide the positions of every sequence, or a mapping with it."},
        parallelism.layout.context, 1, largest_group, [&](Fields& inner) {
            inner.integer({"ranks", "Number of ranks among which the positions are divided.", true},
                          parallelism.layout.context, 1, largest_group);
            inner.one_of({"exchange",
                          "Exchange of keys and values: from rank to rank, while attention is computed block by block "
                          "(`ring`); or all-to-alls by which each rank has some heads of all positions (`ulysses`)."},
                         parallelism.context_exchange,
                         {{"ring", ContextExchange::ring}, {"ulysses", ContextExchange::ulysses}});
        });
}

/// Describes the key of expert groups. The number of ranks may also be given alone.
void describe_experts(Fields& fields, ExpertGroups& experts) {
    fields.integer_or_section(
        {"experts",
         "Expert parallelism: number of ranks that divide the experts of every layer, or a mapping with it. They are "
         "replicas, unless `model` in the mapping says otherwise."},
        experts.ranks, 1, largest_group, [&](Fields& inner) {
            inner.integer({"ranks", "Number of ranks among which the experts of a layer are divided.", true},
                          experts.ranks, 1, largest_group);
            inner.integer(
                {"model",
                 "Number of neighbours that divide the hidden units of each expert, a divisor of `model`; a number "
                 "below it needs `sequence`. Default: those that divide the other weights, `model`; as with "
                 "Megatron-Core's "
                 "`--expert-tensor-parallel-size`."},
                experts.model, 1, largest_group);
            bool percent = false;
            inner.number_or_percent(
                {"imbalance",
                 "Variation of the number of tokens of an expert: a lognormal factor of mean 1 and this coefficient of "
                 "variation, drawn once for each layer and expert (see --seed): `20 %`."},
                experts.imbalance, percent, 0, 1000, "none");
            if (percent) experts.imbalance /= 100;
            constexpr double most = 10;
            if (experts.imbalance > most)
                inner.reject("imbalance", fmt::format("'imbalance' is {}, which is above 1000 %", experts.imbalance),
                             fmt::format("write `{} %`", experts.imbalance));
        });
}

void describe_range(Fields& fields, Parallelism& parallelism, OpenPlan& open) {
    LayerRange range;
    fields.text({"first", "Name of the first layer of the range.", true}, range.first);
    range.last = range.first;
    fields.text({"last", "Name of the last layer of the range, inclusive. Default: the first one."}, range.last);
    const WrittenLayout written = describe_layout(fields);
    ActivationAlgorithms algorithms = parallelism.algorithms;
    describe_activations(fields, algorithms);
    if (fields.given("activations")) range.algorithms = algorithms;
    if (written.given) range.layout = written.layout;
    if (range.layout) range.layout->context = parallelism.layout.context;
    open.ranges.push_back(written.open);
    parallelism.ranges.push_back(std::move(range));
    if (fields.sound() && !written.given && !fields.given("activations"))
        fields.reject("first", "this range changes nothing for its layers", "write for example `model: 8`");
}

void describe_sharding(Fields& fields, Parallelism& parallelism) {
    constexpr Sharding states[] = {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters};
    int state = static_cast<int>(parallelism.sharding);
    if (fields.given("sharding")) parallelism.shard_ranks.reset();
    fields.choice_or_section(
        {"sharding",
         "State that ranks with the same weights shard: `none`, `optimizer` (optimizer state; ZeRO-1), `gradients` "
         "(also gradients; ZeRO-2) or `parameters` (also weights; ZeRO-3, FSDP). A mapping `{of: parameters, within: "
         "node}` shards within groups of ranks only (HSDP)."},
        state, {"none", "optimizer", "gradients", "parameters"}, [&](Fields& inner) {
            Sharding of = Sharding::parameters;
            inner.one_of({"of", "State that ranks of a group shard, as above.", true}, of,
                         {{"optimizer", Sharding::optimizer},
                          {"gradients", Sharding::gradients},
                          {"parameters", Sharding::parameters}});
            std::int64_t ranks = ranks_of_node;
            inner.integer_or_word({"within",
                                   "Ranks of a group: those of a node (`node`), or a number. Groups have copies of all "
                                   "shards, whose gradients they all-reduce by `algorithm`.",
                                   true},
                                  ranks, largest_group, "node");
            state = static_cast<int>(of);
            parallelism.shard_ranks = ranks;
        });
    parallelism.sharding = states[state];
}

void describe_gathering(Fields& fields, Parallelism& parallelism) {
    fields.one_of({"gathering",
                   "Gathering of the weights of which ranks update a share each, with `sharding: optimizer` or "
                   "`gradients`: at the end of the iteration (`after-update`), or bucket by bucket before the next "
                   "forward pass needs them (`before-forward`), as with Megatron-Core's `--overlap-param-gather`."},
                  parallelism.gather,
                  {{"after-update", Gather::after_update}, {"before-forward", Gather::before_forward}});
}

void describe_model_overlap(Fields& fields, Parallelism& parallelism) {
    int way = -1;
    if (fields.given("model_overlap")) parallelism.model_chunks = 1;
    fields.choice_or_section(
        {"model_overlap",
         "Overlap of the exchanges among rows with computation: none (`none`); gradients of inputs are exchanged while "
         "those of weights are computed (`weight-gradients`); or also, with `sequence`, products in chunks (a "
         "mapping), "
         "as with Megatron-Core's `tp_comm_overlap`. Default: `weight-gradients`, but `none` with `overlap: none`."},
        way, {"none", "weight-gradients"}, [&](Fields& inner) {
            inner.integer({"chunks",
                           "Number of chunks in which the halves of transformers exchange inputs and outputs, each "
                           "beside the product of another chunk.",
                           true},
                          parallelism.model_chunks, 2, 1024);
            way = 1;
        });
    if (way == 0) parallelism.model_overlap = ModelOverlap::none;
    if (way == 1) parallelism.model_overlap = ModelOverlap::weight_gradients;
}

void describe_product(Fields& fields, Parallelism& parallelism, OpenPlan& open) {
    fields.flag({"auto",
                 "Whether the keys of this mapping that are not written are searched, as by `parallelism: auto`; "
                 "those that are written stay: `{auto: true, sharding: parameters}`."},
                open.everything);
    const WrittenLayout written = describe_layout(fields);
    parallelism.layout = written.layout;
    open.grid = written.open;
    Pipeline& pipeline = parallelism.pipeline;
    fields.integer_or_section(
        {"pipeline", "Pipeline stages that each hold some of the layers: their number, or a mapping."}, pipeline.stages,
        1, largest_group, [&](Fields& inner) { describe(inner, pipeline, open); });
    describe_context(fields, parallelism);
    describe_experts(fields, parallelism.experts);
    describe_activations(fields, parallelism.algorithms);
    fields.flag({"sequence",
                 "Sequence parallelism: between the halves of a transformer's layers, each row holds a part of the "
                 "positions, and all-reduces become reduce-scatters and allgathers."},
                parallelism.sequence);
    describe_model_overlap(fields, parallelism);
    describe_sharding(fields, parallelism);
    describe_gathering(fields, parallelism);
    fields.one_of(
        {"gradient_sync",
         "Micro-batches after which gradients are exchanged: each one, before the next begins (`each-micro-batch`); "
         "the last one, when gradients of all are added up (`last-micro-batch`; `no_sync` in PyTorch); or each one if "
         "gradients are sharded and there is one stage with the schedule `1f1b`, as with FSDP and ZeRO-2, and else the "
         "last one (`auto`)."},
        parallelism.gradient_sync,
        {{"auto", GradientSync::automatic},
         {"each-micro-batch", GradientSync::each_micro_batch},
         {"last-micro-batch", GradientSync::last_micro_batch}});
    fields.one_of(
        {"device_queues",
         "Queues through which a device takes the kernels of all streams, with `sharding: parameters`: `several`, or "
         "`one` (`CUDA_DEVICE_MAX_CONNECTIONS=1`, which Megatron-LM demands with `sequence`). With one, a gathering of "
         "weights that waits for the gradients before it holds up the computation behind it."},
        parallelism.device_queues, {{"several", DeviceQueues::several}, {"one", DeviceQueues::one}});
    fields.each({"layers",
                 "Ranges of layers with a different layout or other algorithms: `[{first: fc6, last: fc8, model: 8}]`; "
                 "each may have `model`, `data`, `domain` and `activations` as above."},
                [&](Fields& inner) { describe_range(inner, parallelism, open); });
    if (!open.everything) return;
    if (open.grid.automatic) fields.reject("model", "'auto: true' chooses 'model', too", "remove `model: auto`");
    if (fields.given("layers"))
        fields.reject("layers", "ranges of layers cannot be written beside 'auto: true'", "remove one of the two");
}

}  // namespace

void describe_parallelism(Fields& training, std::int64_t ranks, Parallelism& parallelism, OpenPlan& open) {
    enum Way { data, model, domain, pipeline, automatic };
    int way = data;
    training.choice_or_section(
        {"parallelism",
         "Division of the work among ranks: the batch only (`data`), all weights (`model`), "
         "images by height (`domain`), layers (`pipeline`), or a product of these. `auto`: `run` and "
         "`explain` search the product with the shortest iteration; needs `batch`. `{auto: true, sharding: "
         "parameters}` "
         "searches the keys that are not written."},
        way, {"data", "model", "domain", "pipeline", "auto"},
        [&](Fields& inner) { describe_product(inner, parallelism, open); });
    if (way == model) parallelism.layout.rows = ranks;
    if (way == domain) parallelism.layout.height = ranks;
    if (way == pipeline) parallelism.pipeline.stages = ranks;
    open.everything = open.everything || way == automatic;
}

}  // namespace syncline::config
