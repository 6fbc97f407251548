#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/output/cells.hpp"
#include "sim/report/parts.hpp"
#include "sim/taskgraph/phase_words.hpp"

namespace syncline {

namespace {

/// Kinds of bars with a colour each, in the same order as in the page's scripts.
enum Kind : std::uint32_t {
    forward,
    backward,
    update,
    copy,
    gradients,
    activations,
    transfer,
    weights,
    waiting,
    reduction,
    core,
    computation,
    communication
};

Kind kind_of(Phase phase) {
    switch (phase) {
        case Phase::forward:
        case Phase::recompute:
            return forward;
        case Phase::backward:
            return backward;
        case Phase::optimizer:
        case Phase::update:
            return update;
        case Phase::aggregate:
        case Phase::encode:
        case Phase::factor:
        case Phase::decode:
            return reduction;
        case Phase::input_copy:
        case Phase::to_host:
        case Phase::to_device:
        case Phase::load:
            return copy;
        case Phase::exchange:
        case Phase::push:
        case Phase::pull:
            return gradients;
        case Phase::activations:
        case Phase::halo:
            return activations;
        case Phase::context:
        case Phase::dispatch:
        case Phase::combine:
            return core;
        case Phase::transfer:
            return transfer;
        case Phase::kernel:
            return computation;
        case Phase::communication:
            return communication;
        case Phase::weights:
            return weights;
        case Phase::release:
        case Phase::barrier:
            return waiting;
    }
    return waiting;
}

struct Bar {
    Kind kind;
    double start_s, end_s;
    TaskId first, last;
    std::uint32_t tasks = 1;
};

using Lane = std::pair<ProcessId, StreamKind>;
using Lanes = std::map<Lane, std::vector<Bar>>;

/// Returns the bars of the chosen processes inside the window, relative to its start. Receives wait from early on, and
/// what they wait for is in the sender's lane: they have no bars.
Lanes bars_in_window(const TimelineView& view, const std::set<ProcessId>& chosen) {
    Lanes lanes;
    const double length = view.window.end_s - view.window.start_s;
    for (StreamId stream = 0; stream < view.graph.streams().size(); ++stream) {
        const Stream& of = view.graph.streams()[stream];
        if (!chosen.contains(of.process) || of.kind == StreamKind::receive) continue;
        for (const std::vector<Interval>& iteration : view.timeline.recorded) {
            for (const TaskId task : view.graph.tasks_of(stream)) {
                if (task >= iteration.size()) continue;
                const double start = std::max(0.0, iteration[task].start_s - view.window.start_s);
                const double end = std::min(length, iteration[task].end_s - view.window.start_s);
                if (end <= start) continue;
                lanes[{of.process, of.kind}].push_back(
                    {kind_of(view.graph.tasks()[task].phase), start, end, task, task});
            }
        }
    }
    for (auto& [lane, bars] : lanes)
        std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.start_s < b.start_s; });
    return lanes;
}

/// Joins neighbours of the same kind that are at most `resolution_s` apart and of which one is shorter than that.
std::vector<Bar> joined(const std::vector<Bar>& bars, double resolution_s) {
    std::vector<Bar> result;
    for (const Bar& bar : bars) {
        Bar* const last = result.empty() ? nullptr : &result.back();
        const bool close = last != nullptr && last->kind == bar.kind && bar.start_s - last->end_s <= resolution_s &&
                           (bar.end_s - bar.start_s < resolution_s || last->end_s - last->start_s < resolution_s);
        if (!close) {
            result.push_back(bar);
            continue;
        }
        last->end_s = std::max(last->end_s, bar.end_s);
        last->last = bar.last;
        last->tasks += bar.tasks;
    }
    return result;
}

/// Joins bars, doubling the resolution until at most `most` bars remain or none can be joined. Returns the resolution.
double join_all(Lanes& lanes, double window_s, std::size_t most) {
    double resolution_s = window_s / 20'000;
    for (bool first = true;; first = false, resolution_s *= 2) {
        std::size_t count = 0;
        for (auto& [lane, bars] : lanes) {
            if (!first || bars.size() > 1) bars = joined(bars, resolution_s);
            count += bars.size();
        }
        if (count <= most || resolution_s > window_s) return resolution_s;
    }
}

/// Numbers names, each of them once.
class NameTable {
public:
    std::size_t of(const std::string& name) {
        const auto [found, added] = numbers_.emplace(name, names_.size());
        if (added) names_.push_back(name);
        return found->second;
    }
    Json list() const { return names_; }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::string> names_;
};

