#include "sim/replay/symmetry.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace syncline {

namespace {

/// Returns true if the messages of all repetitions have the same sizes.
bool sizes_alike(const Partition& partition, const Message& a, const Message& b) {
    const auto counts = [](const Blocks& one, const Blocks& other) { return one.count == other.count; };
    if (a.count != b.count || !std::equal(a.more.begin(), a.more.end(), b.more.begin(), b.more.end(), counts))
        return false;
    const auto blocks = [](const Blocks& one, const Blocks& other) { return one.block == other.block; };
    return partition.even() || (a.block == b.block && a.shift == b.shift &&
                                std::equal(a.more.begin(), a.more.end(), b.more.begin(), b.more.end(), blocks));
}

/// Returns whether the order of a step's messages to different peers matters, because they leave one after the other.
bool one_by_one(const Transport& transport) {
    return transport.window > 0 || transport.driver_query_s > 0 || transport.staging.unit == Staging::Unit::message ||
           transport.inside.send_overhead_s > 0 || transport.between.send_overhead_s > 0;
}

/// Compares programs of the members of a group, which a rotation permutes.
class ProgramCheck {
public:
    /// `images`: by member, the one to which it is moved. `ordered`: see one_by_one().
    ProgramCheck(std::span<const std::uint32_t> images, bool ordered)
        : images_(images), ordered_(ordered), ends_(images.size() + 1) {
        const auto members = static_cast<std::uint32_t>(images.size());
        for (std::uint32_t i = 0; i < members && cyclic_; ++i) cyclic_ = images[i] == (images.front() + i) % members;
    }

    /// Returns true if the second program is the first one with all peers moved. Peers that turn follow each other in
    /// the order of the members, which only a cyclic permutation keeps.
    bool same(const Program& a, const Program& b) {
        const auto parts = [](const Program& of) {
            return std::tuple{of.partition.bytes, of.partition.blocks, of.partition.filled, of.slice, of.channel};
        };
        return parts(a) == parts(b) && std::ranges::equal(a.steps, b.steps, [&](const Step& one, const Step& other) {
                   return one.reduce == other.reduce && one.adds == other.adds && one.repeat == other.repeat &&
                          one.body == other.body && one.after_lane == other.after_lane &&
                          one.after_steps == other.after_steps && same(a.partition, one.sends, other.sends) &&
                          same(a.partition, one.receives, other.receives);
               });
    }

private:
    bool same(const Partition& partition, const std::vector<Message>& one, const std::vector<Message>& other) {
        const auto alike = [&](const Message& a, const Message& b) {
            return b.peer == images_[a.peer] && a.turn == b.turn && (a.turn == 0 || cyclic_) &&
                   sizes_alike(partition, a, b);
        };
        if (one.size() != other.size()) return false;
        if (std::ranges::equal(one, other, alike)) return true;
        if (ordered_ || one.size() < 2) return false;
        sort(
            one, [this](const Message& message) { return images_[message.peer]; }, sorted_);
        sort(
            other, [](const Message& message) { return message.peer; }, others_);
        return std::ranges::equal(sorted_, others_,
                                  [&](std::uint32_t a, std::uint32_t b) { return alike(one[a], other[b]); });
    }

    /// Sorts the numbers of messages by peer, those with one peer in their order.
    template <class Peer>
    void sort(const std::vector<Message>& messages, Peer peer, std::vector<std::uint32_t>& sorted) {
        std::ranges::fill(ends_, 0);
        for (const Message& message : messages) ++ends_[peer(message) + 1];
        std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
        sorted.resize(messages.size());
        for (std::uint32_t i = 0; i < messages.size(); ++i) sorted[ends_[peer(messages[i])]++] = i;
    }

    const std::span<const std::uint32_t> images_;
    const bool ordered_;
    bool cyclic_ = true;
    std::vector<std::uint32_t> sorted_, others_, ends_;  // scratch
};

}  // namespace

