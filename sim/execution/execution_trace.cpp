#include "sim/execution/execution_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "sim/base/dependency_order.hpp"
#include "sim/execution/trace_error.hpp"

namespace syncline {

std::uint32_t ExecutionTrace::add(const TraceNode& node, std::span<const std::uint32_t> dependencies) {
    nodes_.push_back(node);
    dependencies_.insert(dependencies_.end(), dependencies.begin(), dependencies.end());
    start_.push_back(static_cast<std::uint32_t>(dependencies_.size()));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

namespace {

/// A member's collectives in a group, in order.
using Calls = std::vector<std::uint32_t>;

void check_collectives(const ExecutionTrace& trace) {
    std::vector<std::map<std::uint32_t, Calls>> calls(trace.groups.size());
    for (std::uint32_t node = 0; node < trace.size(); ++node) {
        const TraceNode& one = trace.nodes()[node];
        if (one.kind == NodeKind::collective) calls[one.group][one.rank].push_back(node);
    }
    for (std::size_t group = 0; group < calls.size(); ++group) {
        if (calls[group].empty()) continue;
        const auto& [first_rank, first] = *calls[group].begin();
        for (const std::uint32_t rank : trace.groups[group]) {
            const auto found = calls[group].find(rank);
            const std::size_t count = found == calls[group].end() ? 0 : found->second.size();
            if (count != first.size())
                throw TraceError(fmt::format("rank {} has {} collective{} with {} ranks, and rank {} has {}",
                                             first_rank, first.size(), first.size() == 1 ? "" : "s",
                                             trace.groups[group].size(), rank, count));
            for (std::size_t i = 0; i < count; ++i) {
                const TraceNode &a = trace.nodes()[first[i]], &b = trace.nodes()[found->second[i]];
                if (a.operation != b.operation)
                    throw TraceError(
                        fmt::format("collective {} of a group is {} ({}) on rank {}, and {} ({}) on rank {}", i,
                                    trace.operations[a.operation], trace.names[a.name], first_rank,
                                    trace.operations[b.operation], trace.names[b.name], rank));
                if (a.bytes != b.bytes)
                    throw TraceError(
                        fmt::format("collective {} of a group ({}) has {} B on rank {}, and {} B on rank {}", i,
                                    trace.names[a.name], a.bytes, first_rank, b.bytes, rank));
            }
        }
    }
}

void check_messages(const ExecutionTrace& trace) {
    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, tag
    std::map<Channel, std::pair<Calls, Calls>> channels;
    for (std::uint32_t node = 0; node < trace.size(); ++node) {
        const TraceNode& one = trace.nodes()[node];
        if (one.kind == NodeKind::send) channels[{one.rank, one.peer, one.tag}].first.push_back(node);
        if (one.kind == NodeKind::receive) channels[{one.peer, one.rank, one.tag}].second.push_back(node);
    }
    for (const auto& [channel, sides] : channels) {
        const auto& [from, to, tag] = channel;
        const auto& [sent, received] = sides;
        if (sent.size() != received.size())
            throw TraceError(fmt::format("rank {} sends {} message{} to rank {} with tag {}, which receives {}", from,
                                         sent.size(), sent.size() == 1 ? "" : "s", to, tag, received.size()));
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const std::uint64_t is = trace.nodes()[sent[i]].bytes, expected = trace.nodes()[received[i]].bytes;
            if (is != expected)
                throw TraceError(
                    fmt::format("message {} from rank {} to rank {} with tag {} has {} B where it is sent, "
                                "and {} B where it is received",
                                i, from, to, tag, is, expected));
        }
    }
}

}  // namespace

void ExecutionTrace::check() const {
    std::vector<std::vector<std::uint32_t>> sorted = groups;
    for (std::vector<std::uint32_t>& members : sorted) std::ranges::sort(members);
    for (const TraceNode& node : nodes_) {
        const bool message = node.kind == NodeKind::send || node.kind == NodeKind::receive;
        if (node.rank >= ranks || (message && node.peer >= ranks))
            throw TraceError(fmt::format("{}: there is no rank {}; there are {}", names[node.name],
                                         node.rank >= ranks ? node.rank : node.peer, ranks));
        if (message && node.peer == node.rank)
            throw TraceError(fmt::format("{}: rank {} sends to itself", names[node.name], node.rank));
        if (node.kind != NodeKind::collective) continue;
        if (!std::ranges::binary_search(sorted.at(node.group), node.rank))
            throw TraceError(fmt::format("{}: rank {} is not in its group", names[node.name], node.rank));
    }
    for (const std::vector<std::uint32_t>& members : groups)
        for (const std::uint32_t rank : members)
            if (rank >= ranks) throw TraceError(fmt::format("a group has rank {}; there are {} ranks", rank, ranks));
    check_collectives(*this);
    check_messages(*this);
}

ExecutionTrace ExecutionTrace::repeated(std::uint32_t count) const {
    if (ranks != 1) throw TraceError(fmt::format("only a trace of one rank can be repeated; this one has {}", ranks));
    ExecutionTrace result;
    result.ranks = count;
    result.names = names;
    result.operations = operations;
    result.eager_bytes = eager_bytes;
    result.notes = notes;
    std::vector<std::uint32_t> all(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) all[rank] = rank;
    result.groups.assign(groups.size(), all);
    const auto of_one = static_cast<std::uint32_t>(nodes_.size());
    std::vector<std::uint32_t> dependencies;
    for (std::uint32_t rank = 0; rank < count; ++rank)
        for (std::uint32_t i = 0; i < of_one; ++i) {
            TraceNode node = nodes_[i];
            if (node.kind == NodeKind::send || node.kind == NodeKind::receive)
                throw TraceError(fmt::format("{}: a rank that sends to others cannot be repeated", names[node.name]));
            node.rank = rank;
            dependencies.clear();
            for (const std::uint32_t on : dependencies_of(i)) dependencies.push_back(on + rank * of_one);
            result.add(node, dependencies);
        }
    return result;
}

namespace {

std::string text_of_cycle(std::uint32_t rank, const std::vector<std::uint64_t>& ids) {
    constexpr std::size_t most_named = 5;
    std::string cycle;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i == most_named) {
            cycle += "…, ";
            break;
        }
        cycle += fmt::format("{}, ", ids[ids.size() - 1 - i]);
    }
    return fmt::format("nodes of rank {} depend on each other in a cycle: {}then {} again", rank, cycle, ids.back());
}

}  // namespace

