#include "sim/analysis/worker_updates.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace syncline {

namespace {

struct Worker {
    ProcessId process = 0;
    TaskId update = 0;
    Interval window;                  ///< from its first end of an iteration in the common window to the last
    std::size_t first = 0, last = 0;  ///< the recorded iterations that end then
    bool few = false;

    std::uint32_t iterations() const { return std::max(1u, static_cast<std::uint32_t>(last - first)); }
    double period_s() const { return (window.end_s - window.start_s) / iterations(); }
    double per_s() const { return period_s() > 0 ? 1 / period_s() : 0; }
};

struct Workers {
    std::vector<Worker> all;
    Interval window;  ///< while all run
};

Workers workers_of(const TaskGraph& graph, const Timeline& timeline) {
    const std::vector<std::vector<Interval>>& recorded = timeline.recorded;
    Workers workers{{}, {0, std::numeric_limits<double>::infinity()}};
    for (TaskId task = 0; task < graph.tasks().size(); ++task) {
        if (graph.tasks()[task].phase != Phase::update) continue;
        workers.all.push_back({graph.streams()[graph.tasks()[task].stream].process, task, {}, 0, 0, false});
        if (recorded.size() > 1)
            workers.window.start_s = std::max(workers.window.start_s, recorded.front()[task].end_s);
        workers.window.end_s = std::min(workers.window.end_s, recorded.back()[task].end_s);
    }
    for (Worker& worker : workers.all) {
        worker.window = {0, recorded.back()[worker.update].end_s};
        if (recorded.size() == 1) continue;
        const auto end_s = [&](std::size_t iteration) { return recorded[iteration][worker.update].end_s; };
        std::size_t &first = worker.first, &last = worker.last;
        last = recorded.size() - 1;
        while (first < last && end_s(first) < workers.window.start_s) ++first;
        while (last > first && end_s(last) > workers.window.end_s) --last;
        worker.few = first == last;
        if (worker.few) {
            first = 0;
            last = recorded.size() - 1;
        }
        worker.window = {end_s(first), end_s(last)};
    }
    return workers;
}

/// A worker's updates of a part of a bucket, and its pulls of it.
struct Chain {
    ProcessId worker = 0;
    TaskId apply = 0, pull = 0;
};

/// Returns the chains of each part, by server, bucket and place in the order of tasks.
std::vector<std::vector<Chain>> chains_of(const TaskGraph& graph) {
    std::map<std::pair<GroupId, std::uint32_t>, TaskId> pulls;  // by group and bucket
    for (TaskId task = 0; task < graph.tasks().size(); ++task) {
        const Task& of = graph.tasks()[task];
        if (of.phase == Phase::pull && of.member == 0) pulls[{graph.exchange(of.exchange).group, of.subject}] = task;
    }
    std::map<std::pair<ProcessId, std::uint32_t>, std::vector<Chain>> parts;  // by server and bucket
    for (TaskId task = 0; task < graph.tasks().size(); ++task) {
        const Task& of = graph.tasks()[task];
        if (of.phase != Phase::aggregate) continue;
        const Task& arrived = graph.tasks()[graph.dependencies_of(task).front().on];
        const GroupId group = graph.exchange(arrived.exchange).group;
        const auto members = graph.group(group);
        parts[{members[0], of.subject}].push_back({members[1], task, pulls.at({group, of.subject})});
    }
    std::vector<std::vector<Chain>> result;
    for (auto& [where, chains] : parts) result.push_back(std::move(chains));
    return result;
}

}  // namespace

