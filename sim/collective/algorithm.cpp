#include "sim/collective/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/collective/direct.hpp"
#include "sim/collective/gossip.hpp"
#include "sim/collective/hierarchical.hpp"
#include "sim/collective/hierarchical_leaders.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/pipelined_tree.hpp"
#include "sim/collective/recursive_doubling.hpp"
#include "sim/collective/ring.hpp"

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
        throw AlgorithmError("overlay", fmt::format("'{}' needs an overlay of shape 'hierarchical'", spec.name),
                             "list its levels, innermost first");
    make_overlay(*spec.overlay, ranks);  // for its checks
    return spec.overlay->levels;
}

void require_parameters_fit(const AlgorithmSpec& spec) {
    const bool tree = spec.name == "pipelined-tree", gossip = spec.name == "gossip";
    const bool hierarchical = spec.name == "hierarchical" || spec.name == "hierarchical-leaders";
    if (spec.overlay && !tree && !gossip && !hierarchical)
        throw AlgorithmError("overlay", fmt::format("'{}' uses no overlay", spec.name),
                             "who exchanges with whom is part of the algorithm: leave the overlay out");
    if (spec.segment_bytes != 0 && !tree)
        throw AlgorithmError("segment", fmt::format("'{}' does not cut its messages into segments", spec.name),
                             "only 'pipelined-tree' does");
    if (spec.segment_bytes < 0 || !std::isfinite(spec.segment_bytes) ||
        (spec.segment_bytes > 0 && spec.segment_bytes < 1))
        throw AlgorithmError("segment", "a segment has at least one byte", "0 leaves the buffer in one");
    if (spec.one_peer && !gossip)
        throw AlgorithmError("peers", fmt::format("'{}' does not choose its peers", spec.name), "only 'gossip' does");
}

}  // namespace

std::vector<std::string> algorithm_names(const std::string& operation) {
    if (operation == "allreduce")
        return {"ring", "recursive-doubling", "pipelined-tree", "hierarchical", "hierarchical-leaders"};
    if (operation == "all-to-all") return {"direct"};
    if (operation == "neighbour-exchange") return {"gossip"};
    throw std::logic_error(fmt::format("no operation '{}'", operation));
}

std::shared_ptr<const CollectiveAlgorithm> make_algorithm(const AlgorithmSpec& spec, std::uint32_t ranks) {
    const std::vector<std::string> names = algorithm_names(spec.operation);
    if (std::find(names.begin(), names.end(), spec.name) == names.end())
        throw std::logic_error(fmt::format("no algorithm '{}' of {}", spec.name, spec.operation));
    if (ranks == 0) throw AlgorithmError("ranks", "a group has at least one rank");
    require_parameters_fit(spec);
    if (spec.name == "recursive-doubling") return std::make_shared<RecursiveDoubling>();
    if (spec.name == "pipelined-tree")
        return std::make_shared<PipelinedTree>(spanning_tree(make_overlay(overlay_or(spec, Shape::tree, false), ranks)),
                                               spec.segment_bytes);
    if (spec.name == "hierarchical") return std::make_shared<Hierarchical>(hierarchy(spec, ranks), ranks);
    if (spec.name == "hierarchical-leaders")
        return std::make_shared<HierarchicalLeaders>(hierarchy(spec, ranks), ranks);
    if (spec.name == "direct") return std::make_shared<DirectAllToAll>();
    if (spec.name == "gossip")
        return std::make_shared<Gossip>(make_overlay(overlay_or(spec, Shape::exponential, true), ranks), spec.one_peer);
    return std::make_shared<RingAllreduce>();
}

}  // namespace syncline