bool rotates_nodes(const std::vector<Place>& places, const Rotation& rotation) {
    std::vector<std::uint32_t> nodes;
    std::map<Place, Place> images;
    for (ProcessId process = 0; process < places.size(); ++process) {
        const Place &from = places[process], &to = places[shifted(process, rotation.span, rotation.period)];
        if (from.on_device() != to.on_device() || from.in_fabric() || to.in_fabric()) return false;
        if (from.node >= nodes.size()) nodes.resize(from.node + std::size_t{1}, no_image);
        if (!learn_image(nodes[from.node], to.node) || images.try_emplace(from, to).first->second != to) return false;
    }
    return true;
}

/// Checks rotations of a graph, or of one of which the processes of these rotations, or of more, are built.
class SymmetryCheck {
public:
    SymmetryCheck(const TaskGraph& graph, const Lanes& lanes, const Wires& wires)
        : graph_(graph),
          lanes_(lanes),
          wires_(wires),
          ordered_(one_by_one(wires.transport())),
          streams_(graph.processes().size()),
          positions_(graph.tasks().size()),
          place_of_(graph.processes().size(), no_image),
          symmetry_({}) {
        for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
            streams_[graph.streams()[stream].process].push_back(stream);
            std::uint32_t position = 0;
            for (const TaskId task : graph.tasks_of(stream)) positions_[task] = position++;
        }
    }

    /// `most_pairs`: number of pairs whose routes are looked at.
    std::optional<Symmetry> find(const Rotations& rotations, bool average, std::size_t most_pairs = all_pairs) {
        symmetry_ = Symmetry(rotations);
        const bool built = graph_.images() > 1;
        // Most rotations that are none fail at the first route. Programs may be long.
        const bool found =
            each_rotation([&] {
                return rotates_nodes(wires_.places(), rotation_) && (built ? moved_groups() : processes(true));
            }) &&
            links(average, most_pairs) && each_rotation([&] { return built ? same_programs() : processes(false); });
        return found ? std::optional(symmetry_) : std::nullopt;
    }

