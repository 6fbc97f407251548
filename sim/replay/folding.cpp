#include "sim/replay/folding.hpp"

#include <algorithm>
#include <cmath>

namespace syncline {

namespace {

/// Returns true if two times of one step, after `at_s` seconds, are equal up to rounding.
bool same(double a_s, double b_s, double at_s) {
    return std::abs(a_s - b_s) <= std::max(1e-9 * std::max(a_s, b_s), 1e-15 * at_s);
}

/// Returns true if no two exchanges can be in flight at the same time: all are of one group, on one stream per process.
bool one_at_a_time(const TaskGraph& graph) {
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

/// Returns true if the end of an exchange decides nothing, such as the next exchange or the tick of a release.
bool decides_nothing(const TaskGraph& graph) {
    return graph.queues().empty() &&
           std::none_of(graph.tasks().begin(), graph.tasks().end(), [](const Task& task) { return task.tick_s > 0; });
}

}  // namespace

class Folding::Ring {
public:
    struct Member {
        LaneId lane = 0;
        const RingSection* section = nullptr;
        double last_s = 0;          ///< time at which it was last between two steps, or will be after the folded ones
        std::uint32_t untaken = 0;  ///< messages that it had received and not taken then
    };
    /// Times of the end of a step.
    struct Boundary {
        std::uint32_t come = 0;
        double shortest_s = 0, longest_s = 0;  ///< the step
        double first_s = 0, last_s = 0;        ///< its end
        bool alike = true;                     ///< as many messages are untaken as after the step before
    };

    Ring(Key ring_key, std::uint32_t in_iteration, const FoldedRing& ring_shape)
        : key(ring_key), iteration(in_iteration), shape(ring_shape) {}

    Boundary& boundary(std::uint32_t number) {
        while (number >= passed + boundaries.size()) boundaries.emplace_back();
        return boundaries[number - passed];
    }

    /// Returns true if members wait for others to arrive, and would otherwise begin while others do something else.
    bool waits() const { return shape.gathers && !shape.alike && members.size() < shape.members; }

    const Key key;
    const std::uint32_t iteration;
    const FoldedRing& shape;
    std::vector<Member> members;
    std::uint32_t left = 0;

    std::deque<Boundary> boundaries;
    std::uint32_t passed = 0;    ///< number of the first of these
    std::uint32_t furthest = 0;  ///< latest step that any member has reached
    std::uint32_t equal = 0;     ///< consecutive steps of equal time, up to the last one that all have ended
    double step_s = 0;           ///< and that time

