#include "sim/replay/rounding.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/replay/simulator.hpp"

namespace syncline {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

std::uint32_t members_of(const TaskGraph& graph, const Exchange& exchange) {
    return static_cast<std::uint32_t>(graph.group(exchange.group).size());
}

/// The members of an exchange that have tasks.
struct Taking {
    std::vector<std::uint32_t> members;  ///< each once
    std::uint32_t times = 0;             ///< number of times that each takes part in an iteration
};

std::vector<Taking> takings(const TaskGraph& graph) {
    std::vector<Taking> all(graph.exchanges());
    std::set<std::pair<ExchangeId, std::uint32_t>> seen;
    for (const Task& task : graph.tasks()) {
        if (task.exchange == Task::no_exchange) continue;
        Taking& taking = all[task.exchange];
        if (seen.insert({task.exchange, task.member}).second) taking.members.push_back(task.member);
        if (task.member == taking.members.front()) ++taking.times;
    }
    return all;
}

/// Counts the bytes of rounded exchanges.
class Count {
public:
    Count(const TaskGraph& graph, const Lanes& lanes, const Wires& wires, Timeline& timeline)
        : graph_(graph), lanes_(lanes), wires_(wires), timeline_(timeline) {}

    /// Counts the exchange in all images of its group.
    void add(const Exchange& exchange, std::uint32_t times) {
        const std::uint32_t members = members_of(graph_, exchange);
        const Rotations& rotations = graph_.rotations();
        std::set<ProcessId> counted;
        for (std::uint32_t number = 0; number < rotations.images(); ++number) {
            std::vector<ProcessId> group;
            for (const ProcessId member : graph_.group(exchange.group))
                group.push_back(rotations.image(member, number));
            if (counted.contains(group.front())) continue;
            counted.insert(group.begin(), group.end());
            for (std::uint32_t member = 0; member < members; ++member)
                for (std::uint32_t lane = 0; lane < exchange.algorithm->lanes(); ++lane)
                    add(exchange, group, member,
                        exchange.algorithm->lane_program(lane, member, members, exchange.bytes - exchange.added_bytes,
                                                         0),
                        times);
        }
    }

    void finish(std::uint32_t iterations, Wires& wires) const {
        for (const auto& [pair, bytes] : on_wires_)
            wires.carried_besides(pair.from, pair.to, pair.channel, bytes * iterations);
    }

private:
    void add(const Exchange& exchange, std::span<const ProcessId> group, std::uint32_t member, const Program& program,
             std::uint32_t times) {
        const Partition& partition = program.partition;
        const std::uint32_t channel = lanes_.channel(exchange, program);
        const auto carry = [&](std::uint32_t peer, std::uint64_t bytes, std::uint64_t on_wires) {
            timeline_.bytes_sent += bytes * times;
            timeline_.sent_by[group[member]] += bytes * times;
            timeline_.received_by[group[peer]] += bytes * times;
            on_wires_[{channel, group[member], group[peer]}] += on_wires * times;
        };
        for (const Step& step : program.steps)
            for (const Message& message : step.sends) {
                if (message.turn == 0) {
                    carry(message.peer, bytes_of_repetitions(partition, message, 0, step.repeat),
                          on_wires_in_repetitions(wires_.factor(exchange.protocol, group[member], group[message.peer]),
                                                  partition, message, 0, step.repeat));
                    continue;
                }
                for (std::uint32_t i = 0; i < step.repeat; ++i) {
                    const std::uint64_t bytes = message_bytes(partition, message, i);
                    const std::uint32_t peer = peer_of(message, i, static_cast<std::uint32_t>(group.size()));
                    carry(peer, bytes, on_wires(bytes, wires_.factor(exchange.protocol, group[member], group[peer])));
                }
            }
    }

