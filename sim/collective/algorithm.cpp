#include "sim/collective/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/collective/factories.hpp"

namespace syncline {

namespace {

/// The parameters of a spec that an algorithm accepts.
struct Takes {
    bool overlay = false, segment = false, peers = false, subsets = false, channels = false;
    bool switches = false;  ///< not a parameter: switches are members
    bool schedule = false;  ///< and needs one
};

struct Entry {
    const char* operation;
    const char* name;
    algorithms::Factory* make;
    Takes takes = {};
};

/// Returns all algorithms; the first of an operation is its default.
const std::vector<Entry>& entries() {
    static const std::vector<Entry> all{
        {"allreduce", "ring", algorithms::ring_allreduce, {.subsets = true, .channels = true}},
        {"allreduce", "segmented-ring", algorithms::segmented_ring, {.segment = true, .channels = true}},
        {"allreduce", "recursive-doubling", algorithms::recursive_doubling},
        {"allreduce", "rabenseifner", algorithms::rabenseifner},
        {"allreduce", "binomial-tree", algorithms::binomial_tree},
        {"allreduce", "pipelined-tree", algorithms::pipelined_tree, {.overlay = true, .segment = true}},
        {"allreduce", "double-binary-tree", algorithms::double_binary_tree, {.segment = true, .channels = true}},
        {"allreduce", "nccl-tree", algorithms::nccl_tree, {.segment = true, .channels = true}},
        {"allreduce", "hierarchical", algorithms::hierarchical, {.overlay = true, .segment = true}},
        {"allreduce", "hierarchical-leaders", algorithms::hierarchical_leaders, {.overlay = true}},
        {"allreduce", "direct", algorithms::direct},
        {"allreduce", "reduce-scatter-allgather", algorithms::reduce_scatter_allgather, {.subsets = true}},
        {"allreduce", "in-network", algorithms::in_network, {.segment = true, .switches = true}},
        {"allreduce", "msccl", algorithms::msccl, {.segment = true, .schedule = true}},
        {"reduce-scatter", "ring", algorithms::ring_reduce_scatter, {.channels = true}},
        {"reduce-scatter", "recursive-halving", algorithms::recursive_halving},
        {"reduce-scatter", "pat", algorithms::pat, {.channels = true}},
        {"reduce-scatter", "direct", algorithms::direct},
        {"reduce-scatter", "msccl", algorithms::msccl, {.segment = true, .schedule = true}},
        {"allgather", "ring", algorithms::ring_allgather, {.subsets = true, .channels = true}},
        {"allgather", "recursive-doubling", algorithms::recursive_doubling_allgather},
        {"allgather", "bruck", algorithms::bruck_allgather},
        {"allgather", "pat", algorithms::pat, {.channels = true}},
        {"allgather", "direct", algorithms::direct},
        {"allgather", "padded-ring", algorithms::padded_ring, {.subsets = true}},
        {"allgather", "ring-broadcast", algorithms::ring_broadcast, {.segment = true, .subsets = true}},
        {"allgather", "spread-doubling", algorithms::spread_doubling, {.subsets = true}},
        {"allgather", "msccl", algorithms::msccl, {.segment = true, .schedule = true}},
        {"broadcast", "binomial-tree", algorithms::binomial_tree},
        {"broadcast", "pipelined-tree", algorithms::pipelined_tree, {.overlay = true, .segment = true}},
        {"broadcast", "double-binary-tree", algorithms::double_binary_tree, {.segment = true}},
        {"broadcast", "scatter-allgather", algorithms::scatter_allgather},
        {"broadcast", "direct", algorithms::direct},
        {"reduce", "binomial-tree", algorithms::binomial_tree},
        {"reduce", "pipelined-tree", algorithms::pipelined_tree, {.overlay = true, .segment = true}},
        {"reduce", "double-binary-tree", algorithms::double_binary_tree, {.segment = true}},
        {"reduce", "direct", algorithms::direct},
        {"scatter", "binomial-tree", algorithms::binomial_scatter},
        {"scatter", "direct", algorithms::direct},
        {"gather", "binomial-tree", algorithms::binomial_gather},
        {"gather", "direct", algorithms::direct},
        {"all-to-all", "direct", algorithms::direct},
        {"all-to-all", "pairwise", algorithms::pairwise},
        {"all-to-all", "bruck", algorithms::bruck_all_to_all},
        {"all-to-all", "msccl", algorithms::msccl, {.segment = true, .schedule = true}},
        {"barrier", "dissemination", algorithms::dissemination},
        {"neighbour-exchange", "gossip", algorithms::gossip, {.overlay = true, .peers = true}},
    };
    return all;
}

/// Returns the algorithms of an operation that accept a parameter, for a hint; `otherwise` begins that for none.
std::string those_that_take(bool Takes::*what, const std::string& operation, const char* otherwise = "") {
    std::vector<std::string> names;
    for (const Entry& entry : entries())
        if (entry.takes.*what && entry.operation == operation) names.push_back(fmt::format("'{}'", entry.name));
    if (names.empty()) return fmt::format("{}no algorithm of {} does", otherwise, operation);
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
    if (spec.schedule && !takes.schedule)
        throw AlgorithmError(scheduled, fmt::format("'{}' has its own steps", spec.name), "remove it");
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
        if (entry.operation == operation && !entry.takes.switches && !entry.takes.schedule)
            names.emplace_back(entry.name);
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
    if (operation == "allreduce") names.insert(names.end(), {in_network_allreduce, served_allreduce});
    return names;
}

bool takes_subsets(const std::string& operation, const std::string& name) {
    return std::any_of(entries().begin(), entries().end(), [&](const Entry& entry) {
        return entry.operation == operation && entry.name == name && entry.takes.subsets;
    });
}

bool takes_channels(const AlgorithmSpec& spec) {
    return spec.contributors == 0 && spec.receivers == 0 &&
           std::any_of(entries().begin(), entries().end(), [&](const Entry& entry) {
               return entry.operation == spec.operation && entry.name == spec.name && entry.takes.channels;
           });
}

std::string hint_for_channels(const std::string& operation) {
    return those_that_take(&Takes::channels, operation, "remove it: ");
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

std::uint64_t messages_sent(const CollectiveAlgorithm& algorithm, std::uint32_t rank, std::uint32_t ranks,
                            std::uint64_t bytes, std::uint32_t round) {
    std::uint64_t messages = 0;
    for (std::uint32_t lane = 0; lane < algorithm.lanes(); ++lane)
        messages += messages_sent(algorithm.lane_program(lane, rank, ranks, bytes, round));
    return messages;
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