std::string name_of(const TimelineView& view, const Bar& bar) {
    const auto named = [&](TaskId task) { return task < view.names.size() ? view.names[task] : std::string("task"); };
    const std::string first = named(bar.first), last = named(bar.last);
    return first == last ? first : first + " \u2026 " + last;
}

}  // namespace

std::string process_name(const TaskGraph& graph, ProcessId process, std::int64_t ranks) {
    if (process < ranks) return fmt::format("rank {}", process);
    const Place& place = graph.processes()[process].place;
    const bool server = place.on_device() || place.device == Place::host;
    return fmt::format("{} {}", server ? "server" : "switch", process - ranks);
}

std::vector<std::uint32_t> picked(std::uint32_t all, std::size_t count, std::uint32_t wanted) {
    std::vector<std::uint32_t> chosen;
    if (all <= count) count = all;
    for (std::size_t i = 0; i < count; ++i)
        chosen.push_back(count > 1 ? static_cast<std::uint32_t>(i * (all - 1) / (count - 1)) : wanted);
    if (count < 2 || wanted >= all || std::find(chosen.begin(), chosen.end(), wanted) != chosen.end()) return chosen;
    // `wanted` replaces the number before it, but never the first one.
    const auto after = std::upper_bound(chosen.begin() + 2, chosen.end(), wanted);
    *(after - 1) = wanted;
    return chosen;
}

Json page_timeline(const TimelineView& view, std::int64_t ranks, std::uint32_t last_rank, const PageLimits& limits) {
    const double window_s = view.window.end_s - view.window.start_s;
    if (window_s <= 0 || view.timeline.recorded.empty()) return nullptr;
    const auto processes = static_cast<std::uint32_t>(view.graph.processes().size());
    const auto workers = static_cast<std::uint32_t>(std::min<std::int64_t>(ranks, processes));
    const std::size_t room = processes > limits.processes ? limits.processes : processes;
    const std::size_t for_servers = std::min<std::size_t>(
        processes - workers, std::max<std::size_t>(room / 4, room - std::min<std::size_t>(room, workers)));
    std::vector<ProcessId> drawable;  // ranks with streams
    for (ProcessId rank = 0; rank < workers; ++rank)
        if (view.graph.built(rank)) drawable.push_back(rank);
    const auto last = static_cast<std::uint32_t>(std::ranges::find(drawable, last_rank) - drawable.begin());
    std::set<ProcessId> chosen;
    for (const std::uint32_t one : picked(static_cast<std::uint32_t>(drawable.size()), room - for_servers, last))
        chosen.insert(drawable[one]);
    for (const std::uint32_t server : picked(processes - workers, for_servers, 0)) chosen.insert(workers + server);

    Lanes lanes = bars_in_window(view, chosen);
    const double resolution_s = join_all(lanes, window_s, limits.bars);
    constexpr double ticks = 1e6;
    const double tick_s = window_s / ticks;
    NameTable names;
    Json drawn = Json::array();
    bool any_joined = false;
    for (const auto& [lane, bars] : lanes) {
        Json flat = Json::array();
        for (const Bar& bar : bars) {
            any_joined = any_joined || bar.tasks > 1;
            for (const double value :
                 {static_cast<double>(bar.kind), std::round(bar.start_s / tick_s), std::round(bar.end_s / tick_s),
                  static_cast<double>(names.of(name_of(view, bar))), static_cast<double>(bar.tasks)})
                flat.push_back(static_cast<std::int64_t>(value));
        }
        drawn.push_back({{"process", process_name(view.graph, lane.first, ranks)},
                         {"stream", word(lane.second)},
                         {"bars", std::move(flat)}});
    }
    Json notes = Json::array();
    if (chosen.size() < processes)
        notes.push_back(
            fmt::format("{} of {} processes are drawn, evenly spaced and including rank {}, which finishes last.{}",
                        chosen.size(), processes, last_rank,
                        view.graph.images() == 1
                            ? ""
                            : fmt::format(" Each of them stands for {} that do the same.", view.graph.images())));
    if (any_joined)
        notes.push_back(
            fmt::format("Tasks of the same kind that are shorter than {} and no farther apart are drawn as one bar.",
                        text::seconds(resolution_s)));
    return {{"window_s", window_s},
            {"tick_s", tick_s},
            {"names", names.list()},
            {"lanes", std::move(drawn)},
            {"notes", std::move(notes)}};
}

}  // namespace syncline