private:
    using Places = std::vector<std::uint32_t>;

    /// Returns true if `check` is true of each rotation.
    template <class Check>
    bool each_rotation(Check check) {
        return std::ranges::all_of(symmetry_.rotations().all(), [&](const Rotation& rotation) {
            rotation_ = rotation;
            images_.assign(graph_.exchanges(), Task::no_exchange);
            return check();
        });
    }

    ProcessId next(ProcessId process) const { return shifted(process, rotation_.span, rotation_.period); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(graph_.processes().size()); }

    /// Returns true if the rotation takes each group of simulated processes to itself, or to one of processes that are
    /// not simulated.
    bool moved_groups() {
        std::unordered_set<GroupId> seen;
        for (ExchangeId id = 0; id < images_.size(); ++id) {
            const Exchange& exchange = graph_.exchange(id);
            if (exchange.algorithm->period() != 1) return false;
            if (!seen.insert(exchange.group).second) continue;
            const std::span<const ProcessId> group = graph_.group(exchange.group);
            if (!closed(group)) return false;
            const Places places = places_after(group, group);
            const bool stays = places.front() != no_image;
            if (!std::ranges::all_of(places, [&](std::uint32_t place) { return (place != no_image) == stays; }))
                return false;
        }
        return true;
    }

    /// Returns true if the rotation takes the programs of the groups that it takes to themselves to the same programs.
    /// Those of the others are those of their images, because the tasks are alike.
    bool same_programs() {
        for (ExchangeId id = 0; id < images_.size(); ++id) {
            const Exchange& exchange = graph_.exchange(id);
            const std::span<const ProcessId> group = graph_.group(exchange.group);
            const Places places = places_after(group, group);
            if (places.front() != no_image && !same_programs(exchange, exchange, places)) return false;
        }
        return true;
    }

    bool processes(bool simulated) {
        for (ProcessId process = 0; process < count(); ++process) {
            if (symmetry_.simulated(process) != simulated) continue;
            const Process &a = graph_.processes()[process], &b = graph_.processes()[next(process)];
            const std::vector<StreamId>&one = streams_[process], &other = streams_[next(process)];
            if (a.pace.varies() || a.pace.slowdown != b.pace.slowdown || one.size() != other.size() ||
                !(a.speed_beside_exchange == b.speed_beside_exchange) ||
                wires_.staging_s(process, 1) != wires_.staging_s(next(process), 1) ||
                !same_task(a.begins_with, b.begins_with))
                return false;
            for (std::size_t i = 0; i < one.size(); ++i)
                if (!same_stream(one[i], other[i])) return false;
        }
        return true;
    }

    bool same_stream(StreamId a, StreamId b) {
        const std::span<const TaskId> one = graph_.tasks_of(a), other = graph_.tasks_of(b);
        if (graph_.streams()[a].kind != graph_.streams()[b].kind || one.size() != other.size()) return false;
        for (std::size_t i = 0; i < one.size(); ++i)
            if (!alike(one[i], other[i])) return false;
        return true;
    }

    bool alike(TaskId a, TaskId b) {
        const Task &one = graph_.tasks()[a], &other = graph_.tasks()[b];
        const std::span<const Dependency> before = graph_.dependencies_of(a), after = graph_.dependencies_of(b);
        const ProcessId process = graph_.streams()[one.stream].process;
        return one.phase == other.phase && one.subject == other.subject && one.seconds == other.seconds &&
               one.priority == other.priority && one.micro_batch == other.micro_batch && one.tick_s == other.tick_s &&
               graph_.varying(a) == graph_.varying(b) && same_member(one, other) &&
               std::equal(before.begin(), before.end(), after.begin(), after.end(),
                          [&](const Dependency& x, const Dependency& y) {
                              return x.distance == y.distance && same_task(x.on, y.on) &&
                                     graph_.streams()[graph_.tasks()[x.on].stream].process == process;
                          });
    }

    /// Returns true if the tasks have the same places in their processes.
    bool same_task(TaskId a, TaskId b) const {
        if (a == no_task || b == no_task) return a == b;
        const StreamId one = graph_.tasks()[a].stream, other = graph_.tasks()[b].stream;
        const std::vector<StreamId>& before = streams_[graph_.streams()[one].process];
        const std::vector<StreamId>& after = streams_[graph_.streams()[other].process];
        const auto place = [](const std::vector<StreamId>& all, StreamId stream) {
            return std::lower_bound(all.begin(), all.end(), stream) - all.begin();
        };
        return next(graph_.streams()[one].process) == graph_.streams()[other].process &&
               positions_[a] == positions_[b] && place(before, one) == place(after, other);
    }

    bool same_member(const Task& a, const Task& b) {
        if (a.exchange == Task::no_exchange || b.exchange == Task::no_exchange) return a.exchange == b.exchange;
        const Exchange &one = graph_.exchange(a.exchange), &other = graph_.exchange(b.exchange);
        if (next(graph_.group(one.group)[a.member]) != graph_.group(other.group)[b.member]) return false;
        ExchangeId& image = images_[a.exchange];
        if (image != Task::no_exchange) return image == b.exchange;
        image = b.exchange;
        return same_exchange(one, other);
    }

    bool same_exchange(const Exchange& a, const Exchange& b) {
        const std::span<const ProcessId> one = graph_.group(a.group), other = graph_.group(b.group);
        if (a.tag != b.tag || a.bytes != b.bytes || a.gamma_s_per_B != b.gamma_s_per_B || a.kind != b.kind ||
            a.buffered != b.buffered || !(a.protocol == b.protocol) || other.size() != one.size() ||
            a.algorithm->period() != 1 || b.algorithm->period() != 1 || a.algorithm->lanes() != b.algorithm->lanes() ||
            a.algorithm->slices() != b.algorithm->slices() || !closed(one) || (a.group == b.group && &a != &b))
            return false;
        const Places places = places_after(one, other);
        return std::ranges::count(places, no_image) == 0 && same_programs(a, b, places);
    }

    /// Returns the places in `other` of the processes to which the rotation takes those of a group; no_image for those
    /// that are not there.
    Places places_after(std::span<const ProcessId> group, std::span<const ProcessId> other) {
        for (std::uint32_t i = 0; i < other.size(); ++i) place_of_[other[i]] = i;
        Places places;
        for (const ProcessId process : group) places.push_back(place_of_[next(process)]);
        for (const ProcessId process : other) place_of_[process] = no_image;
        return places;
    }

    bool same_programs(const Exchange& a, const Exchange& b, const Places& places) {
        const auto members = static_cast<std::uint32_t>(places.size());
        bool moves = false;
        for (std::uint32_t i = 0; i < members && !moves; ++i) moves = places[i] != i;
        if (!moves && a.algorithm == b.algorithm) return true;
        const auto [known, added] =
            compared_.try_emplace({a.algorithm.get(), b.algorithm.get(), a.bytes, places}, false);
        if (!added) return known->second;
        ProgramCheck check(places, ordered_);
        for (std::uint32_t lane = 0; lane < a.algorithm->lanes(); ++lane)
            for (std::uint32_t i = 0; i < members; ++i)
                if (!check.same(a.algorithm->lane_program(lane, i, members, a.bytes, 0),
                                b.algorithm->lane_program(lane, places[i], members, b.bytes, 0)))
                    return false;
        return known->second = true;
    }

    /// Returns true if a group with simulated members has the representatives of all its members, so that those who
    /// wait for each other's messages are in one exchange.
    bool closed(std::span<const ProcessId> group) const {
        const auto simulated = [&](ProcessId process) { return symmetry_.simulated(process); };
        if (std::none_of(group.begin(), group.end(), simulated)) return true;
        const std::unordered_set<ProcessId> members(group.begin(), group.end());
        return std::all_of(group.begin(), group.end(),
                           [&](ProcessId process) { return members.contains(symmetry_.representative(process)); });
    }

    /// Finds the images of the links of all routes, or of those of so many pairs.
    bool links(bool average, std::size_t most_pairs) {
        PairSet pairs;
        std::set<std::tuple<const CollectiveAlgorithm*, GroupId, std::uint32_t, std::uint64_t>> seen;
        for (const Task& task : graph_.tasks()) {
            if (task.exchange == Task::no_exchange) continue;
            const Exchange& exchange = graph_.exchange(task.exchange);
            if (seen.insert({exchange.algorithm.get(), exchange.group, exchange.tag, exchange.bytes}).second)
                add_pairs(exchange, pairs);
        }
        if (pairs.size() > most_pairs) pairs = some_of(pairs, most_pairs);
        std::optional<LinkImages> images = find_link_images(wires_, pairs, symmetry_.rotations(), average);
        if (images) symmetry_.links_ = std::move(*images);
        return images.has_value();
    }

    static PairSet some_of(const PairSet& pairs, std::size_t count) {
        PairSet some;
        std::size_t number = 0;
        for (const Pair& pair : pairs)
            if (number++ * count / pairs.size() == some.size()) some.insert(pair);
        return some;
    }

    /// Adds the pairs whose senders are simulated: members, and those of images of the group that are not built.
    void add_pairs(const Exchange& exchange, PairSet& pairs) {
        const std::span<const ProcessId> group = graph_.group(exchange.group);
        const Rotations& built = graph_.rotations();
        for (std::uint32_t i = 0; i < group.size(); ++i) place_of_[group[i]] = i;
        for (std::uint32_t member = 0; member < group.size(); ++member) {
            std::vector<std::uint32_t> images;  // numbers
            if (symmetry_.simulated(group[member])) images.push_back(0);
            if (graph_.images() > 1 && graph_.built(group[member]))
                for (std::uint32_t number = 1; number < built.images(); ++number)
                    if (const ProcessId image = built.image(group[member], number);
                        symmetry_.simulated(image) && place_of_[image] == no_image)
                        images.push_back(number);
            if (!images.empty()) add_pairs(exchange, member, images, pairs);
        }
        for (const ProcessId process : group) place_of_[process] = no_image;
    }

    /// Adds those of these images of a member.
    void add_pairs(const Exchange& exchange, std::uint32_t member, const std::vector<std::uint32_t>& images,
                   PairSet& pairs) const {
        const std::span<const ProcessId> group = graph_.group(exchange.group);
        const auto members = static_cast<std::uint32_t>(group.size());
        const Rotations& built = graph_.rotations();
        for (std::uint32_t lane = 0; lane < exchange.algorithm->lanes(); ++lane) {
            const Program program = exchange.algorithm->lane_program(lane, member, members, exchange.bytes, 0);
            const std::uint32_t channel = wires_.routes_by_channel() ? lanes_.channel(exchange, program) : 0;
            for (const Step& step : program.steps)
                for (const Message& message : step.sends)
                    for (std::uint32_t i = 0; i < (message.turn == 0 ? 1 : step.repeat); ++i)
                        for (const std::uint32_t number : images)
                            pairs.insert({channel, built.image(group[member], number),
                                          built.image(group[peer_of(message, i, members)], number)});
        }
    }

    const TaskGraph& graph_;
    const Lanes& lanes_;
    const Wires& wires_;
    const bool ordered_;                          // see one_by_one()
    std::vector<std::vector<StreamId>> streams_;  // by process
    std::vector<std::uint32_t> positions_;        // by task: in its stream
    Places place_of_;                             // by process: scratch of places_after()
    Symmetry symmetry_;
    Rotation rotation_;               // the one that is looked at
    std::vector<ExchangeId> images_;  // by exchange: under it
    std::map<std::tuple<const CollectiveAlgorithm*, const CollectiveAlgorithm*, std::uint64_t, Places>, bool> compared_;
};

