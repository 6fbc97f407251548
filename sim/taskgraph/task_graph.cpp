#include "sim/taskgraph/task_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace syncline {

namespace {

/// Groups `items` by `row(item)` into `start` and `values`, keeping the order within a row.
template <class Item, class Value, class Row, class Get>
void sort_into_rows(const std::vector<Item>& items, std::size_t rows, Row row, Get get,
                    std::vector<std::uint32_t>& start, std::vector<Value>& values) {
    start.assign(rows + 1, 0);
    for (std::size_t i = 0; i < items.size(); ++i) ++start[row(items[i]) + 1];
    for (std::size_t r = 0; r < rows; ++r) start[r + 1] += start[r];
    values.resize(items.size());
    std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < items.size(); ++i) values[next[row(items[i])]++] = get(i);
}

}  // namespace

ProcessId TaskGraph::add_process(Process process) {
    processes_.push_back(process);
    return static_cast<ProcessId>(processes_.size() - 1);
}

StreamId TaskGraph::add_stream(ProcessId process, StreamKind kind) {
    streams_.push_back({process, kind});
    return static_cast<StreamId>(streams_.size() - 1);
}

GroupId TaskGraph::add_group(std::vector<ProcessId> members) {
    groups_.push_back(std::move(members));
    return static_cast<GroupId>(groups_.size() - 1);
}

ExchangeId TaskGraph::add_exchange(const Exchange& exchange) {
    exchanges_.push_back(exchange);
    const std::vector<ProcessId>& group = groups_[exchange.group];
    const auto turns = [&](const Rotation& rotation) {
        return rotation.span == spans_.front() &&
               std::ranges::count(group, shifted(group.front(), rotation.span, rotation.period)) > 0;
    };
    if (std::ranges::any_of(rotations_.all(), turns)) {
        const std::uint64_t blocks = group.size() * std::uint64_t{exchange.algorithm->slices()};
        const std::uint64_t added = (blocks - exchange.bytes % blocks) % blocks;
        if (added <= std::min(negligible_.each, negligible_.all)) {
            exchanges_.back().bytes += added;
            exchanges_.back().added_bytes = added;
            negligible_.all -= added;
        }
    }
    return static_cast<ExchangeId>(exchanges_.size() - 1);
}

TaskId TaskGraph::add_task(const Task& task) {
    tasks_.push_back(task);
    return static_cast<TaskId>(tasks_.size() - 1);
}

void TaskGraph::depend(TaskId task, TaskId on, std::uint32_t distance) {
    largest_distance_ = std::max(largest_distance_, distance);
    edges_.push_back({task, {on, distance}});
}

void TaskGraph::begin_with(TaskId task) {
    processes_[streams_[tasks_[task].stream].process].begins_with = task;
}

QueueId TaskGraph::take_by_priority(std::vector<StreamId> streams) {
    const auto queue = static_cast<QueueId>(queues_.size());
    for (const StreamId stream : streams) streams_[stream].queue = queue;
    queues_.push_back(std::move(streams));
    return queue;
}

void TaskGraph::take_turns(const std::vector<StreamId>& streams) {
    for (const StreamId stream : streams) streams_[stream].turns = turns_;
    ++turns_;
}

void TaskGraph::wait_for_first(TaskId task, std::uint32_t count) {
    first_of_.resize(std::max<std::size_t>(first_of_.size(), task + 1), 0);
    first_of_[task] = count;
}

void TaskGraph::give_up(TaskId task, TaskId by) {
    given_up_by_.resize(std::max<std::size_t>(given_up_by_.size(), task + 1), no_task);
    given_up_by_[task] = by;
}

void TaskGraph::vary(TaskId task, double seconds, std::uint32_t row) {
    varying_.resize(std::max<std::size_t>(varying_.size(), task + 1));
    varying_[task] = {seconds, row};
}

void TaskGraph::seal() {
    sort_into_rows(
        tasks_, streams_.size(), [](const Task& task) { return task.stream; },
        [](std::size_t i) { return static_cast<TaskId>(i); }, stream_start_, stream_tasks_);
    sort_into_rows(
        edges_, tasks_.size(), [](const Edge& edge) { return edge.task; },
        [this](std::size_t i) { return edges_[i].dependency; }, dependency_start_, dependencies_);
    edges_ = {};
    check_queues();
    check_acyclic();
}

