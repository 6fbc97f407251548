#include <fmt/format.h>

#include "sim/collective/algorithm.hpp"
#include "sim/config/compute.hpp"
#include "sim/config/exchange.hpp"
#include "sim/config/files.hpp"
#include "sim/config/noise.hpp"
#include "sim/config/parallelism.hpp"

namespace syncline::config {

namespace {

void describe(Fields& fields, Fusion& fusion, ExchangeKind exchange) {
    fields.quantity({"threshold", "Gradients are merged into buckets of up to this many bytes: `64 MiB`.", true},
                    fusion.threshold_bytes, Dimension::bytes, {.word = "none"});
    fields.quantity({"first", "The threshold of the first bucket: `1 MiB`; by default that of the others."},
                    fusion.first_bytes, Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of({"full",
                   "A bucket is closed before the gradient that would exceed the threshold (Horovod), or after the one "
                   "that reaches it (PyTorch)."},
                  fusion.full, {{"before", Full::before}, {"after", Full::after}});
    fields.quantity(
        {"cycle", "Buckets are released at multiples of this time: `5 ms`; without it, when they are full."},
        // Far below any network's latency a cycle would only slow the simulation down; hours are a slip of the unit.
        fusion.cycle_s, Dimension::seconds, {.word = "none", .least = 1e-6, .most = 3600});
    fields.flag({"negotiation",
                 "Before each bucket rank 0 hears from every rank that it has it, and tells all to go on, as Horovod's "
                 "coordinator does: 128 B for each layer, both ways."},
                fusion.negotiation);
    if (!fields.sound()) return;
    for (const char* key : {"first", "full"}) {
        if (fields.given(key) && fusion.threshold_bytes == 0)
            fields.reject(key, fmt::format("'{}' is of no use without a threshold", key),
                          "write for example `threshold: 25 MiB`");
    }
    if (fusion.negotiation && exchange == ExchangeKind::parameter_server)
        fields.reject("negotiation", "ranks do not negotiate with a parameter server",
                      "each pushes what it has; `exchange: allreduce` can negotiate");
}

void describe(Fields& fields, Servers& servers) {
    fields.integer({"count", "How many parameter servers."}, servers.count, 1, largest_group);
    fields.one_of({"placement",
                   "Which server holds a tensor: in turn, each on the one that holds the fewest bytes so far, or every "
                   "tensor in equal slices on all."},
                  servers.placement,
                  {{"round-robin", Placement::round_robin},
                   {"greedy-bytes", Placement::greedy_bytes},
                   {"sliced", Placement::sliced}});
    int location = 0;
    fields.choice_or_section(
        {"location",
         "Servers have nodes of their own (`dedicated`), or share nodes with ranks (`colocated`): spread over them, or "
         "as a mapping says."},
        location, {"dedicated", "colocated"}, [&](Fields& inner) {
            inner.one_of({"colocated",
                          "Servers are spread over the nodes that have ranks, or server i runs on the node of rank i "
                          "(with local_reduction on the i-th node that has ranks, in turn).",
                          true},
                         servers.location, {{"spread", ServerLocation::spread}, {"packed", ServerLocation::packed}});
        });
    if (location == 1) servers.location = ServerLocation::spread;
    fields.one_of({"pull",
                   "Servers send sums back when all of them have all of theirs (`together`), or each as soon as it is "
                   "there (`each`)."},
                  servers.pull, {{"together", PullStart::together}, {"each", PullStart::each}});
    fields.flag({"local_reduction",
                 "Ranks on one node add up their gradients on the first of them, which alone pushes and pulls."},
                servers.local_reduction);
}

}  // namespace

void describe(Fields& fields, Plan& plan, OpenPlan& open) {
    fields.integer({"ranks", "Workers, one device each.", true}, plan.ranks, 1, largest_group);
    const auto ranks = fields.given("ranks") && fields.sound() ? std::optional(plan.ranks) : std::nullopt;
    describe(fields, plan.placement);
    fields.integer({"batch_per_rank",
                    "Samples of one replica of the model in an iteration: with data parallelism those of one rank."},
                   plan.batch_per_rank, 1, 1 << 24);
    fields.integer({"batch", "Samples of all ranks together in an iteration, in place of `batch_per_rank`."},
                   open.batch, 1, 1 << 30);
    fields.integer({"iterations",
                    "The last of so many is measured, with `jitter` all but the first, and one more replayed behind; "
                    "1: only that one, from a standing start."},
                   plan.iterations, 1, 10'000);
    describe_parallelism(fields, ranks, plan.parallelism, open);
    fields.one_of({"optimizer",
                   "What is kept for each parameter beside weight and gradient: nothing, a momentum, or two moments."},
                  plan.optimizer,
                  {{"sgd", Optimizer::sgd}, {"momentum", Optimizer::momentum}, {"adam", Optimizer::adam}});
    describe_compute(fields, plan.compute);
    describe_noise(fields, ranks, plan.noise);
    fields.one_of({"exchange", "How gradients, or with gossip models, reach other ranks."}, plan.exchange,
                  {{"allreduce", ExchangeKind::allreduce},
                   {served_allreduce, ExchangeKind::parameter_server},
                   {"gossip", ExchangeKind::gossip}});
    fields.one_of({"algorithm", "Of the all-reduce; the others use none."}, plan.algorithm.name,
                  algorithm_names("allreduce"));
    describe_algorithm(fields, plan.algorithm);
    describe_selection(fields, plan.selection);
    fields.one_of({"overlap",
                   "Exchanges start after the whole backward pass (`none`), or each when its gradients are ready "
                   "(`wait-free`); `across-iterations`: and a layer's next forward pass waits for its own exchange "
                   "alone."},
                  plan.overlap,
                  {{"none", Overlap::none},
                   {"wait-free", Overlap::wait_free},
                   {"across-iterations", Overlap::across_iterations}});
    fields.one_of(
        {"input_copy", "The next batch's way to the device: free, beside the computation, or before it."},
        plan.input_copy,
        {{"none", InputCopy::none}, {"overlapped", InputCopy::overlapped}, {"blocking", InputCopy::blocking}});
    fields.section(
        {"fusion", "Merges small gradients into buckets, as Horovod and PyTorch do."},
        [&](Fields& inner) { describe(inner, plan.fusion, plan.exchange); }, "none");
    fields.quantity(
        {"partition",
         "Buckets are exchanged in pieces of at most so many bytes, as in ByteScheduler and BytePS: `4 MiB`."},
        plan.partition_bytes, Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of({"schedule",
                   "Which ready bucket is exchanged next: in the order of release (`fifo`), or that of the layer which "
                   "the next forward pass needs first (`priority`: P3, ByteScheduler), or one that is drawn (`random`: "
                   "TensorFlow's parameter server; see --seed)."},
                  plan.schedule,
                  {{"fifo", Schedule::fifo}, {"priority", Schedule::priority}, {"random", Schedule::random}});
    fields.section({"servers", "The parameter servers; other exchanges use none."},
                   [&](Fields& inner) { describe(inner, plan.servers); });
    describe(fields, plan.fidelity);
    if (plan.exchange == ExchangeKind::gossip) {
        plan.algorithm.operation = "neighbour-exchange";
        plan.algorithm.name = "gossip";
    }
    if (fields.sound()) settle_parallelism(fields, plan, open);
}

}  // namespace syncline::config