namespace {

/// Returns whether nothing but tasks and links tells processes apart.
bool may_be_alike(const TaskGraph& graph, const Wires& wires) {
    const std::vector<std::uint32_t>& spans = graph.spans();
    return !spans.empty() && graph.processes().size() % spans.front() == 0 && graph.queues().empty() &&
           graph.turns() == 0 && !graph.waits_for_first() && !graph.gives_up() && !graph.lateness().varies() &&
           wires.streams_wait() && wires.native() == nullptr && wires.fixed_ways();
}

/// Adds rotations, one inside the other, the largest span first, each with the smallest period that `works`: a multiple
/// of that in `candidates`, which have one rotation for each span.
template <class Works>
Rotations smallest(const std::vector<Rotation>& candidates, Works works) {
    Rotations found;
    for (const Rotation& rotation : candidates) {
        if (!found.admits(rotation.span)) continue;
        for (std::uint32_t period = rotation.period; period < rotation.span; period += rotation.period) {
            if (rotation.span % period != 0 || !works(found.with({rotation.span, period}))) continue;
            found = found.with({rotation.span, period});
            break;
        }
    }
    return found;
}

}  // namespace

Rotations rotations_of(const TaskGraph& graph, const std::vector<Rotation>& alike, const Lanes& lanes,
                       const Wires& wires, bool average, std::size_t most_pairs) {
    if (!may_be_alike(graph, wires)) return {};
    SymmetryCheck check(graph, lanes, wires);
    return smallest(alike, [&](const Rotations& rotations) {
        return check.find(rotations, false, most_pairs) || (average && check.find(rotations, true, most_pairs));
    });
}

std::optional<Symmetry> find_symmetry(const TaskGraph& graph, const Lanes& lanes, const Wires& wires, bool average) {
    if (!may_be_alike(graph, wires)) return std::nullopt;
    SymmetryCheck check(graph, lanes, wires);
    if (graph.images() > 1) {
        std::optional<Symmetry> found = check.find(graph.rotations(), false);
        return found || !average ? found : check.find(graph.rotations(), true);
    }
    std::optional<Symmetry> found;
    std::vector<Rotation> any;
    for (const std::uint32_t span : graph.spans()) any.push_back({span, 1});
    smallest(any, [&](const Rotations& rotations) {
        std::optional<Symmetry> more = check.find(rotations, false);
        const bool works = more.has_value();
        if (works) found = std::move(more);
        return works;
    });
    return found;
}

}  // namespace syncline