    const TaskGraph& graph_;
    const Lanes& lanes_;
    const Wires& wires_;
    Timeline& timeline_;
    std::unordered_map<Pair, std::uint64_t, Pair::Hash> on_wires_;
};

/// Finds out whether the error is bounded, and by what.
class Bound {
public:
    Bound(const TaskGraph& graph, const Lanes& lanes, const Wires& wires)
        : graph_(graph), lanes_(lanes), wires_(wires), takings_(takings(graph)) {}

    double seconds() {
        if (!only_delays() || !links_of_one_pair()) return unbounded;
        double sum_s = 0;
        for (ExchangeId id = 0; id < graph_.exchanges(); ++id) {
            const Exchange& exchange = graph_.exchange(id);
            if (exchange.added_bytes == 0) continue;
            if (!step_by_step(exchange)) return unbounded;
            sum_s += takings_[id].times * longer_s(exchange, takings_[id].members);
        }
        return sum_s;
    }

private:
    Program program(const Exchange& exchange, std::uint32_t member) const {
        return exchange.algorithm->program(member, members_of(graph_, exchange), exchange.bytes, 0);
    }

    bool only_delays() const {
        const Transport& transport = wires_.transport();
        return free_of_clocks(graph_) && transport.staging.unit == Staging::Unit::none && transport.window == 0 &&
               std::ranges::none_of(graph_.processes(),
                                    [](const Process& process) { return process.speed_beside_exchange.slows(); });
    }

    /// Returns true if each link has the messages of one lane to one peer, one in each step.
    bool links_of_one_pair() const {
        struct Use {
            StreamId stream;
            ProcessId to;
            std::uint64_t step;
        };
        std::unordered_map<std::uint32_t, Use> uses;
        std::set<std::pair<ExchangeId, std::uint32_t>> seen;
        std::uint64_t step_number = 0;
        std::vector<std::uint32_t> links;
        for (const Task& task : graph_.tasks()) {
            if (task.exchange == Task::no_exchange || !seen.insert({task.exchange, task.member}).second) continue;
            const Exchange& exchange = graph_.exchange(task.exchange);
            if (exchange.algorithm->lanes() > 1) return false;
            const std::span<const ProcessId> group = graph_.group(exchange.group);
            const Program all = program(exchange, task.member);
            for (const Step& step : all.steps) {
                ++step_number;
                for (const Message& message : step.sends) {
                    if (message.turn != 0) return false;
                    const ProcessId to = group[message.peer];
                    links.clear();
                    wires_.append_shared(group[task.member], to, lanes_.channel(exchange, all), links);
                    for (const std::uint32_t link : links) {
                        const auto [found, added] = uses.try_emplace(link, Use{task.stream, to, step_number});
                        Use& use = found->second;
                        if (wires_.stands_for_several(link) || use.stream != task.stream || use.to != to ||
                            (!added && use.step == step_number))
                            return false;
                        use.step = step_number;
                    }
                }
            }
        }
        return true;
    }

    /// Returns true if all members have the same steps, and receive in each what their peers send in it.
    bool step_by_step(const Exchange& exchange) {
        const std::uint32_t members = members_of(graph_, exchange);
        const auto [known, added] =
            step_by_step_.try_emplace({exchange.algorithm.get(), members, exchange.bytes}, false);
        if (!added) return known->second;
        std::vector<Program> all;
        for (std::uint32_t member = 0; member < members; ++member) all.push_back(program(exchange, member));
        for (std::uint32_t member = 0; member < members; ++member) {
            const std::vector<Step>&steps = all[member].steps, &others = all.front().steps;
            if (!std::ranges::equal(steps, others, [](const Step& a, const Step& b) {
                    return a.repeat == b.repeat && a.body == b.body;
                }))
                return false;
            for (std::size_t i = 0; i < steps.size(); ++i)
                for (const Message& message : steps[i].sends)
                    if (std::ranges::count(all[message.peer].steps[i].receives, member, &Message::peer) != 1)
                        return false;
        }
        return known->second = true;
    }

