#include "sim/execution/task_dag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/utf8.hpp"
#include "sim/execution/trace_error.hpp"

namespace syncline {

std::uint32_t TaskDag::add(std::string_view name, double flop, double seconds) {
    const auto number = static_cast<std::uint32_t>(tasks_.size());
    if (!numbers_.emplace(name, number).second)
        throw TraceError(fmt::format("task '{}' is there twice", printable(name.substr(0, 100))));
    if (number == most_trace_nodes) throw TraceError(fmt::format("it has more than {} nodes", most_trace_nodes));
    tasks_.push_back({builder_.name(name), flop, seconds});
    return number;
}

std::optional<std::uint32_t> TaskDag::find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void TaskDag::set_machine(std::uint32_t task, std::string_view machine) {
    const auto number = static_cast<std::uint32_t>(machines_.size());
    tasks_[task].machine = machines_.try_emplace(std::string(machine), number).first->second;
}

void TaskDag::connect(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    edges_.push_back({to, from, bytes});
    if (edges_.size() > most_trace_nodes) throw TraceError(fmt::format("it has more than {} edges", most_trace_nodes));
}

void TaskDag::put_at_end(std::uint32_t task) {
    std::vector<bool> followed(tasks_.size(), false);
    for (const Edge& edge : edges_) followed[edge.from] = true;
    for (std::uint32_t other = 0; other < tasks_.size(); ++other)
        if (other != task && !followed[other]) connect(other, task, 0);
}

void TaskDag::put_at_begin(std::uint32_t task) {
    std::vector<bool> follows(tasks_.size(), false);
    for (const Edge& edge : edges_) follows[edge.to] = true;
    for (std::uint32_t other = 0; other < tasks_.size(); ++other)
        if (other != task && !follows[other]) connect(task, other, 0);
}

std::span<const TaskDag::Edge> TaskDag::edges_to(std::uint32_t task) const {
    const auto first = std::ranges::lower_bound(edges_, task, {}, &Edge::to);
    return {first, std::ranges::upper_bound(first, edges_.end(), task, {}, &Edge::to)};
}

/// Each task after those that it depends on, and otherwise in their order.
std::vector<std::uint32_t> TaskDag::order() const {
    UnsortedTrace unsorted;
    std::vector<std::uint64_t> on;
    for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
        on.clear();
        for (const Edge& edge : edges_to(task)) on.push_back(edge.from);
        TraceNode node;
        node.tag = task;
        unsorted.add(node, task, on);
    }
    ExecutionTrace sorted;
    unsorted.sort_into(sorted);
    std::vector<std::uint32_t> order;
    for (const TraceNode& node : sorted.nodes()) order.push_back(node.tag);
    return order;
}

void TaskDag::choose_ranks(const TraceOptions& options, const std::vector<std::uint32_t>& order) {
    const auto placed = [](const Task& task) { return task.machine || task.transferred; };
    const auto machines = static_cast<std::uint32_t>(machines_.size());
    const bool by_machine =
        machines > 0 && std::ranges::all_of(tasks_, placed) && (options.ranks == 0 || options.ranks == machines);
    if (machines > 0 && !by_machine) builder_.remark("machines of the tasks are left out");
    builder_.trace.ranks = by_machine ? machines : std::max(options.ranks, 1U);
    if (!by_machine && builder_.trace.ranks > 1)
        builder_.remark("the tasks are on the ranks in turn, in the order of the file");
    std::uint32_t next = 0;
    for (Task& task : tasks_)
        if (task.machine && by_machine)
            task.rank = *task.machine;
        else if (!task.transferred && !task.first)
            task.rank = next++ % builder_.trace.ranks;
    for (const std::uint32_t task : order) {
        if (!tasks_[task].transferred || (by_machine && tasks_[task].machine)) continue;
        const std::span<const Edge> edges = edges_to(task);
        if (!edges.empty()) tasks_[task].rank = tasks_[edges.front().from].rank;
    }
}

void TaskDag::place(const TraceOptions& options) {
    std::ranges::sort(edges_);
    // A task that hands on bytes comes before the other one anyway.
    std::vector<Edge> kept;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        const bool repeated =
            i + 1 < edges_.size() && edges_[i].to == edges_[i + 1].to && edges_[i].from == edges_[i + 1].from;
        if (edges_[i].bytes > 0 || !repeated) kept.push_back(edges_[i]);
    }
    edges_ = std::move(kept);
    const std::vector<std::uint32_t> order = this->order();
    choose_ranks(options, order);
    std::vector<std::uint32_t> nodes(tasks_.size()), dependencies;
    std::uint32_t tag = 0;
    builder_.trace.free_signals = true;
    for (const std::uint32_t number : order) {
        const Task& task = tasks_[number];
        dependencies.clear();
        for (const auto& [to, from, bytes] : edges_to(number)) {
            if (tasks_[from].rank == task.rank) {
                dependencies.push_back(nodes[from]);
                continue;
            }
            TraceNode message;
            message.kind = NodeKind::send;
            message.rank = tasks_[from].rank;
            message.peer = task.rank;
            message.tag = tag++;
            message.name = tasks_[from].name;
            message.bytes = tasks_[from].transferred.value_or(bytes);
            builder_.add(message, {&nodes[from], 1});
            std::swap(message.rank, message.peer);
            message.kind = NodeKind::receive;
            dependencies.push_back(builder_.add(message, {}));
        }
        TraceNode node;
        const bool computes = task.flop > 0 || task.seconds > 0;
        node.kind = computes ? NodeKind::compute : NodeKind::nothing;
        if (computes) node.stream = 0;
        node.rank = task.rank;
        node.name = task.name;
        node.flop = task.flop;
        node.seconds = task.seconds;
        nodes[number] = builder_.add(node, dependencies);
    }
}

}  // namespace syncline