TraceCycle::TraceCycle(std::uint32_t of_rank, std::vector<std::uint64_t> of_nodes)
    : TraceError(text_of_cycle(of_rank, of_nodes)), ids(std::move(of_nodes)) {}

void UnsortedTrace::add(const TraceNode& node, std::uint64_t id, std::span<const std::uint64_t> dependencies) {
    const std::size_t first = dependencies_.size();
    dependencies_.insert(dependencies_.end(), dependencies.begin(), dependencies.end());
    entries_.push_back({node, id, first, dependencies_.size()});
}

void UnsortedTrace::sort_into(ExecutionTrace& trace) const {
    struct Key {
        std::uint32_t rank;
        std::uint64_t id;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return std::hash<std::uint64_t>{}(key.id * 0x9e3779b97f4a7c15ULL ^ key.rank);
        }
    };
    const auto count = static_cast<std::uint32_t>(entries_.size());
    std::unordered_map<Key, std::uint32_t, Hash> numbers;
    numbers.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i)
        if (!numbers.emplace(Key{entries_[i].node.rank, entries_[i].id}, i).second)
            throw TraceError(fmt::format("rank {} has two nodes {}", entries_[i].node.rank, entries_[i].id));

    std::vector<std::uint32_t> on(dependencies_.size());
    std::vector<Wait> waits;
    waits.reserve(dependencies_.size());
    for (std::uint32_t i = 0; i < count; ++i)
        for (std::size_t d = entries_[i].first; d < entries_[i].last; ++d) {
            const auto found = numbers.find({entries_[i].node.rank, dependencies_[d]});
            if (found == numbers.end())
                throw TraceError(fmt::format("node {} of rank {} depends on node {}, which does not exist",
                                             entries_[i].id, entries_[i].node.rank, dependencies_[d]));
            on[d] = found->second;
            waits.push_back({i, on[d]});
        }
    constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    const std::vector<std::uint32_t> order = dependency_order(count, waits);
    std::vector<std::uint32_t> place(count, nowhere), dependencies;
    for (const std::uint32_t i : order) {
        dependencies.clear();
        for (std::size_t d = entries_[i].first; d < entries_[i].last; ++d) dependencies.push_back(place[on[d]]);
        place[i] = trace.add(entries_[i].node, dependencies);
    }
    if (order.size() == count) return;
    // Every node that is left depends on one that is left, so going back ends in a cycle.
    std::uint32_t at = 0;
    while (place[at] != nowhere) ++at;
    std::vector<std::uint32_t> seen(count, 0);
    std::vector<std::uint32_t> way;
    while (seen[at] == 0) {
        way.push_back(at);
        seen[at] = static_cast<std::uint32_t>(way.size());
        for (std::size_t d = entries_[at].first; d < entries_[at].last; ++d)
            if (place[on[d]] == nowhere) {
                at = on[d];
                break;
            }
    }
    std::vector<std::uint64_t> cycle;
    for (std::size_t i = seen[at] - 1; i < way.size(); ++i) cycle.push_back(entries_[way[i]].id);
    throw TraceCycle(entries_[at].node.rank, std::move(cycle));
}

}  // namespace syncline
