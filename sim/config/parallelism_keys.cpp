#include "sim/config/keys.hpp"

#include <fmt/format.h>

#include "sim/collective/algorithm.hpp"

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
    fields.integer_or_word({"model",
                            "Tensor parallelism: number of ranks that divide every weight. `auto`: each factorisation "
                            "of the ranks becomes a variant (`base 2x4`); needs `batch`."},
                           layout.rows, largest_group, "auto");
    written.open.automatic = layout.rows == 0;
    if (written.open.automatic) layout.rows = 1;
    fields.integer(
        {"data",
         "Data parallelism: number of replicas, each with its part of the batch. Default: as many as the ranks allow."},
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
    one({"allgather", "All-gather algorithm: activations of tensor-parallel ranks, sharded weights."},
        algorithms.allgather, "allgather");
    one({"reduce_scatter",
         "Reduce-scatter algorithm: gradients of activations of tensor-parallel ranks, gradients of sharded weights."},
        algorithms.reduce_scatter, "reduce-scatter");
    one({"allreduce", "All-reduce algorithm: partial sums of outputs and of gradients of inputs."},
        algorithms.allreduce, "allreduce");
    one({"all_to_all", "All-to-all algorithm: between layers with different layouts, experts' tokens, and `ulysses`."},
        algorithms.all_to_all, "all-to-all");
    one({"uneven_allgather", "All-gather algorithm in a layer with fewer parts than tensor-parallel ranks."},
        algorithms.uneven_allgather, "allgather");
    one({"uneven_allreduce", "All-reduce algorithm in a layer with fewer parts than tensor-parallel ranks."},
        algorithms.uneven_allreduce, "allreduce");
}

void describe_activations(Fields& fields, ActivationAlgorithms& algorithms) {
    fields.section({"activations", "Algorithms of the exchanges of activations and of their gradients."},
                   [&](Fields& inner) { describe(inner, algorithms); });
}

/// Describes the keys of a pipeline. The number of stages may also be given alone, in place of the mapping.
void describe(Fields& fields, Pipeline& pipeline, OpenPlan& open) {
    fields.integer({"stages", "Number of pipeline stages, groups of ranks that each hold some of the layers."},
                   pipeline.stages, 1, largest_group);
    fields.integer(
        {"micro_batches", "Number of microbatches per replica, whatever the batch and the number of replicas."},
        pipeline.micro_batches, 1, 1 << 24);
    fields.integer({"micro_batch_size",
                    "Microbatch size in samples, in place of `micro_batches`; it must divide the batch of a replica. "
                    "Default: the batch of a replica, divided by `micro_batches`."},
                   open.micro_batch_size, 1, 1 << 24);
    fields.one_of({"schedule",
                   "Pipeline schedule: `gpipe` (all forward, then all backward), `1f1b`, `interleaved` (virtual "
                   "stages), `zb-h1` (late weight gradients), in a V `zb-v`, `dualpipe-v`, in an X `dualpipe`."},
                  pipeline.schedule,
                  {{"gpipe", PipelineSchedule::gpipe},
                   {"1f1b", PipelineSchedule::one_f_one_b},
                   {"interleaved", PipelineSchedule::interleaved},
                   {"zb-h1", PipelineSchedule::zero_bubble_h1},
                   {"zb-v", PipelineSchedule::zero_bubble_v},
                   {"dualpipe-v", PipelineSchedule::dualpipe_v},
                   {"dualpipe", PipelineSchedule::dualpipe}});
    fields.integer(
        {"virtual_stages",
         "Number of virtual stages on each stage, parts of the model that are not neighbours (Megatron-LM)."},
        pipeline.virtual_stages, 1, 1 << 16);
    fields.integer_list(
        {"layers",
         "Number of layers of each virtual stage, `virtual_stages` × `stages` numbers. Default: balanced by time."},
        pipeline.layers, 1, 1 << 24);
    fields.one_of(
        {"transfers",
         "Transfers between stages: the next pass waits for them (`blocking`) or overlaps them (`overlapped`). `auto`, "
         "as in Megatron-LM: `blocking` with `1f1b`, else `overlapped`."},
        pipeline.transfers,
        {{"auto", Transfers::as_schedule}, {"blocking", Transfers::blocking}, {"overlapped", Transfers::overlapped}});
    fields.flag({"scatter_gather",
                 "Scatter/gather of outputs between stages without `sequence`: each tensor-parallel rank sends its "
                 "share (DeepSpeed, Megatron-LM); `false`: each sends all (Megatron-Core)."},
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
                          "Exchange of keys and values: from rank to rank during blockwise attention (`ring`), or "
                          "all-to-alls that leave each rank some heads of all positions (`ulysses`)."},
                         parallelism.context_exchange,
                         {{"ring", ContextExchange::ring}, {"ulysses", ContextExchange::ulysses}});
        });
}

