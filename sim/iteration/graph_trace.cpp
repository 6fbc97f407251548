#include "sim/iteration/graph_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/dependency_order.hpp"
#include "sim/execution/trace_error.hpp"

namespace syncline {

namespace {

class GraphTrace {
public:
    GraphTrace(const TaskGraph& graph, const std::vector<std::string>& names) : graph_(graph), names_(names) {
        trace_.ranks = static_cast<std::uint32_t>(graph.processes().size());
        nodes_.resize(graph.tasks().size());
        before_.assign(graph.tasks().size(), no_task);
        for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
            TaskId last = no_task;
            for (const TaskId task : graph.tasks_of(stream)) before_[task] = std::exchange(last, task);
        }
        // Lanes of several exchanges between two ranks are apart.
        for (ExchangeId id = 0; id < graph.exchanges(); ++id)
            lanes_ = std::max(lanes_, graph.exchange(id).algorithm->lanes());
    }

    ExecutionTrace write() {
        for (const TaskId task : order()) add(task);
        note(inherited_, "dependencies on the iteration before are left out");
        note(reduced_, "exchanges whose reductions take no time in the trace");
        note(clocks_, "waits for clocks are left out");
        note(!graph_.queues().empty(), "tasks that streams choose by priority are in the order of the trace");
        trace_.check();
        return std::move(trace_);
    }

private:
    using Nodes = std::vector<std::uint32_t>;

    ProcessId process_of(TaskId task) const { return graph_.streams()[graph_.tasks()[task].stream].process; }

    void note(std::size_t count, const char* what) {
        if (count > 0) trace_.notes.push_back(count > 1 ? fmt::format("{} ({})", what, count) : what);
    }

    /// Returns all tasks, each after those that it waits for, and else in the graph's order.
    std::vector<TaskId> order() const {
        const auto count = static_cast<TaskId>(graph_.tasks().size());
        std::vector<Wait> waits;
        for (TaskId task = 0; task < count; ++task) {
            if (before_[task] != no_task) waits.push_back({task, before_[task]});
            for (const Dependency& dependency : graph_.dependencies_of(task))
                if (dependency.distance == 0) waits.push_back({task, dependency.on});
        }
        return dependency_order(count, waits);
    }

    void add(TaskId id) {
        const Task& task = graph_.tasks()[id];
        const ProcessId rank = process_of(id);
        Nodes after = before_[id] == no_task ? Nodes{} : nodes_[before_[id]];
        for (const Dependency& dependency : graph_.dependencies_of(id)) {
            if (dependency.distance > 0) {
                ++inherited_;
                continue;
            }
            if (process_of(dependency.on) != rank)
                throw TraceError(
                    fmt::format("{} of rank {} waits for {} of rank {} without a message, which a trace "
                                "cannot say",
                                names_[id], rank, names_[dependency.on], process_of(dependency.on)));
            after.insert(after.end(), nodes_[dependency.on].begin(), nodes_[dependency.on].end());
        }
        std::ranges::sort(after);
        after.erase(std::unique(after.begin(), after.end()), after.end());
        if (task.tick_s > 0) ++clocks_;
        if (task.exchange != Task::no_exchange) {
            nodes_[id] = add_exchange(id, rank, after);
        } else if (task.seconds > 0) {
            const bool computes = graph_.streams()[task.stream].kind == StreamKind::compute;
            TraceNode node{.kind = computes ? NodeKind::compute : NodeKind::host, .rank = rank};
            node.stream = task.stream;
            node.name = name_of(id);
            node.seconds = task.seconds;
            nodes_[id] = {trace_.add(node, after)};
        } else {
            constexpr std::size_t few = 4;
            if (after.size() > few) {
                TraceNode node{.kind = NodeKind::nothing, .rank = rank};
                node.name = name_of(id);
                after = {trace_.add(node, after)};
            }
            nodes_[id] = std::move(after);
        }
    }

    std::uint32_t name_of(TaskId task) {
        const auto [found, added] = numbers_.try_emplace(names_[task], static_cast<std::uint32_t>(trace_.names.size()));
        if (added) trace_.names.push_back(names_[task]);
        return found->second;
    }

    /// Adds the steps of a member's lanes, and returns the nodes of their last ones.
    Nodes add_exchange(TaskId id, ProcessId rank, const Nodes& after) {
        const Task& task = graph_.tasks()[id];
        const Exchange& exchange = graph_.exchange(task.exchange);
        const std::span<const ProcessId> group = graph_.group(exchange.group);
        const auto members = static_cast<std::uint32_t>(group.size());
        Nodes ends;
        bool reduces = false;
        std::vector<std::vector<Nodes>> steps(exchange.algorithm->lanes());  // of each lane, what ends each step
        for (std::uint32_t lane = 0; lane < steps.size(); ++lane) {
            const Program program = exchange.algorithm->lane_program(lane, task.member, members, exchange.bytes, 0);
            const std::uint32_t tag = exchange.tag * lanes_ + program.channel;
            Nodes now = after;
            for (Walk walk(program); !walk.done(); walk.next()) {
                const Step& step = walk.step();
                Nodes from = now;
                // A lane waits for earlier ones only: later ones follow in the program's order.
                if (step.after_lane < lane && step.after_steps > 0 &&
                    step.after_steps <= steps[step.after_lane].size()) {
                    const Nodes& other = steps[step.after_lane][step.after_steps - 1];
                    from.insert(from.end(), other.begin(), other.end());
                }
                reduces = reduces || step.reduce || step.adds > 0;
                Nodes ended;
                const auto add_message = [&](const Message& message, bool sends) {
                    TraceNode node{.kind = sends ? NodeKind::send : NodeKind::receive, .rank = rank};
                    node.name = name_of(id);
                    node.peer = group[peer_of(message, walk.repetition(), members)];
                    node.tag = tag;
                    node.bytes = message_bytes(program.partition, message, walk.repetition());
                    ended.push_back(trace_.add(node, from));
                };
                for (const Message& message : step.sends) add_message(message, true);
                for (const Message& message : step.receives) add_message(message, false);
                if (!ended.empty()) now = std::move(ended);
                steps[lane].push_back(now);
            }
            ends.insert(ends.end(), now.begin(), now.end());
        }
        if (reduces && exchange.gamma_s_per_B > 0) ++reduced_;
        std::ranges::sort(ends);
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        return ends;
    }

    const TaskGraph& graph_;
    const std::vector<std::string>& names_;
    ExecutionTrace trace_;
    std::vector<Nodes> nodes_;    ///< that end a task, by task
    std::vector<TaskId> before_;  ///< on its stream, by task
    std::map<std::string, std::uint32_t> numbers_;
    std::uint32_t lanes_ = 1;
    std::size_t inherited_ = 0, reduced_ = 0, clocks_ = 0;
};

}  // namespace

ExecutionTrace trace_of(const TaskGraph& graph, const std::vector<std::string>& names) {
    return GraphTrace(graph, names).write();
}

}  // namespace syncline
