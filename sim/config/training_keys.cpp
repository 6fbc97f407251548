#include <fmt/format.h>

#include "sim/collective/algorithm.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/framework_keys.hpp"
#include "sim/config/keys.hpp"

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
                   "Rule that closes a bucket: before the gradient that would exceed the threshold (`before`: "
                   "Horovod), or after the gradient that reaches it (`after`: PyTorch)."},
                  fusion.full, {{"before", Full::before}, {"after", Full::after}});
    fields.quantity({"cycle", "Period at whose multiples buckets are released: `5 ms`; `none`: when they are full."},
                    // A cycle far below any network's latency would only slow the simulation down; a cycle of hours is
                    // a wrong unit.
                    fusion.cycle_s, Dimension::seconds, {.word = "none", .least = 1e-6, .most = 3600});
    fields.one_of({"negotiation",
                   "Negotiation of buckets via rank 0 (Horovod): `none`, once a bucket's gradients are ready "
                   "(`on-ready`), or of all at the iteration's start (`ahead`: TensorFlow; ignores `cycle`)."},
                  fusion.negotiation,
                  {{"none", Negotiation::none}, {"on-ready", Negotiation::on_ready}, {"ahead", Negotiation::ahead}});
}

/// Longer times are mistakes.
constexpr double longest_s = 1e10;

void describe(Fields& fields, Checkpointing& checkpoint) {
    checkpoint.given = true;
    fields.quantity({"interval",
                     "Useful time between two checkpoints: `30 min`, rounded to whole iterations; or `optimal`: Daly's "
                     "optimum for the platform's `failures`."},
                    checkpoint.interval_s, Dimension::seconds, {.word = "optimal", .most = longest_s});
    fields.quantity({"bytes",
                     "Size of a checkpoint, of all ranks together: `2.3 TB`. Default: one copy of the weights and the "
                     "optimizer's state."},
                    checkpoint.bytes, Dimension::bytes, {.most = 1e18});
    fields.quantity({"write_time",
                     "Time to write a checkpoint: `5 min`, or `none`. Default: `bytes` / the platform's "
                     "`storage.write_bandwidth`."},
                    checkpoint.write_s, Dimension::seconds, {.word = "none", .most = longest_s});
    int overlapped = checkpoint.overlapped ? 1 : 0;
    fields.choice(
        {"write", "Writing of a checkpoint: the training stops (`blocking`), or only for a snapshot (`overlapped`)."},
        overlapped, {"blocking", "overlapped"});
    checkpoint.overlapped = overlapped == 1;
    fields.quantity(
        {"snapshot_time",
         "Time for which an overlapped checkpoint stops the training: `0.6 s`, or `none`. Default: the copy "
         "of a device's state over its `host_link`."},
        checkpoint.snapshot_s, Dimension::seconds, {.word = "none", .most = longest_s});
    if (fields.sound() && checkpoint.snapshot_s && !checkpoint.overlapped)
        fields.reject("snapshot_time", "a blocking checkpoint has no snapshot", "write `write: overlapped`");
    if (fields.sound() && checkpoint.bytes && checkpoint.write_s)
        fields.reject("bytes", "'bytes' has no effect beside 'write_time'", "remove one of the two");
}

void describe(Fields& fields, double& restart_s, Repairs& repairs) {
    fields.quantity({"time", "The same, beside the other keys."}, restart_s, Dimension::seconds,
                    {.word = "none", .most = longest_s});
    fields.quantity({"repair",
                     "Time from a failure until the broken node is back: `1 d`. Default: another node replaces it at "
                     "once."},
                    repairs.time_s, Dimension::seconds, {.most = longest_s});
    fields.integer({"spares", "Number of nodes that stand by and replace broken ones. They cost what others cost."},
                   repairs.spares, 0, largest_group);
    fields.one_of(
        {"elastic",
         "While nodes lack, the run waits (`none`) or continues with fewer replicas, which share the batch "
         "(`same-batch`) or keep theirs (`smaller-batch`)."},
        repairs.elastic,
        {{"none", Elastic::none}, {"same-batch", Elastic::same_batch}, {"smaller-batch", Elastic::smaller_batch}});
    for (const char* key : {"spares", "elastic"})
        if (fields.sound() && fields.given(key) && !fields.given("repair"))
            fields.reject(key, fmt::format("'{}' has no effect without 'repair'", key),
                          "write for example `repair: 1 d`");
}

