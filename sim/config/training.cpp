#include <fmt/format.h>

#include "sim/collective/algorithm.hpp"
#include "sim/config/exchange.hpp"
#include "sim/config/files.hpp"
#include "sim/config/framework.hpp"
#include "sim/config/parallelism.hpp"
#include "sim/config/precision.hpp"
#include "sim/config/saved.hpp"
#include "sim/config/training_keys.hpp"

namespace syncline::config {

namespace {

/// Returns the algorithms of an all-reduce that are not exchanges of their own.
std::vector<std::string> training_algorithms() {
    std::vector<std::string> names = algorithm_names("allreduce");
    names.push_back(in_network_allreduce);
    return names;
}

void describe(Fields& fields, Fusion& fusion) {
    const bool inherited = fusion.threshold_bytes > 0;
    fields.quantity({"threshold", "Maximum size of a bucket of merged gradients: `64 MiB`.", !inherited},
                    fusion.threshold_bytes, Dimension::bytes, {.word = "none"});
    fields.quantity({"first", "Maximum size of the first bucket: `1 MiB`. Default: `threshold`."}, fusion.first_bytes,
                    Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of({"full",
                   "Rule by which a bucket is closed: before the gradient that would exceed the threshold (`before`: "
                   "Horovod), or after the gradient that reaches it (`after`: PyTorch)."},
                  fusion.full, {{"before", Full::before}, {"after", Full::after}});
    fields.quantity(
        {"cycle",
         "Period at whose multiples buckets are released: `5 ms`. With `none` they are released when they are full."},
        // A cycle far below any network's latency would only slow the simulation down; a cycle of hours is a wrong
        // unit.
        fusion.cycle_s, Dimension::seconds, {.word = "none", .least = 1e-6, .most = 3600});
    fields.one_of({"negotiation",
                   "Negotiation of buckets, as by Horovod's coordinator: rank 0 waits until every rank reports a "
                   "bucket, then tells all ranks to proceed; 128 B per layer in each direction. Before each bucket, "
                   "when its gradients are ready (`on-ready`); or of all buckets at the start of the iteration, "
                   "because the host enqueues gradients before the device computes them (`ahead`: TensorFlow), so "
                   "that `cycle` has no effect."},
                  fusion.negotiation,
                  {{"none", Negotiation::none}, {"on-ready", Negotiation::on_ready}, {"ahead", Negotiation::ahead}});
    if (fields.sound() && fusion.threshold_bytes == 0)
        reject_given(fields, {"first", "full"}, "'{}' has no effect without a threshold",
                     "write for example `threshold: 25 MiB`");
}

void describe(Fields& fields, RunLength& run) {
    constexpr double most = 1e18;
    fields.quantity({"tokens", "Number of tokens: `300 B`, `1.4 T` (billions, trillions), or a plain number."},
                    run.tokens, Dimension::count, {.least = 1, .most = most});
    fields.quantity({"samples", "Number of samples, in place of `tokens`: `90 M`."}, run.samples, Dimension::count,
                    {.least = 1, .most = most});
    if (!fields.sound()) return;
    if (fields.given("tokens") && fields.given("samples"))
        fields.reject("samples", "'tokens' and 'samples' exclude each other", "remove one of the two");
    if (!run.given()) fields.reject("tokens", "the length of the run is missing", "write for example `tokens: 300 B`");
}

void describe(Fields& fields, Servers& servers) {
    fields.integer({"count", "Number of parameter servers."}, servers.count, 1, largest_group);
    fields.one_of({"placement",
                   "Distribution of tensors over servers: in turn (`round-robin`), each to the server that holds the "
                   "fewest bytes so far (`greedy-bytes`), or every tensor in equal slices on all servers (`sliced`)."},
                  servers.placement,
                  {{"round-robin", Placement::round_robin},
                   {"greedy-bytes", Placement::greedy_bytes},
                   {"sliced", Placement::sliced}});
    int location = 0;
    fields.choice_or_section(
        {"location",
         "Location of the servers: on their own nodes (`dedicated`), or on nodes that also have ranks (`colocated`), "
         "spread over them unless a mapping says otherwise."},
        location, {"dedicated", "colocated"}, [&](Fields& inner) {
            inner.one_of(
                {"colocated",
                 "Placement of servers that share nodes with ranks: spread over these nodes (`spread`), or server i on "
                 "the node of rank i (`packed`; with local_reduction, on the i-th node that has ranks, in turn).",
                 true},
                servers.location, {{"spread", ServerLocation::spread}, {"packed", ServerLocation::packed}});
        });
    if (location == 1) servers.location = ServerLocation::spread;
    fields.one_of({"pull",
                   "Start of the replies: servers send results back when every server has completed all of its "
                   "reductions (`together`), or each result as soon as it is complete (`each`)."},
                  servers.pull, {{"together", PullStart::together}, {"each", PullStart::each}});
    fields.flag({"local_reduction",
                 "Reduction within a node: ranks on one node add up their gradients on the first of them, and only "
                 "this rank pushes and pulls."},
                servers.local_reduction);
}

/// A larger coefficient of variation is no longer jitter, and usually a forgotten '%'.
constexpr double most_jitter = 1;

void describe(Fields& fields, Stragglers& stragglers) {
    fields.count_or_list({"ranks", "Number of stragglers, drawn with the seed (see --seed), or a list of ranks.", true},
                         stragglers.count, stragglers.ranks, largest_group);
    fields.number({"slowdown", "Factor by which their computation takes longer: `1.5`.", true}, stragglers.slowdown,
                  1e-3, 1e3);
}

/// Completes a coefficient of variation that was read from `key`.
void finish_variation(Fields& fields, const char* key, double& variation, bool percent) {
    if (percent) variation /= 100;
    if (variation > most_jitter)
        fields.reject(key, fmt::format("'{}' is {}, which is above 100 %", key, variation),
                      fmt::format("write `{} %`, or {}", variation, variation / 100));
}

void describe_jitter(Fields& fields, Noise& noise) {
    const auto variation = [&](const Key& key, double& value) {
        bool percent = false;
        fields.number_or_percent(key, value, percent, 0, 100 * most_jitter, "none");
        finish_variation(fields, key.name, value, percent);
    };
    variation({"ranks", "Variation of each rank's computation time: `5 %`."}, noise.jitter);
    variation({"nodes", "Variation that all ranks of a node share, on top of their own: `2 %`."}, noise.node_jitter);
    variation({"messages", "Variation of the latency of each message: `30 %`."}, noise.message_jitter);
}

/// Describes the keys `jitter` and `stragglers`.
void describe_noise(Fields& training, Noise& noise) {
    bool percent = false, mapping = false;
    training.percent_or_section(
        {"jitter",
         "Variation of each rank's computation time: a lognormal factor of mean 1 and this coefficient of variation, "
         "drawn anew in every iteration (see --seed): `5 %`; or variations of several kinds: "
         "`{ranks: 5 %, nodes: 2 %, messages: 30 %}`."},
        noise.jitter, percent, 0, 100 * most_jitter, "none", [&](Fields& inner) {
            mapping = true;
            describe_jitter(inner, noise);
        });
    if (!mapping) finish_variation(training, "jitter", noise.jitter, percent);
    training.section(
        {"stragglers", "Ranks that compute more slowly all the time."},
        [&](Fields& inner) { describe(inner, noise.stragglers); }, "none");
}

}  // namespace

void describe_compute(Fields& fields, ComputeKind& kind) {
    fields.one_of({"compute",
                   "Compute model: the roofline, scaled to a measured throughput (`calibrated`; without one the same "
                   "as `tables`, or else `roofline`); the roofline alone (`roofline`); the kernels with im2col "
                   "(`im2col`); the device's `efficiency`; its `layer_times` (`measured`); or the measured rates of "
                   "its `kernels` (`tables`)."},
                  kind,
                  {{"calibrated", ComputeKind::calibrated},
                   {"roofline", ComputeKind::roofline},
                   {"im2col", ComputeKind::im2col},
                   {"efficiency", ComputeKind::efficiency},
                   {"measured", ComputeKind::measured},
                   {"tables", ComputeKind::tables}});
}

void describe_training_keys(Fields& fields, Plan& plan, OpenPlan& open) {
    fields.integer({"ranks", "Number of ranks (workers), one device each.", true}, plan.ranks, 1, largest_group);
    describe(fields, plan.placement);
    fields.integer(
        {"batch_per_rank", "Samples per iteration and replica of the model; with data parallelism, per rank."},
        plan.batch_per_rank, 1, 1 << 24);
    fields.integer({"batch", "Samples per iteration of all ranks together; replaces `batch_per_rank`."}, open.batch, 1,
                   1 << 30);
    fields.integer({"iterations",
                    "Number of iterations. The last one is measured (with `jitter`, all but the first), and one more "
                    "is replayed after it. With 1, only this iteration is replayed, from an idle cluster."},
                   plan.iterations, 1, 10'000);
    fields.section(
        {"run", "Length of the whole training, from which results have its number of iterations, time and cost."},
        [&](Fields& inner) { describe(inner, plan.run); });
    describe_parallelism(fields, plan.ranks, plan.parallelism, open);
    fields.one_of(
        {"recomputation",
         "Activations that are computed again before the backward pass, in place of being kept: none "
         "(`none`), attention's scores and softmax (`selective`), of a transformer's layers every second product with "
         "weights and all that is between products (`operators`, torchtitan's `selective_ac_option: op`), or the whole "
         "forward pass of each layer of a transformer, in other models of √n layers together (`full`). `parallelism: "
         "auto` chooses if it is not written."},
        plan.recomputation,
        {{"none", Recomputation::none},
         {"selective", Recomputation::selective},
         {"operators", Recomputation::operators},
         {"full", Recomputation::full}});
    describe(fields, plan.saved);
    open.recomputation = open.everything && !fields.given("recomputation");
    fields.one_of({"optimizer",
                   "Optimizer state per parameter, beside weight and gradient: none (`sgd`), a momentum (`momentum`), "
                   "or two moments (`adam`). With `none` there is no step, and no master copy of the weights."},
                  plan.optimizer,
                  {{"none", Optimizer::none},
                   {"sgd", Optimizer::sgd},
                   {"momentum", Optimizer::momentum},
                   {"adam", Optimizer::adam}});
    fields.flag({"clipping",
                 "Clipping of the gradients to a norm before the optimizer's step, which takes time with the compute "
                 "model `tables`."},
                plan.clipping);
    fields.one_of(
        {"offload",
         "State in the host's memory, where the optimizer's step then runs: none (`none`), the optimizer's "
         "state with master weights (`optimizer`: Megatron-Core's `--optimizer-cpu-offload`), or gradients as "
         "well, which leave the device during the backward pass (`gradients`: ZeRO-Offload)."},
        plan.offload, {{"none", Offload::none}, {"optimizer", Offload::optimizer}, {"gradients", Offload::gradients}});
    describe(fields, plan.precision);
    describe_compute(fields, plan.compute);
    fields.one_of({"accumulation",
                   "Addition of the gradients of several micro-batches: a kernel of its own for each weight, as in "
                   "PyTorch (`separate`), or a part of the product that computes them (`fused`), as with Megatron-LM's "
                   "`gradient_accumulation_fusion`. It has no effect with other compute models than `tables`."},
                  plan.accumulation, {{"separate", Accumulation::separate}, {"fused", Accumulation::fused}});
    fields.one_of({"launches",
                   "Launches of kernels: one by one by the host, as in eager PyTorch (`eager`), so that a layer's pass "
                   "takes at least the device's `kernels.host_launch` for each kernel; the same, but the host waits "
                   "for each kernel, whose time adds to that (`blocking`: `CUDA_LAUNCH_BLOCKING=1`); or captured and "
                   "launched together, as CUDA graphs (`graph`). It has no effect with other compute models than "
                   "`tables`."},
                  plan.launches,
                  {{"eager", Launches::eager}, {"blocking", Launches::blocking}, {"graph", Launches::graph}});
    fields.one_of({"elementwise",
                   "Element-wise operations between products (activations, rotations, dropout, gradients of parts): "
                   "joined into few kernels, as in Megatron-Core and compiled PyTorch (`fused`), or a kernel for each "
                   "operation, as in eager PyTorch (`separate`). It has no effect with other compute models than "
                   "`tables`."},
                  plan.elementwise, {{"fused", Elementwise::fused}, {"separate", Elementwise::separate}});
    fields.text({"attention_kernel",
                 "Kernel of fused attention that the framework calls, by its name in the device's file "
                 "`kernels.attention`: `flash-attention-2`. Default: the device's `kernels.attention_kernel`."},
                plan.attention_kernel);
    describe_noise(fields, plan.noise);
    fields.one_of({"exchange",
                   "Exchange of gradients between ranks (`allreduce`) or with servers (`parameter-server`), or of "
                   "models between neighbours (`gossip`)."},
                  plan.exchange,
                  {{"allreduce", ExchangeKind::allreduce},
                   {served_allreduce, ExchangeKind::parameter_server},
                   {"gossip", ExchangeKind::gossip}});
    fields.one_of({"algorithm", "Algorithm of the all-reduce; other exchanges use none."}, plan.algorithm.name,
                  training_algorithms());
    describe_algorithm(fields, plan.algorithm);
    describe_selection(fields, plan.selection);
    describe_channels(fields, plan.channels);
    fields.one_of({"overlap",
                   "Overlap of exchanges with computation: exchanges start after the whole backward pass (`none`), or "
                   "each when its gradients are ready (`wait-free`); with `across-iterations`, in addition, a layer's "
                   "next forward pass waits only for its own exchange."},
                  plan.overlap,
                  {{"none", Overlap::none},
                   {"wait-free", Overlap::wait_free},
                   {"across-iterations", Overlap::across_iterations}});
    fields.one_of(
        {"input_copy",
         "Copy of the next batch to the device: free (`none`), concurrent with the computation (`overlapped`), or "
         "before it (`blocking`)."},
        plan.input_copy,
        {{"none", InputCopy::none}, {"overlapped", InputCopy::overlapped}, {"blocking", InputCopy::blocking}});
    bool fused = false;
    fields.section(
        {"fusion",
         "Merging of small gradients into buckets, as in Horovod and PyTorch. With `none` each layer has a bucket."},
        [&](Fields& inner) {
            fused = true;
            describe(inner, plan.fusion);
        },
        "none");
    if (fields.given("fusion") && !fused) plan.fusion = {};
    describe(fields, plan.compression);
    fields.quantity(
        {"partition",
         "Maximum size of the pieces in which buckets are exchanged, as in ByteScheduler and BytePS: `4 MiB`."},
        plan.partition_bytes, Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of({"schedule",
                   "Order in which ready buckets are exchanged: by release (`fifo`), by the layer that the next "
                   "forward pass needs first (`priority`: P3, ByteScheduler), or random (`random`: TensorFlow's "
                   "parameter server; see --seed)."},
                  plan.schedule,
                  {{"fifo", Schedule::fifo}, {"priority", Schedule::priority}, {"random", Schedule::random}});
    fields.section({"servers", "Parameter servers; other exchanges use none."},
                   [&](Fields& inner) { describe(inner, plan.servers); });
    describe(fields, plan.fidelity);
}

void describe(Fields& fields, Plan& plan, OpenPlan& open) {
    describe_framework(fields, plan);
    describe_training_keys(fields, plan, open);
    note_inherited(fields, plan);
    if (plan.exchange == ExchangeKind::gossip) {
        plan.algorithm.operation = "neighbour-exchange";
        plan.algorithm.name = "gossip";
    }
    const bool gathered = plan.compression.kind == Compression::Kind::top_k;
    if (gathered && plan.exchange == ExchangeKind::allreduce) {
        plan.algorithm.operation = "allgather";
        plan.algorithm.name = plan.compression.allgather;
    }
    const bool sound = fields.sound();  // keys that exclude each other do not hide what is wrong with the plan
    if (plan.parallelism.sharding != Sharding::none)
        reject_given(fields, {"overlay", "segment", "peers"}, "'{}' has no effect on sharded gradients",
                     "set `activations: {reduce_scatter, allgather}` of `parallelism` instead");
    else if (plan.exchange == ExchangeKind::parameter_server)
        reject_unserved(fields);
    else if (gathered)
        reject_given(fields, {"algorithm", "selection", "overlay", "segment", "peers"},
                     "'{}' has no effect on the values of top_k, which are exchanged by an allgather",
                     "remove it, in a variant by `~`; `algorithm` of `top_k` chooses the allgather");
    else if (plan.selection && plan.exchange == ExchangeKind::allreduce)
        reject_unselected(fields);
    if (fields.given("batch") && fields.given("batch_per_rank"))
        fields.reject("batch", "'batch' and 'batch_per_rank' exclude each other", "remove one of the two");
    if (sound) report(fields, settle(plan, open));
}

}  // namespace syncline::config
