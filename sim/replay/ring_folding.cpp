#include "sim/replay/ring_folding.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace syncline {

namespace {

/// Returns true if two times of one step, after `at_s` seconds, are equal up to rounding.
bool same(double a_s, double b_s, double at_s) {
    return std::abs(a_s - b_s) <= std::max(1e-9 * std::max(a_s, b_s), 1e-15 * at_s);
}

}  // namespace

class RingFolding::Ring {
public:
    struct Member {
        double last_s = 0;          ///< time at which it was last between two steps
        std::uint32_t untaken = 0;  ///< messages that it had received and not taken then
    };
    /// Times of the end of a step.
    struct Boundary {
        std::uint32_t come = 0;
        double shortest_s = 0, longest_s = 0;  ///< the step
        double first_s = 0, last_s = 0;        ///< its end
        bool alike = true;                     ///< as many messages are untaken as after the step before
    };

    Ring(Key ring_key, std::uint32_t in_iteration, const RingLayout& in_layout)
        : key(ring_key), iteration(in_iteration), layout(in_layout), shape(in_layout.rings[std::get<2>(ring_key)]) {}

    Boundary& boundary(std::uint32_t number) {
        while (number >= passed + boundaries.size()) boundaries.emplace_back();
        return boundaries[number - passed];
    }

    const Key key;
    const std::uint32_t iteration;
    const RingLayout& layout;
    const RingLayout::Ring& shape;
    std::vector<Member> members;
    std::uint32_t left = 0;

    std::deque<Boundary> boundaries;
    std::uint32_t passed = 0;    ///< number of the first of these
    std::uint32_t furthest = 0;  ///< latest step that any member has reached

    std::uint32_t cut = 0;  ///< boundary after which all steps are folded; 0: none
    double step_s = 0;      ///< time of each
    double apart_s = 0;     ///< by which members differ in this time and in the moment of its end
};

bool RingFolding::possible(const TaskGraph& graph) {
    const Task* first = nullptr;
    std::vector<StreamId> stream_of(graph.processes().size(), ~StreamId{0});
    for (const Task& task : graph.tasks()) {
        if (task.exchange == Task::no_exchange) continue;
        if (first == nullptr) first = &task;
        StreamId& stream = stream_of[graph.streams()[task.stream].process];
        if (stream == ~StreamId{0}) stream = task.stream;
        if (stream != task.stream || graph.exchange(task.exchange).group != graph.exchange(first->exchange).group)
            return false;
    }
    return true;
}

RingFolding::RingFolding(const TaskGraph& graph, const Lanes& lanes, const Wires& wires, const Symmetry* symmetry,
                         Simulator& simulator)
    : graph_(graph),
      lanes_(lanes),
      wires_(wires),
      symmetry_(symmetry),
      simulator_(simulator),
      may_pad_(free_of_clocks(graph)) {}

RingFolding::~RingFolding() = default;

RingFolding::Pass RingFolding::begin(LaneId lane, ExchangeId exchange, std::uint32_t iteration) {
    const auto [found, added] = layouts_.try_emplace(exchange);
    std::optional<RingLayout>& layout = found->second;
    const Exchange& of = graph_.exchange(exchange);
    if (added) layout = ring_layout(of, graph_.group(of.group), may_pad_, wires_, symmetry_, lanes_);
    if (!layout) return {exchange, iteration, 0, nullptr};
    std::vector<std::uint32_t>& times = times_[exchange];
    times.resize(lanes_.count(), 0);
    return {exchange, iteration, times[lane]++, &*layout};
}

RingFolding::Visit RingFolding::enter(LaneId lane, const Pass& pass, std::uint32_t number) {
    const Key key{pass.exchange, pass.time, number};
    std::unique_ptr<Ring>& ring = rings_[key];
    if (!ring) ring = std::make_unique<Ring>(key, pass.iteration, *pass.layout);
    ring->members.push_back({simulator_.now_s(), simulator_.untaken(lane)});
    return {ring.get(), static_cast<std::uint32_t>(ring->members.size() - 1)};
}

RingFolding::Skip RingFolding::stepped(const Visit& visit, std::uint32_t steps, std::uint32_t untaken) {
    Ring& ring = *visit.ring;
    Ring::Member& member = ring.members[visit.place];
    const double at_s = simulator_.now_s();
    Ring::Boundary& boundary = ring.boundary(steps);
    const double took_s = at_s - member.last_s;
    boundary.alike = boundary.alike && member.untaken == untaken;
    member = {at_s, untaken};
    if (boundary.come++ == 0) {
        boundary.shortest_s = boundary.longest_s = took_s;
        boundary.first_s = at_s;
    }
    boundary.shortest_s = std::min(boundary.shortest_s, took_s);
    boundary.longest_s = std::max(boundary.longest_s, took_s);
    boundary.last_s = at_s;
    ring.furthest = std::max(ring.furthest, steps);
    if (boundary.come == ring.layout.members) judge(ring, steps);
    if (ring.cut != steps) return {};
    const std::uint32_t folded = ring.shape.steps - steps;
    return {folded, folded * ring.step_s};
}

void RingFolding::judge(Ring& ring, std::uint32_t number) {
    const Ring::Boundary boundary = ring.boundary(number);
    // All members have also passed the boundaries before this one.
    ring.boundaries.erase(ring.boundaries.begin(), ring.boundaries.begin() + (number + 1 - ring.passed));
    ring.passed = number + 1;
    const double at_s = boundary.last_s, step_s = boundary.longest_s;
    const bool in_step = boundary.last_s - boundary.first_s <= std::max(1e-9 * step_s, 1e-15 * at_s);
    if (ring.cut > 0 || !in_step || !boundary.alike || !same(boundary.shortest_s, step_s, at_s)) return;
    // Members fold one after the other, so that without a time in which all of them sleep, the first ones would send
    // for later steps while others still expect messages of folded ones.
    if (step_s <= 0 || ring.furthest + 1 >= ring.shape.steps) return;
    ring.cut = ring.furthest + 1;
    ring.step_s = step_s;
    ring.apart_s = (step_s - boundary.shortest_s) + (at_s - boundary.first_s);
}

void RingFolding::leave(const Visit& visit) {
    Ring& ring = *visit.ring;
    if (++ring.left < ring.layout.members) return;
    if (errors_s_.size() <= ring.iteration) errors_s_.resize(ring.iteration + 1, 0);
    if (ring.layout.padded) errors_s_[ring.iteration] += ring.shape.steps * ring.shape.byte_s;
    if (ring.cut > 0) errors_s_[ring.iteration] += (ring.shape.steps - ring.cut) * ring.apart_s;
    rings_.erase(ring.key);
}

}  // namespace syncline