void describe(Fields& fields, AccuracyPoint& point) {
    constexpr double most = 1e18;
    fields.quantity({"batch", "Samples of an update: of all ranks, or of a worker whose updates are its own.", true},
                    point.batch, Dimension::count, {.least = 1, .most = most});
    fields.number({"staleness", "Mean staleness of the gradients, in updates; 0 if ranks wait for each other."},
                  point.staleness, 0, most);
    fields.quantity({"samples", "Samples until the accuracy is reached: `1.1 B`.", true}, point.samples,
                    Dimension::count, {.least = 1, .most = most});
}

void describe(Fields& fields, RunLength& run) {
    const char* const one_of_them = "remove one of the two";
    constexpr double most = 1e18;
    fields.quantity({"tokens", "Number of tokens: `300 B`, `1.4 T` (billions, trillions), or a plain number."},
                    run.tokens, Dimension::count, {.least = 1, .most = most});
    fields.quantity({"samples", "Number of samples, in place of `tokens`: `90 M`."}, run.samples, Dimension::count,
                    {.least = 1, .most = most});
    fields.section({"checkpoint",
                    "Checkpoints, from which the run restarts after failures of the platform's parts. Default: the "
                    "optimal interval, if the platform gives `storage.write_bandwidth`."},
                   [&](Fields& inner) { describe(inner, run.checkpoint); });
    fields.each({"samples_to_accuracy",
                 "Samples that reach the accuracy, by batch and staleness, in place of `samples`; interpolated, never "
                 "extrapolated. Default: not known."},
                [&](Fields& inner) { describe(inner, run.to_accuracy.emplace_back()); });
    for (std::size_t i = 1; fields.sound() && i < run.to_accuracy.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (run.to_accuracy[i].batch == run.to_accuracy[j].batch &&
                run.to_accuracy[i].staleness == run.to_accuracy[j].staleness)
                fields.reject(fmt::format("samples_to_accuracy.{}", i),
                              fmt::format("a batch of {:g} at staleness {:g} is listed twice", run.to_accuracy[i].batch,
                                          run.to_accuracy[i].staleness),
                              one_of_them);
    fields.quantity_or_section(
        {"restart",
         "Time from a failure until the training continues: detection, replacement, loading of "
         "the checkpoint: `10 min`, or `none`. A mapping says how nodes are repaired, too."},
        run.checkpoint.restart_s, Dimension::seconds, {.word = "none", .most = longest_s},
        [&](Fields& inner) { describe(inner, run.checkpoint.restart_s, run.checkpoint.repairs); });
    if (fields.sound() && !run.given())
        fields.reject("tokens", "the length of the run is missing", "write for example `tokens: 300 B`");
}

/// A bound, so that sums with iterations do not overflow; it exceeds all that a training may have.
constexpr std::int64_t most_staleness = 1'000'000'000;

/// Twice as many iterations are replayed.
constexpr std::int64_t most_local_steps = 10'000;

void describe(Fields& fields, Servers& servers) {
    fields.integer({"count", "Number of parameter servers."}, servers.count, 1, largest_group);
    fields.one_of({"placement",
                   "Distribution of tensors over servers: `round-robin`, `greedy-bytes` (to the server with the fewest "
                   "bytes so far), or `sliced` (equal slices on all servers)."},
                  servers.assignment,
                  {{"round-robin", ServerAssignment::round_robin},
                   {"greedy-bytes", ServerAssignment::greedy_bytes},
                   {"sliced", ServerAssignment::sliced}});
    int location = 0;
    fields.choice_or_section(
        {"location",
         "Location of the servers: on their own nodes (`dedicated`), or spread over nodes that also have ranks "
         "(`colocated`; a mapping chooses their placement)."},
        location, {"dedicated", "colocated"}, [&](Fields& inner) {
            inner.one_of({"colocated",
                          "Placement of servers on ranks' nodes: `spread` over them, or `packed` (server i on rank i's "
                          "node; with `local_reduction`, on the i-th node that has ranks).",
                          true},
                         servers.location, {{"spread", ServerLocation::spread}, {"packed", ServerLocation::packed}});
        });
    if (location == 1) servers.location = ServerLocation::spread;
    fields.one_of({"pull",
                   "Start of the replies: when all servers have completed all of their reductions (`together`), or "
                   "each result as soon as it is complete (`each`)."},
                  servers.pull, {{"together", PullStart::together}, {"each", PullStart::each}});
    fields.flag(
        {"local_reduction",
         "Reduction within a node: its ranks add up their gradients on the first one, which alone pushes and pulls."},
        servers.local_reduction);
    fields.one_of({"updates",
                   "Updates of the weights: one of all workers' gradients (`synchronous`), one of each worker's "
                   "(`asynchronous`), or that within a bound of `staleness` (`stale-synchronous`)."},
                  servers.updates,
                  {{"synchronous", Updates::synchronous},
                   {"asynchronous", Updates::asynchronous},
                   {"stale-synchronous", Updates::stale_synchronous}});
    fields.integer({"staleness",
                    "Iterations by which the fastest worker may be ahead of the slowest, with `stale-synchronous`; 0: "
                    "none, as with `synchronous`."},
                   servers.staleness, 0, most_staleness);
    fields.integer({"backup_workers",
                    "Workers that a synchronous update does without: it takes the gradients of the others, whichever "
                    "arrive first; the rest are given up."},
                   servers.backup_workers, 0, largest_group);
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
         "Variation of each rank's computation time, lognormal, drawn anew in every iteration (see --seed): `5 %`; or "
         "of several kinds: `{ranks: 5 %, nodes: 2 %, messages: 30 %}`."},
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
                   "Compute model: `calibrated` (roofline scaled to a measured throughput), `roofline`, `im2col`, "
                   "`efficiency`, `measured` (`layer_times`), or `tables` (measured kernel rates)."},
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
    fields.one_of(
        {"batch_shares",
         "Shares of the batch on nodes of several kinds: `equal`, or by the `speed` at which the ranks compute "
         "an equal share, in whole samples (largest remainders)."},
        plan.batch_shares, {{"equal", BatchShares::equal}, {"speed", BatchShares::speed}});
    fields.integer({"iterations",
                    "Number of iterations. The last one is measured (`jitter`, `documents`: all but the first; "
                    "`faults`: all), one "
                    "more follows it; with 1, only this one is replayed, from an idle cluster."},
                   plan.iterations, 1, 10'000);
    fields.section(
        {"run",
         "Length of the whole training, for its number of iterations, time and cost, with failures and without."},
        [&](Fields& inner) { describe(inner, plan.run); });
    describe_parallelism(fields, plan.ranks, plan.parallelism, open);
    fields.one_of({"recomputation",
                   "Activation recomputation: `none`, `selective` (attention's scores and softmax), `operators` "
                   "(torchtitan's selective `op`), or `full` (each transformer layer; elsewhere √n layers)."},
                  plan.recomputation,
                  {{"none", Recomputation::none},
                   {"selective", Recomputation::selective},
                   {"operators", Recomputation::operators},
                   {"full", Recomputation::full}});
    describe(fields, plan.saved);
    open.recomputation = open.everything && !fields.given("recomputation");
    fields.one_of({"optimizer",
                   "Optimizer state per parameter: nothing (`sgd`), one value (`momentum`) or two (`adam`). `none`: no "
                   "optimizer step and no master weights."},
                  plan.optimizer,
                  {{"none", Optimizer::none},
                   {"sgd", Optimizer::sgd},
                   {"momentum", Optimizer::momentum},
                   {"adam", Optimizer::adam}});
    fields.flag(
        {"clipping", "Gradient clipping to a norm before the optimizer's step; takes time with `compute: tables`."},
        plan.clipping);
    fields.one_of({"offload",
                   "Offload of state to host memory, where the optimizer then runs: `none`, `optimizer` (its state and "
                   "master weights: Megatron-Core), or also gradients (`gradients`: ZeRO-Offload)."},
                  plan.offload,
                  {{"none", Offload::none}, {"optimizer", Offload::optimizer}, {"gradients", Offload::gradients}});
    describe(fields, plan.precision);
    describe_compute(fields, plan.compute);
    fields.one_of({"accumulation",
                   "Accumulation of microbatch gradients with `compute: tables`: one kernel per weight (`separate`: "
                   "PyTorch), or in the weight-gradient GEMM (`fused`: Megatron-LM)."},
                  plan.accumulation, {{"separate", Accumulation::separate}, {"fused", Accumulation::fused}});
    fields.one_of({"launches",
                   "Kernel launches with `compute: tables`: one by one (`eager`: at least `kernels.host_launch` per "
                   "kernel), with the host waiting (`blocking`), or as CUDA graphs (`graph`)."},
                  plan.launches,
                  {{"eager", Launches::eager}, {"blocking", Launches::blocking}, {"graph", Launches::graph}});
    fields.one_of({"elementwise",
                   "Element-wise operations with `compute: tables`: joined into few kernels (`fused`: Megatron-Core, "
                   "compiled PyTorch), or one kernel each (`separate`: eager PyTorch)."},
                  plan.elementwise, {{"fused", Elementwise::fused}, {"separate", Elementwise::separate}});
    fields.text({"attention_kernel",
                 "Fused attention kernel that the framework calls, by its name in the device's file "
                 "`kernels.attention`: `flash-attention-2`. Default: the device's `kernels.attention_kernel`."},
                plan.attention_kernel);
    describe_noise(fields, plan.noise);
    describe_documents(fields, plan.documents);
    fields.one_of({"exchange",
                   "Exchange of gradients between ranks (`allreduce`) or with servers (`parameter-server`), or of "
                   "models between neighbours (`gossip`)."},
                  plan.exchange,
                  {{"allreduce", ExchangeKind::allreduce},
                   {served_allreduce, ExchangeKind::parameter_server},
                   {"gossip", ExchangeKind::gossip}});
    fields.one_of({"algorithm", "Algorithm of the all-reduce; other exchanges use none."}, plan.algorithm.name,
                  training_algorithms());
    plan.algorithm.named = fields.given("algorithm");
    describe_algorithm(fields, plan.algorithm);
    describe_schedule(fields, plan.algorithm);
    describe_selection(fields, plan.selection);
    describe_channels(fields, plan.channels);
    fields.one_of({"overlap",
                   "Overlap of gradient exchange with computation: `none`, with the backward pass (`wait-free`), or "
                   "also with the next forward pass (`across-iterations`)."},
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
    describe_loading(fields, plan.loading);
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
                   "Order of ready buckets: by release (`fifo`), first layers first (`priority`: P3, ByteScheduler), "
                   "or `random` (TensorFlow's parameter server; see --seed)."},
                  plan.schedule,
                  {{"fifo", Schedule::fifo}, {"priority", Schedule::priority}, {"random", Schedule::random}});
    fields.integer(
        {"local_steps",
         "Iterations after which replicas exchange, as in local SGD and DiLoCo; with `parallelism.shard_ranks` "
         "groups exchange every iteration inside, and so often among each other."},
        plan.local_steps, 1, most_local_steps);
    fields.integer({"exchange_delay",
                    "Iterations by which the results of an exchange may be late: the update of an iteration waits for "
                    "the exchange so many iterations before."},
                   plan.exchange_delay, 0, most_local_steps);
    fields.section({"servers", "Parameter servers; other exchanges use none."},
                   [&](Fields& inner) { describe(inner, plan.servers); });
    describe(fields, plan.fidelity);
    if (open.everything && !fields.given("fidelity")) plan.fidelity = Fidelity::automatic;
}

void describe(Fields& fields, Plan& plan, OpenPlan& open) {
    describe_framework(fields, plan);
    describe_training_keys(fields, plan, open);
    note_inherited(fields, plan);
    open.written = written_keys(fields);
    if (fields.sound()) report(fields, settle(plan, open));
}

}  // namespace syncline::config