/// Describes the key of expert groups. The number of ranks may also be given alone.
void describe_experts(Fields& fields, ExpertGroups& experts, Pipeline& pipeline) {
    fields.integer_or_section(
        {"experts",
         "Expert parallelism: number of replicas that divide the experts of every layer, or a mapping with it (`model` "
         "in it lets tensor-parallel ranks take part)."},
        experts.ranks, 1, largest_group, [&](Fields& inner) {
            inner.integer({"ranks", "Number of ranks among which the experts of a layer are divided.", true},
                          experts.ranks, 1, largest_group);
            inner.integer({"model",
                           "Expert tensor parallelism: number of ranks that divide each expert, a divisor of the "
                           "layout's `model`; a smaller number needs `sequence`. Default: `model`."},
                          experts.model, 1, largest_group);
            bool percent = false;
            inner.number_or_percent({"imbalance",
                                     "Variation of an expert's number of tokens, lognormal, drawn once for each layer "
                                     "and expert (see --seed): `20 %`."},
                                    experts.imbalance, percent, 0, 1000, "none");
            if (percent) experts.imbalance /= 100;
            inner.one_of({"exchange",
                          "Exchange of tokens with several experts: a copy for each (`copies`, Megatron-Core's "
                          "`alltoall`), or one for each node, then one for each rank (`deduplicated`, DeepEP)."},
                         experts.exchange,
                         {{"copies", ExpertExchange::copies}, {"deduplicated", ExpertExchange::deduplicated}});
            inner.integer({"token_nodes",
                           "Maximum number of nodes that have a token's experts, with `exchange: deduplicated` "
                           "(node-limited routing; DeepSeek-V3: 4). Default: any."},
                          experts.token_nodes, 1, largest_group);
            inner.one_of({"dispatch",
                          "Elements of tokens on their way to experts, and of gradients of results: `activations`, or "
                          "`fp8`, 1 B and a scale of 4 B for each 128 (DeepSeek-V3, DeepEP)."},
                         experts.fp8_dispatch, {{"activations", false}, {"fp8", true}});
            inner.one_of(
                {"overlap",
                 "Overlap of a forward pass with the backward pass of another microbatch (`micro-batches`, "
                 "Megatron-Core): in one `1f1b` stage, or `interleaved` stages; `none`: only in `dualpipe-v`."},
                pipeline.pairs, {{"none", false}, {"micro-batches", true}});
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
         "State sharded among data-parallel ranks: `none`, `optimizer` (ZeRO-1), `gradients` (ZeRO-2), `parameters` "
         "(ZeRO-3, FSDP), or within groups: `{of: parameters, within: node}` (HSDP)."},
        state, {"none", "optimizer", "gradients", "parameters"}, [&](Fields& inner) {
            Sharding of = Sharding::parameters;
            inner.one_of({"of", "State sharded within a group, as above.", true}, of,
                         {{"optimizer", Sharding::optimizer},
                          {"gradients", Sharding::gradients},
                          {"parameters", Sharding::parameters}});
            std::int64_t ranks = ranks_of_node;
            inner.integer_or_word({"within",
                                   "Ranks of a group: a `node`, or a number. Groups replicate all shards and "
                                   "all-reduce their gradients by `algorithm`.",
                                   true},
                                  ranks, largest_group, "node");
            state = static_cast<int>(of);
            parallelism.shard_ranks = ranks;
        });
    parallelism.sharding = states[state];
}