    /// Returns the seconds by which rounding makes a path through an exchange longer.
    double longer_s(const Exchange& exchange, const std::vector<std::uint32_t>& members) const {
        const std::span<const ProcessId> group = graph_.group(exchange.group);
        struct Longest {
            double sent_s = 0, reduced_s = 0;
            std::uint32_t repeat = 0;
        };
        std::vector<Longest> longest;  // by step
        for (const std::uint32_t member : members) {
            const Program all = program(exchange, member);
            longest.resize(all.steps.size());
            for (std::size_t i = 0; i < all.steps.size(); ++i) {
                const Step& step = all.steps[i];
                Longest& of = longest[i];
                of.repeat = step.repeat;
                for (const Message& message : step.sends)
                    of.sent_s =
                        std::max(of.sent_s, longer_s(exchange, all, group[member], group[message.peer], message));
                double reduced_s = 0;
                if (step.reduce) {
                    for (const Message& message : step.receives)
                        reduced_s += static_cast<double>(blocks_of(message)) * exchange.gamma_s_per_B *
                                     exchange.algorithm->slices();
                    // A kernel that had nothing to add would not be launched.
                    const bool empty = all.partition.bytes - exchange.added_bytes < all.partition.blocks;
                    if (empty && wires_.on_device(group[member])) reduced_s += wires_.transport().reduction.launch_s;
                }
                of.reduced_s = std::max(of.reduced_s, reduced_s);
            }
        }
        double sum_s = 0;
        for (const Longest& of : longest) sum_s += of.repeat * (of.sent_s + of.reduced_s);
        return sum_s;
    }

    static std::uint64_t blocks_of(const Message& message) {
        std::uint64_t blocks = message.count;
        for (const Blocks& more : message.more) blocks += more.count;
        return blocks;
    }

    /// Returns the same of one message, each block of which is real but for a byte.
    double longer_s(const Exchange& exchange, const Program& of, ProcessId from, ProcessId to,
                    const Message& message) const {
        if (wires_.weightless(from, to)) return 0;
        double rate_Bps = unlimited_Bps;
        for (const std::uint32_t link : wires_.route_numbers(from, to, lanes_.channel(exchange, of)))
            rate_Bps = std::min(rate_Bps, wires_.bandwidth_Bps(link));
        const auto seconds = [&](std::uint64_t bytes) {
            const double limit_Bps = wires_.terms(from, to).limit_Bps(static_cast<double>(bytes));
            return static_cast<double>(on_wires(bytes, wires_.factor(exchange.protocol, from, to))) /
                   std::min(rate_Bps, limit_Bps);
        };
        const std::uint64_t bytes = message_bytes(of.partition, message, 0);
        return seconds(bytes) - seconds(bytes - std::min(bytes, blocks_of(message)));
    }

    const TaskGraph& graph_;
    const Lanes& lanes_;
    const Wires& wires_;
    const std::vector<Taking> takings_;
    std::map<std::tuple<const CollectiveAlgorithm*, std::uint32_t, std::uint64_t>, bool> step_by_step_;
};

}  // namespace

bool any_rounded(const TaskGraph& graph) {
    for (ExchangeId id = 0; id < graph.exchanges(); ++id)
        if (graph.exchange(id).added_bytes > 0) return true;
    return false;
}

void count_rounded(const TaskGraph& graph, const Lanes& lanes, std::uint32_t iterations, Timeline& timeline,
                   Wires& wires) {
    const std::vector<Taking> all = takings(graph);
    Count count(graph, lanes, wires, timeline);
    for (ExchangeId id = 0; id < graph.exchanges(); ++id)
        if (graph.exchange(id).added_bytes > 0) count.add(graph.exchange(id), all[id].times);
    count.finish(iterations, wires);
}

double rounding_error_s(const TaskGraph& graph, const Lanes& lanes, const Wires& wires) {
    return Bound(graph, lanes, wires).seconds();
}

}  // namespace syncline
