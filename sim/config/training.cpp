#include "sim/collective/algorithm.hpp"
#include "sim/config/exchange.hpp"
#include "sim/config/files.hpp"

namespace syncline::config {

namespace {

void describe(Fields& fields, Fusion& fusion) {
    fields.quantity({"threshold", "Gradients are merged into buckets of up to this many bytes: `64 MiB`.", true},
                    fusion.threshold_bytes, Dimension::bytes, {.word = "none"});
    fields.quantity(
        {"cycle", "Buckets are released at multiples of this time: `5 ms`; without it, when they are full."},
        // Far below any network's latency a cycle would only slow the simulation down; hours are a slip of the unit.
        fusion.cycle_s, Dimension::seconds, {.word = "none", .least = 1e-6, .most = 3600});
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
    fields.one_of({"location", "Servers have nodes of their own, or server i runs on the node of rank i."},
                  servers.location,
                  {{"dedicated", ServerLocation::dedicated}, {"colocated", ServerLocation::colocated}});
}

}  // namespace

void describe(Fields& fields, Plan& plan) {
    fields.integer({"ranks", "Workers, one device each.", true}, plan.ranks, 1, largest_group);
    describe(fields, plan.placement);
    fields.integer({"batch_per_rank", "Samples that one rank computes in an iteration."}, plan.batch_per_rank, 1,
                   1 << 24);
    fields.integer({"iterations", "Replayed; the last one is measured."}, plan.iterations, 2, 10'000);
    fields.one_of({"parallelism", "What is split between ranks: `data`, every rank holds the whole model."},
                  plan.parallelism, {{"data", Parallelism::data}});
    fields.one_of({"exchange", "How gradients, or with gossip models, reach other ranks."}, plan.exchange,
                  {{"allreduce", ExchangeKind::allreduce},
                   {served_allreduce, ExchangeKind::parameter_server},
                   {"gossip", ExchangeKind::gossip}});
    std::vector<std::pair<std::string, std::string>> algorithms;
    for (const std::string& name : algorithm_names("allreduce")) algorithms.emplace_back(name, name);
    fields.one_of({"algorithm", "Of the all-reduce; the others use none."}, plan.algorithm.name, algorithms);
    describe_algorithm(fields, plan.algorithm);
    describe_selection(fields, plan.selection);
    fields.one_of({"overlap",
                   "Exchanges start after the whole backward pass (`none`), or each when its gradients are ready "
                   "(`wait-free`)."},
                  plan.overlap, {{"none", Overlap::none}, {"wait-free", Overlap::wait_free}});
    fields.one_of(
        {"input_copy", "The next batch's way to the device: free, beside the computation, or before it."},
        plan.input_copy,
        {{"none", InputCopy::none}, {"overlapped", InputCopy::overlapped}, {"blocking", InputCopy::blocking}});
    fields.section(
        {"fusion", "Merges small gradients into buckets, as Horovod does."},
        [&](Fields& inner) { describe(inner, plan.fusion); }, "none");
    fields.section({"servers", "The parameter servers; other exchanges use none."},
                   [&](Fields& inner) { describe(inner, plan.servers); });
    if (plan.exchange == ExchangeKind::gossip) {
        plan.algorithm.operation = "neighbour-exchange";
        plan.algorithm.name = "gossip";
    }
}

}  // namespace syncline::config