void describe_gathering(Fields& fields, Parallelism& parallelism) {
    fields.one_of({"gathering",
                   "All-gather of updated weights (ZeRO-1, ZeRO-2): at the iteration's end (`after-update`), or bucket "
                   "by bucket before the next forward pass needs them (`before-forward`)."},
                  parallelism.gather,
                  {{"after-update", Gather::after_update}, {"before-forward", Gather::before_forward}});
}

void describe_model_overlap(Fields& fields, Parallelism& parallelism) {
    int way = -1;
    if (fields.given("model_overlap")) parallelism.model_chunks = 1;
    fields.choice_or_section(
        {"model_overlap",
         "Overlap of tensor-parallel communication: `none`, with weight gradients (`weight-gradients`), or also with "
         "chunked GEMMs (`{chunks: 4}`). Default: `weight-gradients` unless `overlap: none`."},
        way, {"none", "weight-gradients"}, [&](Fields& inner) {
            inner.integer({"chunks",
                           "Number of chunks of a GEMM whose inputs or outputs are exchanged (Megatron-Core's "
                           "`tp_comm_overlap`); needs `sequence`.",
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
        {"pipeline", "Pipeline parallelism: number of stages that each hold some of the layers, or a mapping."},
        pipeline.stages, 1, largest_group, [&](Fields& inner) { describe(inner, pipeline, open); });
    describe_context(fields, parallelism);
    describe_experts(fields, parallelism.experts, parallelism.pipeline);
    describe_activations(fields, parallelism.algorithms);
    fields.flag({"sequence",
                 "Sequence parallelism: tensor-parallel ranks divide the positions between a transformer's halves, and "
                 "all-reduces become reduce-scatters and all-gathers."},
                parallelism.sequence);
    describe_model_overlap(fields, parallelism);
    describe_sharding(fields, parallelism);
    describe_gathering(fields, parallelism);
    fields.one_of({"gradient_sync",
                   "Microbatches after which gradients are exchanged: `each-micro-batch` (FSDP), `last-micro-batch` "
                   "(`no_sync`), `auto`: each with sharded gradients in one `1f1b` stage, else the last."},
                  parallelism.gradient_sync,
                  {{"auto", GradientSync::automatic},
                   {"each-micro-batch", GradientSync::each_micro_batch},
                   {"last-micro-batch", GradientSync::last_micro_batch}});
    fields.one_of({"device_queues",
                   "Number of hardware queues with `sharding: parameters`: `several`, or `one` "
                   "(CUDA_DEVICE_MAX_CONNECTIONS=1): computation issued after a weight all-gather waits for it."},
                  parallelism.device_queues, {{"several", DeviceQueues::several}, {"one", DeviceQueues::one}});
    fields.each({"layers",
                 "Ranges of layers with their own `model`, `data`, `domain` or `activations`: `[{first: fc6, last: "
                 "fc8, model: 8}]`."},
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
         "Parallelism: `data`, `model` (tensor), `domain` (images), `pipeline`, or a mapping. `auto`: `run` searches "
         "the fastest plan, `{auto: true, …}` beside given keys; needs `batch`."},
        way, {"data", "model", "domain", "pipeline", "auto"},
        [&](Fields& inner) { describe_product(inner, parallelism, open); });
    if (way == model) parallelism.layout.rows = ranks;
    if (way == domain) parallelism.layout.height = ranks;
    if (way == pipeline) parallelism.pipeline.stages = ranks;
    open.everything = open.everything || way == automatic;
}

}  // namespace syncline::config
