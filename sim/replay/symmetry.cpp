#include "sim/replay/symmetry.hpp"

#include <algorithm>
#include <map>
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

/// Returns true if the second program is the first one with all peers moved by `turn` places among `members`.
bool same_program(const Program& a, const Program& b, std::uint32_t turn, std::uint32_t members) {
    const auto parts = [](const Program& of) {
        return std::tuple{of.partition.bytes, of.partition.blocks, of.partition.filled, of.slice, of.channel};
    };
    const auto messages = [&](const Message& one, const Message& other) {
        return other.peer == (one.peer + turn) % members && one.turn == other.turn &&
               sizes_alike(a.partition, one, other);
    };
    return parts(a) == parts(b) &&
           std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                      [&](const Step& one, const Step& other) {
                          return one.reduce == other.reduce && one.adds == other.adds && one.repeat == other.repeat &&
                                 one.body == other.body && one.after_lane == other.after_lane &&
                                 one.after_steps == other.after_steps &&
                                 std::equal(one.sends.begin(), one.sends.end(), other.sends.begin(), other.sends.end(),
                                            messages) &&
                                 std::equal(one.receives.begin(), one.receives.end(), other.receives.begin(),
                                            other.receives.end(), messages);
                      });
}

}  // namespace

bool rotates_nodes(const std::vector<Place>& places, const Rotation& rotation) {
    std::map<std::uint32_t, std::uint32_t> nodes;
    std::map<Place, Place> images;
    for (ProcessId process = 0; process < places.size(); ++process) {
        const Place &from = places[process], &to = places[shifted(process, rotation.span, rotation.period)];
        if (from.on_device() != to.on_device() || from.in_fabric() || to.in_fabric() ||
            nodes.try_emplace(from.node, to.node).first->second != to.node ||
            images.try_emplace(from, to).first->second != to)
            return false;
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
          streams_(graph.processes().size()),
          positions_(graph.tasks().size()),
          symmetry_({}) {
        for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
            streams_[graph.streams()[stream].process].push_back(stream);
            std::uint32_t position = 0;
            for (const TaskId task : graph.tasks_of(stream)) positions_[task] = position++;
        }
    }

    std::optional<Symmetry> find(const Rotations& rotations, bool average) {
        symmetry_ = Symmetry(rotations);
        const bool built = graph_.images() > 1;
        // What is simulated comes first: most rotations that are none fail there.
        const bool found =
            each_rotation([&] {
                return rotates_nodes(wires_.places(), rotation_) && (built ? shifted_exchanges() : processes(true));
            }) &&
            links(average) && (built || each_rotation([&] { return processes(false); }));
        return found ? std::optional(symmetry_) : std::nullopt;
    }

private:
    /// The exchange to which the rotation takes an exchange, and the places by which it moves members.
    struct Image {
        ExchangeId exchange = Task::no_exchange;
        std::uint32_t turn = 0;
    };

    /// Returns true if `check` is true of each rotation.
    template <class Check>
    bool each_rotation(Check check) {
        return std::ranges::all_of(symmetry_.rotations().all(), [&](const Rotation& rotation) {
            rotation_ = rotation;
            images_.assign(graph_.exchanges(), {});
            return check();
        });
    }

    ProcessId next(ProcessId process) const { return shifted(process, rotation_.span, rotation_.period); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(graph_.processes().size()); }

    /// Returns true if the rotation takes each exchange of simulated processes to itself, turned, or to one of
    /// processes that are not simulated, which has the same programs, because the tasks are alike.
    bool shifted_exchanges() {
        for (ExchangeId id = 0; id < images_.size(); ++id) {
            const Exchange& exchange = graph_.exchange(id);
            const std::span<const ProcessId> group = graph_.group(exchange.group);
            if (exchange.algorithm->period() != 1 || !closed(group)) return false;
            const auto at = std::find(group.begin(), group.end(), next(group.front()));
            if (at != group.end()) {
                if (!same_exchange(exchange, exchange, static_cast<std::uint32_t>(at - group.begin()))) return false;
                continue;
            }
            const std::unordered_set<ProcessId> members(group.begin(), group.end());
            if (std::ranges::any_of(group, [&](ProcessId member) { return members.contains(next(member)); }))
                return false;
        }
        return true;
    }

    bool processes(bool simulated) {
        for (ProcessId process = 0; process < count(); ++process) {
            if (symmetry_.simulated(process) != simulated) continue;
            const Process &a = graph_.processes()[process], &b = graph_.processes()[next(process)];
            const std::vector<StreamId>&one = streams_[process], &other = streams_[next(process)];
            if (a.pace.varies() || a.pace.slowdown != b.pace.slowdown || one.size() != other.size() ||
                !(a.speed_beside_exchange == b.speed_beside_exchange) || !same_task(a.begins_with, b.begins_with))
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
               same_member(one, other) &&
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
        const auto members = static_cast<std::uint32_t>(graph_.group(graph_.exchange(a.exchange).group).size());
        const std::uint32_t turn = (b.member + members - a.member) % members;
        Image& image = images_[a.exchange];
        if (image.exchange == Task::no_exchange) {
            image = {b.exchange, turn};
            return same_exchange(graph_.exchange(a.exchange), graph_.exchange(b.exchange), turn);
        }
        return image.exchange == b.exchange && image.turn == turn;
    }

    bool same_exchange(const Exchange& a, const Exchange& b, std::uint32_t turn) {
        const std::span<const ProcessId> one = graph_.group(a.group), other = graph_.group(b.group);
        const auto members = static_cast<std::uint32_t>(one.size());
        if (a.tag != b.tag || a.bytes != b.bytes || a.gamma_s_per_B != b.gamma_s_per_B || a.kind != b.kind ||
            !(a.protocol == b.protocol) || other.size() != members || a.algorithm->period() != 1 ||
            b.algorithm->period() != 1 || a.algorithm->lanes() != b.algorithm->lanes() ||
            a.algorithm->slices() != b.algorithm->slices())
            return false;
        for (std::uint32_t i = 0; i < members; ++i)
            if (next(one[i]) != other[(i + turn) % members]) return false;
        if (!closed(one)) return false;
        if (a.group == b.group && &a != &b) return false;
        if (turn == 0 && a.algorithm == b.algorithm) return true;
        if (!compared_.insert({a.algorithm.get(), b.algorithm.get(), a.bytes, members, turn}).second) return true;
        for (std::uint32_t lane = 0; lane < a.algorithm->lanes(); ++lane)
            for (std::uint32_t i = 0; i < members; ++i)
                if (!same_program(a.algorithm->lane_program(lane, i, members, a.bytes, 0),
                                  b.algorithm->lane_program(lane, (i + turn) % members, members, b.bytes, 0), turn,
                                  members))
                    return false;
        return true;
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

    /// Finds the images of the links of all routes.
    bool links(bool average) {
        PairSet pairs;
        std::set<std::tuple<ExchangeId, std::uint32_t>> seen;
        for (ProcessId process = 0; process < count(); ++process) {
            if (!symmetry_.simulated(process)) continue;
            for (const StreamId stream : streams_[process])
                for (const TaskId id : graph_.tasks_of(stream)) {
                    const Task& task = graph_.tasks()[id];
                    if (task.exchange != Task::no_exchange && seen.insert({task.exchange, task.member}).second)
                        add_pairs(process, task, pairs);
                }
        }
        if (graph_.images() > symmetry_.images()) add_images(pairs);
        std::optional<LinkImages> images = find_link_images(wires_, pairs, symmetry_.rotations(), average);
        if (images) symmetry_.links_ = std::move(*images);
        return images.has_value();
    }

    /// Adds the pairs whose senders are simulated, but not built.
    void add_images(PairSet& pairs) const {
        const Rotations& built = graph_.rotations();
        const std::vector<Pair> known(pairs.begin(), pairs.end());
        for (const Pair& pair : known)
            for (std::uint32_t number = 1; number < built.images(); ++number)
                if (const ProcessId from = built.image(pair.from, number); symmetry_.simulated(from))
                    pairs.insert({pair.channel, from, built.image(pair.to, number)});
    }

    void add_pairs(ProcessId process, const Task& task, PairSet& pairs) const {
        const Exchange& exchange = graph_.exchange(task.exchange);
        const std::span<const ProcessId> group = graph_.group(exchange.group);
        const auto members = static_cast<std::uint32_t>(group.size());
        for (std::uint32_t lane = 0; lane < exchange.algorithm->lanes(); ++lane) {
            const Program program = exchange.algorithm->lane_program(lane, task.member, members, exchange.bytes, 0);
            const std::uint32_t channel = wires_.routes_by_channel() ? lanes_.channel(exchange, program) : 0;
            for (const Step& step : program.steps)
                for (const Message& message : step.sends)
                    for (std::uint32_t i = 0; i < (message.turn == 0 ? 1 : step.repeat); ++i)
                        pairs.insert({channel, process, group[peer_of(message, i, members)]});
        }
    }

    const TaskGraph& graph_;
    const Lanes& lanes_;
    const Wires& wires_;
    std::vector<std::vector<StreamId>> streams_;  // by process
    std::vector<std::uint32_t> positions_;        // by task: in its stream
    Symmetry symmetry_;
    Rotation rotation_;          // the one that is looked at
    std::vector<Image> images_;  // by exchange: under it
    std::set<
        std::tuple<const CollectiveAlgorithm*, const CollectiveAlgorithm*, std::uint64_t, std::uint32_t, std::uint32_t>>
        compared_;
};

namespace {

/// Returns whether nothing but tasks and links tells processes apart.
bool may_be_alike(const TaskGraph& graph, const Wires& wires) {
    const std::vector<std::uint32_t>& spans = graph.spans();
    return !spans.empty() && graph.processes().size() % spans.front() == 0 && graph.queues().empty() &&
           !graph.lateness().varies() && wires.streams_wait() && wires.native() == nullptr && wires.fixed_ways();
}

/// Adds rotations, one inside the other, each with the smallest period that `works`, a multiple of its own in `least`.
template <class Works>
Rotations smallest(const Rotations& least, Works works) {
    Rotations found;
    for (const Rotation& rotation : least.all()) {
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

Rotations rotations_of(const TaskGraph& graph, const Lanes& lanes, const Wires& wires, bool average) {
    if (!may_be_alike(graph, wires)) return {};
    SymmetryCheck check(graph, lanes, wires);
    return smallest(graph.rotations(), [&](const Rotations& rotations) {
        return check.find(rotations, false) || (average && check.find(rotations, true));
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
    Rotations any;
    for (const std::uint32_t span : graph.spans()) any = any.with({span, 1});
    smallest(any, [&](const Rotations& rotations) {
        std::optional<Symmetry> more = check.find(rotations, false);
        const bool works = more.has_value();
        if (works) found = std::move(more);
        return works;
    });
    return found;
}

}  // namespace syncline