    std::uint32_t cut = 0;     ///< boundary at which steps are folded; 0: none
    std::uint32_t folded = 0;  ///< number of folded steps
    double folded_step_s = 0;  ///< and the time of each
    std::uint32_t began = 0;   ///< members that have reached the cut
    bool in_step = true;       ///< all members were at the same point whenever steps were folded
    bool anything = false;     ///< true if any step was folded
};

Folding::Folding(const TaskGraph& graph, const Lanes& lanes, Wires& wires, const Symmetry* symmetry,
                 const std::vector<std::uint32_t>& unfolded, Simulator& simulator)
    : graph_(graph),
      lanes_(lanes),
      wires_(wires),
      symmetry_(symmetry),
      unfolded_(unfolded),
      simulator_(simulator),
      around_{one_at_a_time(graph), decides_nothing(graph)},
      users_(wires.resources(), 0),
      changed_s_(wires.resources(), 0),
      own_(wires.resources(), 0),
      folded_(wires.resources(), nullptr) {}

Folding::~Folding() = default;

const FoldLayout& Folding::layout(ExchangeId exchange, std::uint32_t iteration) {
    const Exchange& of = graph_.exchange(exchange);
    const std::uint32_t round = iteration % of.algorithm->period();
    std::unique_ptr<FoldLayout>& found = layouts_[{of.algorithm.get(), of.group, of.channel, of.bytes, round}];
    if (!found)
        found = std::make_unique<FoldLayout>(
            fold_layout(of, graph_.group(of.group), iteration, around_, wires_, symmetry_, lanes_));
    return *found;
}

bool Folding::folds(ExchangeId exchange) const {
    return std::find(unfolded_.begin(), unfolded_.end(), graph_.exchange(exchange).channel) == unfolded_.end();
}

Folding::Pass Folding::begin(ExchangeId exchange, std::uint32_t place, std::uint32_t iteration) {
    if (times_.size() <= exchange) times_.resize(exchange + 1);
    std::vector<std::uint32_t>& times = times_[exchange];
    const FoldLayout& parts = layout(exchange, iteration);
    times.resize(parts.sections.size(), 0);
    return {exchange, iteration, times[place]++, &parts.sections[place]};
}

void Folding::use(const RingSection& section, const Ring* by) {
    for (const std::uint32_t resource : section.uses) {
        ++users_[resource];
        changed_s_[resource] = simulator_.now_s();
        if (folded_[resource] != nullptr && folded_[resource] != by) disturb(*folded_[resource]);
    }
    if (!section.uses_all) return;
    ++users_of_all_;
    all_changed_s_ = simulator_.now_s();
    for (const auto& [key, ring] : rings_)
        if (ring.get() != by && (ring->cut > 0 || ring->waits())) disturb(*ring);
}

Coroutine<Folding::Visit> Folding::enter(LaneId lane, const Pass& pass, const RingSection& section) {
    if (section.ring == RingSection::no_ring || !folds(pass.exchange)) {
        use(section, nullptr);
        co_return Visit{&section, nullptr, 0, false};
    }
    const Key key{pass.exchange, pass.time, section.ring};
    const FoldedRing& shape = layout(pass.exchange, pass.iteration).rings[section.ring];
    std::unique_ptr<Ring>& found = rings_[key];
    if (!found) found = std::make_unique<Ring>(key, pass.iteration, shape);
    Ring& ring = *found;
    const bool watched = shape.gathers && !shape.alike && ring.members.size() + 1 < shape.members;
    if (watched && (users_of_all_ > 0 || std::any_of(section.uses.begin(), section.uses.end(),
                                                     [&](std::uint32_t resource) { return users_[resource] > 0; })))
        give_up(ring);
    use(section, &ring);
    if (watched)
        for (const std::uint32_t resource : section.uses) folded_[resource] = &ring;
    const auto place = static_cast<std::uint32_t>(ring.members.size());
    ring.members.push_back({lane, &section, simulator_.now_s(), simulator_.untaken(lane)});
    if (!shape.gathers) co_return Visit{&section, &ring, place, shape.padded};
    if (ring.members.size() < shape.members) {
        while (ring.members.size() < shape.members) co_await simulator_.park(lane);
    } else {
        let_go(ring);
        // Waking a member lets others run, which may finish the ring.
        std::vector<LaneId> others;
        if (shape.delays) add_error(ring, simulator_.now_s() - ring.members.front().last_s);
        for (Ring::Member& member : ring.members) {
            member.last_s = simulator_.now_s();
            if (member.lane != lane) others.push_back(member.lane);
        }
        for (const LaneId other : others) simulator_.unpark(other);
    }
    co_return Visit{&section, &ring, place, shape.padded};
}

Folding::Skip Folding::stepped(const Visit& visit, std::uint32_t steps, std::uint32_t untaken) {
    Ring& ring = *visit.ring;
    Ring::Member& member = ring.members[visit.place];  // judge() moves no member
    const double at_s = simulator_.now_s();
    Ring::Boundary& boundary = ring.boundary(steps);
    const double took_s = at_s - member.last_s;
    member.last_s = at_s;
    boundary.alike = boundary.alike && member.untaken == untaken;
    member.untaken = untaken;
    if (boundary.come++ == 0) {
        boundary.shortest_s = boundary.longest_s = took_s;
        boundary.first_s = at_s;
    }
    boundary.shortest_s = std::min(boundary.shortest_s, took_s);
    boundary.longest_s = std::max(boundary.longest_s, took_s);
    boundary.last_s = at_s;
    ring.furthest = std::max(ring.furthest, steps);
    if (boundary.come == ring.shape.members) judge(ring, steps);
    if (ring.cut != steps) return {};
    ++ring.began;
    const double seconds = ring.folded * ring.folded_step_s;
    member.last_s = at_s + seconds;
    return {ring.folded, seconds};
}

void Folding::judge(Ring& ring, std::uint32_t number) {
    const Ring::Boundary boundary = ring.boundary(number);
    // All members have also passed the boundaries before this one.
    const std::uint32_t gone = number + 1 - ring.passed;
    ring.boundaries.erase(ring.boundaries.begin(), ring.boundaries.begin() + gone);
    ring.passed = number + 1;

    const double at_s = boundary.last_s;
    if (!boundary.alike || !same(boundary.shortest_s, boundary.longest_s, at_s)) {
        ring.equal = 0;
        return;
    }
    ring.equal = ring.equal > 0 && same(ring.step_s, boundary.longest_s, at_s) ? ring.equal + 1 : 1;
    ring.step_s = boundary.longest_s;
    const double spread_s = boundary.last_s - boundary.first_s;
    const bool in_step = spread_s <= std::max(1e-9 * ring.step_s, 1e-15 * at_s);
    if (!in_step && (ring.step_s <= 0 || ring.equal < spread_s / ring.step_s + 2)) return;
    // If members at different steps share links, awake ones would get a larger share of them while others sleep.
    if (!in_step && !ring.shape.lone) return;
    const auto ahead = in_step ? 0 : static_cast<std::uint32_t>(spread_s / ring.step_s) + 1;
    const bool decided = number <= ring.cut;
    const double since_s = boundary.first_s - (ahead + 1) * ring.step_s;
    // Members fold one after the other, so that without a time in which all of them sleep, the first ones would send
    // for later steps while others still expect messages of folded ones.
    if (ring.step_s <= 0 && wires_.latency_travels()) return;
    if (decided || ring.furthest + 1 + ahead >= ring.shape.steps || !alone(ring, since_s + 1e-9 * ring.step_s)) return;

    ring.cut = ring.furthest + 1;
    ring.folded_step_s = ring.step_s;
    ring.folded = ring.shape.steps - ring.cut - ahead;
    ring.began = 0;
    ring.anything = true;
    ring.in_step = ring.in_step && in_step;
    for (const Ring::Member& member : ring.members)
        for (const std::uint32_t resource : member.section->uses) folded_[resource] = &ring;
}

bool Folding::alone(const Ring& ring, double since_s) {
    const auto for_each_link = [&](auto&& act) {
        for (const Ring::Member& member : ring.members)
            for (const std::uint32_t link : member.section->uses) act(link);
    };
    for_each_link([&](std::uint32_t link) { ++own_[link]; });
    bool result = users_of_all_ == 0 && all_changed_s_ <= since_s;
    for_each_link(
        [&](std::uint32_t link) { result = result && own_[link] == users_[link] && changed_s_[link] <= since_s; });
    for_each_link([&](std::uint32_t link) { own_[link] = 0; });
    return result;
}

void Folding::disturb(Ring& ring) {
    let_go(ring);
    if (ring.waits()) return give_up(ring);
    if (ring.began == 0) {  // no member has reached it
        ring.cut = 0;
        return;
    }
    // Members that wake at this moment have completed the folded steps.
    const auto asleep = [&](const Ring::Member& member) {
        return member.last_s - simulator_.now_s() > 1e-6 * ring.folded_step_s;
    };
    if (ring.began == ring.shape.members && std::none_of(ring.members.begin(), ring.members.end(), asleep)) return;
    give_up(ring);
}

void Folding::give_up(const Ring& ring) {
    const std::uint32_t channel = graph_.exchange(std::get<0>(ring.key)).channel;
    simulator_.at_end_of_instant([channel] { throw Disturbed{channel}; });
}

void Folding::let_go(const Ring& ring) {
    for (const Ring::Member& member : ring.members)
        for (const std::uint32_t link : member.section->uses)
            if (folded_[link] == &ring) folded_[link] = nullptr;
}

void Folding::leave(const Visit& visit) {
    for (const std::uint32_t resource : visit.section->uses) {
        --users_[resource];
        changed_s_[resource] = simulator_.now_s();
    }
    if (visit.section->uses_all) {
        --users_of_all_;
        all_changed_s_ = simulator_.now_s();
    }
    Ring* ring = visit.ring;
    if (ring == nullptr || ++ring->left < ring->shape.members) return;
    let_go(*ring);
    const FoldedRing& shape = ring->shape;
    if (shape.padded && !(shape.uniform && !shape.overtakes && shape.keeps_largest && ring->anything && ring->in_step))
        add_error(*ring, shape.steps * shape.byte_s);
    rings_.erase(ring->key);
}

void Folding::add_error(const Ring& ring, double seconds) {
    if (errors_s_.size() <= ring.iteration) errors_s_.resize(ring.iteration + 1, 0);
    errors_s_[ring.iteration] += seconds;
}

}  // namespace syncline
