#include "sim/explain/exchange_recording.hpp"

#include <algorithm>
#include <utility>

#include "sim/iteration/sweep.hpp"
#include "sim/lowering/rank_kinds.hpp"
#include "sim/taskgraph/phase_words.hpp"

namespace syncline {

namespace {

std::string name_of(const Task& task, const std::string& operation) {
    return task.phase == Phase::exchange ? operation : word(task.phase);
}

}  // namespace

std::uint64_t largest_size(const CollectivePlan& plan) {
    return std::ranges::max(sizes_of(plan));
}

ExchangeRecording record_exchange(const Cluster& whole, const CollectivePlan& plan, std::uint64_t bytes,
                                  const Watch& watch) {
    CollectivePlan one = plan;
    one.sweep.clear();
    one.bytes = bytes;
    Cluster cluster = whole;
    forget_unused_kinds(cluster, place_ranks(cluster, one.placement, static_cast<std::uint32_t>(one.ranks)));
    const std::vector<Chosen> chosen = choose_exchanges(cluster, one);
    Sweep sweep = build_sweep(cluster, one, chosen);

    ExchangeRecording recording;
    recording.spec = chosen.empty() ? one.algorithm : chosen.front().spec;
    recording.ranks = one.ranks;
    if (sweep.barriers.empty()) return recording;
    ReplayOptions options{.iterations = sweep.rounds, .measured = sweep.rounds - 1, .averaged = sweep.rounds};
    options.messages = true;
    TimelineView& view = recording.view;
    view.timeline = watched_replay(cluster, sweep.graph, options, watch);
    view.window = {view.timeline.recorded.front()[sweep.barriers.front()].end_s,
                   view.timeline.recorded.back()[sweep.barriers.back()].end_s};
    view.iteration = sweep.rounds - 1;
    for (const Task& task : sweep.graph.tasks()) view.names.push_back(name_of(task, recording.spec.operation));
    view.graph = std::move(sweep.graph);
    return recording;
}

}  // namespace syncline