void TaskGraph::append(const TaskGraph& part) {
    if (part.images() > 1 || !part.parts_.empty() || (parts_.empty() && !processes_.empty()))
        throw std::logic_error("task graph: only whole graphs can be parts of another");
    const auto number = static_cast<PartId>(parts_.size());
    if (number == 0) {
        latenesses_.clear();
        works_.clear();
        stream_start_ = dependency_start_ = {0};
    }
    const Part first{static_cast<ProcessId>(processes_.size()), static_cast<StreamId>(streams_.size()),
                     static_cast<TaskId>(tasks_.size()), static_cast<ExchangeId>(exchanges_.size()),
                     static_cast<GroupId>(groups_.size())};
    const auto first_queue = static_cast<QueueId>(queues_.size());
    parts_.push_back(first);
    latenesses_.push_back(part.lateness());
    works_.push_back(part.works_.front());
    for (Process process : part.processes_) {
        if (process.begins_with != no_task) process.begins_with += first.task;
        process.part = number;
        processes_.push_back(process);
    }
    for (Stream stream : part.streams_) {
        stream.process += first.process;
        if (stream.queue != Stream::no_queue) stream.queue += first_queue;
        if (stream.turns != Stream::no_turns) stream.turns += turns_;
        streams_.push_back(stream);
    }
    for (Task task : part.tasks_) {
        task.stream += first.stream;
        if (task.exchange != Task::no_exchange) task.exchange += first.exchange;
        tasks_.push_back(task);
    }
    largest_distance_ = std::max(largest_distance_, part.largest_distance_);
    turns_ += part.turns_;
    for (TaskId task = 0; task < part.first_of_.size(); ++task)
        if (part.first_of_[task] > 0) wait_for_first(first.task + task, part.first_of_[task]);
    for (TaskId task = 0; task < part.given_up_by_.size(); ++task)
        if (part.given_up_by_[task] != no_task) give_up(first.task + task, first.task + part.given_up_by_[task]);
    for (TaskId task = 0; task < part.varying_.size(); ++task)
        if (part.varying_[task].seconds > 0)
            vary(first.task + task, part.varying_[task].seconds, part.varying_[task].row);
    for (Exchange exchange : part.exchanges_) {
        exchange.group += first.group;
        exchanges_.push_back(exchange);
    }
    for (std::vector<ProcessId> group : part.groups_) {
        for (ProcessId& member : group) member += first.process;
        groups_.push_back(std::move(group));
    }
    for (std::vector<StreamId> queue : part.queues_) {
        for (StreamId& stream : queue) stream += first.stream;
        queues_.push_back(std::move(queue));
    }
    const auto continue_rows = [](std::vector<std::uint32_t>& start, const std::vector<std::uint32_t>& more) {
        const std::uint32_t end = start.back();
        for (std::size_t row = 1; row < more.size(); ++row) start.push_back(end + more[row]);
    };
    continue_rows(stream_start_, part.stream_start_);
    continue_rows(dependency_start_, part.dependency_start_);
    for (const TaskId task : part.stream_tasks_) stream_tasks_.push_back(first.task + task);
    for (Dependency dependency : part.dependencies_) {
        dependency.on += first.task;
        dependencies_.push_back(dependency);
    }
}

std::span<const TaskId> TaskGraph::tasks_of(StreamId stream) const {
    return {stream_tasks_.begin() + stream_start_[stream], stream_tasks_.begin() + stream_start_[stream + 1]};
}

std::span<const Dependency> TaskGraph::dependencies_of(TaskId task) const {
    return {dependencies_.begin() + dependency_start_[task], dependencies_.begin() + dependency_start_[task + 1]};
}

void TaskGraph::check_queues() const {
    for (QueueId queue = 0; queue < queues_.size(); ++queue) {
        const std::span<const TaskId> first = tasks_of(queues_[queue].front());
        for (const StreamId stream : queues_[queue]) {
            const std::span<const TaskId> tasks = tasks_of(stream);
            const bool same =
                streams_[stream].queue == queue &&
                std::equal(tasks.begin(), tasks.end(), first.begin(), first.end(), [this](auto a, auto b) {
                    return tasks_[a].exchange == tasks_[b].exchange && tasks_[a].priority == tasks_[b].priority;
                });
            if (!same) throw std::logic_error(fmt::format("task graph: the streams of queue {} differ", queue));
        }
    }
}

void TaskGraph::check_acyclic() const {
    // Tasks of a stream are in the order of their numbers. If tasks that are waited for are, too, that settles it.
    bool in_order = true;
    for (TaskId task = 0; task < tasks_.size() && in_order; ++task)
        in_order = std::ranges::all_of(dependencies_of(task), [task](const Dependency& dependency) {
            return dependency.distance > 0 || dependency.on < task;
        });
    if (in_order) return;
    // Runs the streams as the replayer would, without time: any task left at the end waits for itself.
    std::vector<bool> done(tasks_.size(), false);
    std::vector<std::size_t> next(streams_.size(), 0);
    std::vector<std::vector<StreamId>> waiting(tasks_.size());
    std::vector<StreamId> runnable;
    for (StreamId stream = 0; stream < streams_.size(); ++stream) runnable.push_back(stream);
    std::size_t finished = 0;
    while (!runnable.empty()) {
        const StreamId stream = runnable.back();
        runnable.pop_back();
        const std::span<const TaskId> tasks = tasks_of(stream);
        while (next[stream] < tasks.size()) {
            const TaskId task = tasks[next[stream]];
            const Dependency* blocking = nullptr;
            for (const Dependency& dependency : dependencies_of(task)) {
                if (dependency.distance == 0 && !done[dependency.on]) blocking = &dependency;
            }
            if (blocking != nullptr) {
                waiting[blocking->on].push_back(stream);
                break;
            }
            done[task] = true;
            ++finished;
            ++next[stream];
            runnable.insert(runnable.end(), waiting[task].begin(), waiting[task].end());
            waiting[task].clear();
        }
    }
    if (finished != tasks_.size()) {
        throw std::logic_error(
            fmt::format("task graph: {} of {} tasks form a cycle", tasks_.size() - finished, tasks_.size()));
    }
}

bool free_of_clocks(const TaskGraph& graph) {
    return graph.queues().empty() && graph.turns() == 0 && !graph.waits_for_first() && !graph.gives_up() &&
           std::ranges::none_of(graph.tasks(), [](const Task& task) { return task.tick_s > 0; });
}

std::uint64_t count_messages(const TaskGraph& graph, std::uint32_t iterations) {
    std::uint64_t messages = 0;
    for (const Task& task : graph.tasks()) {
        if (task.exchange == Task::no_exchange) continue;
        const Exchange& exchange = graph.exchange(task.exchange);
        const auto members = static_cast<std::uint32_t>(graph.group(exchange.group).size());
        const std::uint32_t period = exchange.algorithm->period();
        for (std::uint32_t round = 0; round < std::min(period, iterations); ++round) {
            const std::uint32_t times = (iterations - round + period - 1) / period;
            messages += times * messages_sent(*exchange.algorithm, task.member, members, exchange.bytes, round);
        }
    }
    return messages * graph.images();
}

}  // namespace syncline