WorkerUpdates updates_of(const TaskGraph& graph, const Timeline& timeline) {
    const Workers workers = workers_of(graph, timeline);
    WorkerUpdates result;
    std::map<ProcessId, std::size_t> ranks;
    for (const Worker& worker : workers.all) {
        ranks[worker.process] = ranks.size();
        result.per_s_by_rank.push_back(worker.per_s());
        result.per_s += result.per_s_by_rank.back();
        result.few = result.few || worker.few;
        const auto ahead = std::ranges::find_if(timeline.recorded, [&](const std::vector<Interval>& iteration) {
            return iteration[worker.update].end_s > workers.window.end_s;
        });
        result.lead = std::max(result.lead, static_cast<std::uint64_t>(timeline.recorded.end() - ahead));
    }
    std::map<std::uint64_t, std::uint64_t> counts;
    std::vector<std::pair<double, double>> by_rank(workers.all.size());  // sum and number
    for (const std::vector<Chain>& part : chains_of(graph)) {
        std::vector<std::tuple<double, ProcessId, std::size_t>> order;
        for (const Chain& chain : part)
            for (std::size_t i = 0; i < timeline.recorded.size(); ++i)
                order.emplace_back(timeline.recorded[i][chain.apply].end_s, chain.worker, i);
        std::ranges::sort(order);
        const auto before = [&](double end_s, ProcessId worker, std::size_t i) {
            const auto found = std::ranges::lower_bound(order, std::tuple(end_s, worker, i));
            return static_cast<std::uint64_t>(found - order.begin());
        };
        for (const Chain& chain : part) {
            const std::size_t rank = ranks.at(chain.worker);
            for (std::size_t i = workers.all[rank].first + 1; i <= workers.all[rank].last; ++i) {
                const double end_s = timeline.recorded[i][chain.apply].end_s;
                const double own_s = timeline.recorded[i - 1][chain.apply].end_s;
                const double read_s = timeline.recorded[i - 1][chain.pull].start_s;
                const std::uint64_t seen = read_s <= own_s ? before(own_s, chain.worker, i - 1) + 1
                                                           : before(read_s, std::numeric_limits<ProcessId>::max(), 0);
                const std::uint64_t at = before(end_s, chain.worker, i);
                const std::uint64_t stale = at > seen ? at - seen : 0;
                ++counts[stale];
                by_rank[rank].first += static_cast<double>(stale);
                ++by_rank[rank].second;
            }
        }
    }
    double sum = 0, number = 0;
    for (const auto& [of_rank, times] : by_rank) {
        sum += of_rank;
        number += times;
        result.staleness_by_rank.push_back(times > 0 ? of_rank / times : 0);
    }
    if (number > 0) result.mean_staleness = sum / number;
    for (const auto& [stale, times] : counts) {
        result.largest_staleness = stale;
        result.distribution.emplace_back(stale, static_cast<double>(times) / number);
    }
    return result;
}

Breakdown measure_workers(const TaskGraph& graph, const Timeline& timeline) {
    const Workers workers = workers_of(graph, timeline);
    const auto count = static_cast<double>(workers.all.size());
    const auto period = static_cast<std::uint32_t>(timeline.recorded.size());
    const double first_s = workers.all.front().period_s();
    double rate = 0;
    for (const Worker& worker : workers.all) rate += worker.per_s();
    // Without rounding where all take the same time.
    const bool alike = std::ranges::all_of(workers.all, [&](const Worker& one) { return one.period_s() == first_s; });
    Breakdown result;
    result.iteration_s = alike ? first_s : count / rate;
    add_extremes(result, graph, timeline, period);
    result.longest_compute_s = 0;
    const std::vector<std::vector<TaskId>> tasks = tasks_by_process(graph);
    for (const Worker& worker : workers.all) {
        const Breakdown own =
            parts_of(graph, timeline, worker.update, tasks[worker.process], worker.window, period, worker.iterations());
        const double weight = own.iteration_s > 0 ? result.iteration_s / own.iteration_s / count : 0;
        result.compute_s += weight * own.compute_s;
        // In the same time, in which slower workers have fewer iterations.
        result.longest_compute_s = std::max(result.longest_compute_s, count * weight * own.compute_s);
        result.communication_s += weight * own.communication_s;
        result.exposed_communication_s += weight * own.exposed_communication_s;
        result.waiting_s += weight * own.waiting_s;
        result.idle_s += weight * own.idle_s;
    }
    return result;
}

}  // namespace syncline
