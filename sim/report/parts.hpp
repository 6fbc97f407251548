#pragma once

#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/report/report.hpp"
#include "sim/topology/topology.hpp"

/// The parts of a page's data: JSON values that the page's scripts draw.
namespace syncline {

/// Returns the explanation as JSON; null if there is no explanation.
Json page_explanation(const Explanation& explanation, const PageLimits& limits);

/// Returns bars by process and kind of stream; start and end are in ticks since the start of the window:
/// {tick_s, window_s, names: [...], lanes: [{process, stream, bars: [kind, start, end, name, tasks, ...]}], notes}.
/// `last_rank` is always drawn. Bars that are too short to be seen are joined with neighbours of the same kind.
Json page_timeline(const TimelineView& view, std::int64_t ranks, std::uint32_t last_rank, const PageLimits& limits);

/// Returns the passes of each stage, of its first rank: {window_s, tick_s, count, virtual_stages, micro_batches,
/// stages:
/// [{stage, rank, layers, busy_s, passes: [kind, virtual stage, microbatch, start, end, ...], gradients: [start, end,
/// ...]}]}, with the kinds forward, backward, gradients of inputs, gradients of weights. Null if there is one stage
/// with one microbatch.
Json page_stages(const TimelineView& view, const Lowered& training, const PageLimits& limits);

struct MemoryStep {
    double time_s = 0, activations_bytes = 0;  ///< from this time on
};

/// The memory of a stage during the iteration. Weights, gradients and optimizer state are those of `memory` all the
/// time; activations grow with each forward pass and shrink with each backward pass.
struct StageMemory {
    Memory memory;
    std::vector<MemoryStep> steps;
    double peak_s = 0;             ///< start of the pass with the most
    std::int64_t held_passes = 0;  ///< number of passes whose activations are there then
    bool forward = true;           ///< of that pass
    std::uint32_t micro_batch = 0;
    /// With one pass in each direction, activations grow and shrink with each layer, and not with a pass.
    bool by_layer = false;
};
StageMemory stage_memory(const TimelineView& view, const Lowered& training, std::uint32_t stage);

/// Returns the same for the page, of the fullest stage and others.
Json page_memory(const TimelineView& view, const Lowered& training, const PageLimits& limits);

/// Returns the critical path as strips over time: {what: [{name, start_s, end_s}], shares: [{name: share}], where: as
/// `what`, places: [{name, seconds, share}]}; `what` has phases, `shares` theirs of equal parts of the window, `where`
/// stages, or ranks and servers. `what` is empty if it changes too often to be seen, `where` if the path is everywhere.
Json page_path(const Explanation& explanation, const Lowered* training);

/// Returns the plan and its cluster in the words of the field: {plan: [{name, value, meaning}], place, platform, batch,
/// replicas, price, runs: page_failing_run()}.
Json page_facts(const Lowered& training, const Result& result);

/// Returns how many of the sampled runs with failures take how long, as bars of equal width, and what the mean one
/// consists of: {from_s, step_s, runs: [...], parts: [{part, seconds, cost, energy_J}], repair_s, more_nodes, fewer:
/// [{replicas, iteration_s}]}. Null if failures are not counted.
Json page_failing_run(const Result& result);

/// Returns the utilisation of links: {links: [{link, bytes, utilisation}], groups: [{links, count, bytes,
/// utilisation}], cables: [...], notes}, with `cables` by cable of the picture, in the busier direction. `groups` has
/// links whose names differ only in numbers and whose utilisation is equal to a thousandth. `picture` receives the
/// fabric as SVG, or stays empty if that is too large.
Json page_links(const Cluster& cluster, const Result& result, const TimelineView* view, const PageLimits& limits,
                std::string& picture);

/// Returns for example "rank 3", "server 0", "switch 0".
std::string process_name(const TaskGraph& graph, ProcessId process, std::int64_t ranks);

/// Returns the fabric as the wiring builds it for so many nodes, but a star only with these, which are the first ones.
Topology drawn_fabric(const Cluster& cluster, std::int64_t nodes);

/// Returns `count` of the numbers below `all` in ascending order, evenly spaced and including the first, the last and
/// `wanted`.
std::vector<std::uint32_t> picked(std::uint32_t all, std::size_t count, std::uint32_t wanted);

}  // namespace syncline
