#include "sim/collective/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/collective/binomial_scatter.hpp"
#include "sim/collective/binomial_tree.hpp"
#include "sim/collective/bruck.hpp"
#include "sim/collective/contributors.hpp"
#include "sim/collective/direct.hpp"
#include "sim/collective/dissemination.hpp"
#include "sim/collective/double_binary_tree.hpp"
#include "sim/collective/gossip.hpp"
#include "sim/collective/hierarchical.hpp"
#include "sim/collective/hierarchical_leaders.hpp"
#include "sim/collective/inner_outer.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/pairwise.hpp"
#include "sim/collective/pipelined_tree.hpp"
#include "sim/collective/rabenseifner.hpp"
#include "sim/collective/recursive_doubling.hpp"
#include "sim/collective/recursive_halving.hpp"
#include "sim/collective/ring.hpp"
#include "sim/collective/scatter_allgather.hpp"
#include "sim/collective/segmented_ring.hpp"

namespace syncline {

namespace {

TopologySpec overlay_or(const AlgorithmSpec& spec, Shape shape, bool directed) {
    if (spec.overlay) return *spec.overlay;
    TopologySpec standard;
    standard.shape = shape;
    standard.directed = directed;
    return standard;
}

const std::vector<HierarchyLevel>& hierarchy(const AlgorithmSpec& spec, std::uint32_t ranks) {
    if (!spec.overlay || spec.overlay->shape != Shape::hierarchical)
        throw AlgorithmError(
            spec.overlay ? "overlay" : "algorithm",
            fmt::format("'{}' needs an overlay of shape 'hierarchical'", spec.name),
            "list its levels, innermost first: {topology: hierarchical, levels: [{pattern: ring, size: 8}, "
            "{pattern: ring}]}");
    make_overlay(*spec.overlay, ranks);  // only for its checks
    return spec.overlay->levels;
}

/// Returns the size of the innermost groups: all ranks, if the only level has an open size.
std::uint32_t group_size(const AlgorithmSpec& spec, std::uint32_t ranks) {
    const std::int64_t size = hierarchy(spec, ranks).front().size;
    return size == 0 ? ranks : static_cast<std::uint32_t>(size);
}

using Made = std::shared_ptr<const CollectiveAlgorithm>;

/// The parameters of a spec that an algorithm accepts.
struct Takes {
    bool overlay = false, segment = false, peers = false, subsets = false;
};

struct Entry {
    const char* operation;
    const char* name;
    Made (*make)(const AlgorithmSpec& spec, std::uint32_t ranks);
    Takes takes = {};
};

template <class Algorithm>
Made plain(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<Algorithm>();
}

template <TreeOperation operation>
Made binomial_tree(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<BinomialTree>(operation);
}

template <TreeOperation operation>
Made pipelined_tree(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<PipelinedTree>(
        operation, spanning_tree(make_overlay(overlay_or(spec, Shape::tree, false), ranks)), spec.segment_bytes);
}

template <TreeOperation operation>
Made double_binary_tree(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return std::make_shared<DoubleBinaryTree>(operation, ranks, spec.segment_bytes);
}

template <Direct::Operation operation>
Made direct(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<Direct>(operation);
}

template <DirectRooted::Operation operation>
Made direct_rooted(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<DirectRooted>(operation);
}

std::uint32_t contributors(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return spec.contributors == 0 ? ranks : spec.contributors;
}

std::uint32_t receivers(const AlgorithmSpec& spec, std::uint32_t ranks) {
    return spec.receivers == 0 ? ranks : spec.receivers;
}

/// Returns all algorithms; the first of an operation is its default.
const std::vector<Entry>& entries() {
    static const std::vector<Entry> all{
        {"allreduce", "ring", plain<RingAllreduce>, {.subsets = true}},
        {"allreduce",
         "segmented-ring",
         [](const AlgorithmSpec& spec, std::uint32_t) -> Made {
             return std::make_shared<SegmentedRing>(spec.segment_bytes);
         },
         {.segment = true}},
        {"allreduce", "recursive-doubling", plain<RecursiveDoubling>},
        {"allreduce", "rabenseifner", plain<Rabenseifner>},
        {"allreduce", "binomial-tree", binomial_tree<TreeOperation::allreduce>},
        {"allreduce", "pipelined-tree", pipelined_tree<TreeOperation::allreduce>, {.overlay = true, .segment = true}},
        {"allreduce", "double-binary-tree", double_binary_tree<TreeOperation::allreduce>, {.segment = true}},
        {"allreduce",
         "hierarchical",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             return std::make_shared<Hierarchical>(hierarchy(spec, ranks), ranks);
         },
         {.overlay = true}},
        {"allreduce",
         "hierarchical-leaders",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             return std::make_shared<HierarchicalLeaders>(hierarchy(spec, ranks), ranks);
         },
         {.overlay = true}},
        {"allreduce", "direct", direct<Direct::Operation::allreduce>},
        {"allreduce",
         "reduce-scatter-allgather",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             return std::make_shared<ReduceScatterAllgather>(contributors(spec, ranks), receivers(spec, ranks));
         },
         {.subsets = true}},
        {"reduce-scatter", "ring", plain<RingReduceScatter>},
        {"reduce-scatter", "recursive-halving", plain<RecursiveHalving>},
        {"reduce-scatter", "direct", direct<Direct::Operation::reduce_scatter>},
        {"allgather",
         "ring",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             return std::make_shared<RingAllgather>(contributors(spec, ranks));
         },
         {.subsets = true}},
        {"allgather", "recursive-doubling", plain<RecursiveDoublingAllgather>},
        {"allgather", "bruck", plain<BruckAllgather>},
        {"allgather", "direct", direct<Direct::Operation::allgather>},
        {"allgather",
         "padded-ring",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             return std::make_shared<PaddedRing>(contributors(spec, ranks));
         },
         {.subsets = true}},
        {"allgather",
         "ring-broadcast",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             return std::make_shared<RingBroadcast>(contributors(spec, ranks), receivers(spec, ranks),
                                                    spec.segment_bytes);
         },
         {.segment = true, .subsets = true}},
        {"allgather",
         "spread-doubling",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             return std::make_shared<SpreadDoubling>(contributors(spec, ranks));
         },
         {.subsets = true}},
        {"broadcast", "binomial-tree", binomial_tree<TreeOperation::broadcast>},
        {"broadcast", "pipelined-tree", pipelined_tree<TreeOperation::broadcast>, {.overlay = true, .segment = true}},
        {"broadcast", "double-binary-tree", double_binary_tree<TreeOperation::broadcast>, {.segment = true}},
        {"broadcast", "scatter-allgather", plain<ScatterAllgather>},
        {"broadcast", "direct", direct_rooted<DirectRooted::Operation::broadcast>},
        {"reduce", "binomial-tree", binomial_tree<TreeOperation::reduce>},
        {"reduce", "pipelined-tree", pipelined_tree<TreeOperation::reduce>, {.overlay = true, .segment = true}},
        {"reduce", "double-binary-tree", double_binary_tree<TreeOperation::reduce>, {.segment = true}},
        {"reduce", "direct", direct_rooted<DirectRooted::Operation::reduce>},
        {"scatter", "binomial-tree", plain<BinomialScatter>},
        {"scatter", "direct", direct_rooted<DirectRooted::Operation::scatter>},
        {"gather", "binomial-tree", plain<BinomialGather>},
        {"gather", "direct", direct_rooted<DirectRooted::Operation::gather>},
        {"all-to-all", "direct", direct<Direct::Operation::all_to_all>},
        {"all-to-all", "pairwise", plain<PairwiseAllToAll>},
        {"all-to-all", "bruck", plain<BruckAllToAll>},
        {"barrier", "dissemination", plain<Dissemination>},
        {"neighbour-exchange",
         "gossip",
         [](const AlgorithmSpec& spec, std::uint32_t ranks) -> Made {
             if (spec.peers == Peers::inner_outer)
                 return std::make_shared<InnerOuterGossip>(group_size(spec, ranks), ranks);
             return std::make_shared<Gossip>(make_overlay(overlay_or(spec, Shape::exponential, true), ranks),
                                             spec.peers == Peers::one);
         },
         {.overlay = true, .peers = true}},
    };
    return all;
}

/// Returns the algorithms of an operation that accept a parameter, for a hint.
std::string those_that_take(bool Takes::*what, const std::string& operation) {
    std::vector<std::string> names;
    for (const Entry& entry : entries())
        if (entry.takes.*what && entry.operation == operation) names.push_back(fmt::format("'{}'", entry.name));
    if (names.empty()) return fmt::format("no algorithm of {} does", operation);
    return fmt::format("algorithms of {} that do: {}", operation, fmt::join(names, ", "));
}

void require_parameters_fit(const AlgorithmSpec& spec, const Takes& takes, std::uint32_t ranks) {
    if (spec.overlay && !takes.overlay)
        throw AlgorithmError("overlay", fmt::format("'{}' uses no overlay", spec.name),
                             "the communication pattern is part of the algorithm: remove the overlay");
    if (spec.segment_bytes != 0 && !takes.segment)
        throw AlgorithmError("segment", fmt::format("'{}' does not cut its messages into segments", spec.name),
                             those_that_take(&Takes::segment, spec.operation));
    if (spec.segment_bytes < 0 || !std::isfinite(spec.segment_bytes) ||
        (spec.segment_bytes > 0 && spec.segment_bytes < 1))
        throw AlgorithmError("segment", "a segment must have at least one byte",
                             "use 0 to let the algorithm choose the segments");
    if (spec.peers != Peers::all && !takes.peers)
        throw AlgorithmError("peers", fmt::format("'{}' does not choose its peers", spec.name), "only 'gossip' does");
    const auto check_subset = [&](const char* key, std::uint32_t members) {
        if (members != 0 && !takes.subsets)
            throw AlgorithmError(
                key, fmt::format("'{}' of {} does not support fewer {} than ranks", spec.name, spec.operation, key),
                those_that_take(&Takes::subsets, spec.operation));
        if (members > ranks) throw AlgorithmError(key, fmt::format("{} is more than the {} ranks", members, ranks));
    };
    check_subset("contributors", spec.contributors);
    check_subset("receivers", spec.receivers);
}

}  // namespace

const std::vector<std::string>& operation_names() {
    static const std::vector<std::string> names{"allreduce", "reduce-scatter",    "allgather", "broadcast",
                                                "reduce",    "scatter",           "gather",    "all-to-all",
                                                "barrier",   "neighbour-exchange"};
    return names;
}

std::vector<std::string> algorithm_names(const std::string& operation) {
    std::vector<std::string> names;
    for (const Entry& entry : entries())
        if (entry.operation == operation) names.emplace_back(entry.name);
    if (names.empty()) throw std::logic_error(fmt::format("unknown operation '{}'", operation));
    return names;
}

const std::vector<std::string>& exchange_operations() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all = operation_names();
        all.insert(all.end(), {"push", "pull"});
        return all;
    }();
    return names;
}

std::vector<std::string> exchange_algorithms(const std::string& operation) {
    if (operation == "push" || operation == "pull") return {served_allreduce};
    std::vector<std::string> names = algorithm_names(operation);
    if (operation == "allreduce") names.push_back(served_allreduce);
    return names;
}

bool takes_subsets(const std::string& operation, const std::string& name) {
    return std::any_of(entries().begin(), entries().end(), [&](const Entry& entry) {
        return entry.operation == operation && entry.name == name && entry.takes.subsets;
    });
}

std::shared_ptr<const CollectiveAlgorithm> make_algorithm(const AlgorithmSpec& spec, std::uint32_t ranks) {
    const auto entry = std::find_if(entries().begin(), entries().end(), [&](const Entry& one) {
        return one.operation == spec.operation && one.name == spec.name;
    });
    if (entry == entries().end())
        throw std::logic_error(fmt::format("unknown algorithm '{}' of {}", spec.name, spec.operation));
    if (ranks == 0) throw AlgorithmError("ranks", "a group needs at least one rank");
    require_parameters_fit(spec, entry->takes, ranks);
    return entry->make(spec, ranks);
}

bool leaves_idle(const CollectiveAlgorithm& algorithm, std::uint32_t ranks) {
    for (std::uint32_t round = 0; round < algorithm.period(); ++round) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            if (algorithm.program(rank, ranks, 0, round).steps.empty()) return true;
        }
    }
    return false;
}

}  // namespace syncline
