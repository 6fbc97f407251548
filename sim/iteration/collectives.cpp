#include "sim/iteration/exchange.hpp"

#include <algorithm>
#include <set>

#include "sim/collective/parameter_server.hpp"
#include "sim/iteration/switched_exchanges.hpp"
#include "sim/taskgraph/pace.hpp"

namespace syncline {

namespace {

/// Drops arrivals that are followed by another one on the same stream.
std::vector<Arrival> last_on_streams(const TaskGraph& graph, const std::vector<Arrival>& arrivals) {
    std::vector<Arrival> last;
    std::set<StreamId> seen;
    for (auto arrival = arrivals.rbegin(); arrival != arrivals.rend(); ++arrival) {
        const StreamId stream = graph.tasks()[arrival->task].stream;
        const bool in_order = graph.streams()[stream].queue == Stream::no_queue;
        if (!in_order || seen.insert(stream).second) last.push_back(*arrival);
    }
    std::reverse(last.begin(), last.end());
    return last;
}

/// Returns a drawn urgency. Stragglers and jitter use other counters: see noise.cpp.
std::uint32_t drawn_urgency(std::uint64_t seed, std::size_t bucket) {
    constexpr std::uint64_t order = ~std::uint64_t{1};
    return static_cast<std::uint32_t>(random_bits(seed, static_cast<std::uint32_t>(bucket), order));
}

}  // namespace

Arrivals last_of(const TaskGraph& graph, const Arrivals& results) {
    Arrivals last{last_on_streams(graph, results.everyone), {}};
    for (const std::vector<Arrival>& own : results.own) last.own.push_back(last_on_streams(graph, own));
    return last;
}

Coordination coordinate(std::span<const Bucket> buckets, const Plan& plan, std::size_t first) {
    Coordination result;
    result.ahead = plan.fusion.negotiation == Negotiation::ahead;
    for (const Bucket& bucket : buckets) {
        if (plan.schedule == Schedule::priority) result.urgency.push_back(bucket.layers.back());
        if (plan.schedule == Schedule::random)
            result.urgency.push_back(drawn_urgency(plan.noise.seed, first + result.urgency.size()));
        if (plan.fusion.negotiation == Negotiation::none) continue;
        const std::uint64_t bytes = bucket.piece == 0 ? bucket.layers.size() * request_bytes_per_layer : 0;
        const bool together = result.ahead && !result.request_bytes.empty();
        if (together) result.request_bytes.front() += bytes;
        result.request_bytes.push_back(together ? 0 : bytes);
    }
    return result;
}

Arrivals add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers,
                         const std::vector<Collective>& buckets, const Ready& ready, const Cluster& cluster,
                         const Coordination& coordination) {
    std::vector<StreamId> streams;
    for (const ProcessId worker : workers) streams.push_back(graph.add_stream(worker, StreamKind::exchange));
    return add_collectives(graph, workers, streams, buckets, ready, cluster, coordination);
}

Arrivals add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<StreamId>& streams,
                         const std::vector<Collective>& buckets, const Ready& ready, const Cluster& cluster,
                         const Coordination& coordination, std::uint32_t first) {
    const auto gather = std::make_shared<const Push>();
    const auto answer = std::make_shared<const Pull>();
    const GroupId group = graph.add_group(workers);
    const auto queued = [&](StreamId stream) { return graph.streams()[stream].queue != Stream::no_queue; };
    if (!coordination.urgency.empty() && !queued(streams.front())) graph.take_by_priority(streams);
    SwitchedExchanges switches(graph, workers, streams);

    Arrivals results{{}, std::vector<std::vector<Arrival>>(workers.size())};
    std::vector<TaskId> agreed;  // by rank: the negotiation of the bucket whose pieces are added
    const bool ahead = coordination.ahead;
    for (std::uint32_t bucket = 0; bucket < buckets.size(); ++bucket) {
        const std::uint32_t urgency = coordination.urgency.empty() ? 0 : coordination.urgency[bucket];
        /// Adds an exchange for every rank, after the tasks it waits for: its gradients, the negotiation, or both.
        const auto add = [&](const Exchange& exchange, const std::vector<TaskId>* after,
                             const std::vector<TaskId>* and_after = nullptr) {
            const ExchangeId id = graph.add_exchange(exchange);
            std::vector<TaskId> tasks;
            for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
                if (streams[rank] == no_stream) {
                    tasks.push_back(no_task);
                    continue;
                }
                tasks.push_back(graph.add_task({streams[rank], buckets[bucket].phase, first + bucket, 0, id, rank,
                                                urgency, buckets[bucket].micro_batch}));
                if (after) graph.depend(tasks.back(), (*after)[rank]);
                if (and_after) graph.depend(tasks.back(), (*and_after)[rank]);
            }
            return tasks;
        };
        const std::vector<TaskId>* const own = ready.empty() ? nullptr : &ready[bucket];
        const bool negotiated = !coordination.request_bytes.empty();
        if (negotiated && coordination.request_bytes[bucket] > 0) {
            const std::uint64_t bytes = coordination.request_bytes[bucket];
            constexpr ExchangeClass by = ExchangeClass::host;
            const std::vector<TaskId> asked = add({gather, group, 0, bytes, 0, {}, by}, ahead ? nullptr : own);
            agreed = add({answer, group, 0, bytes, 0, {}, by}, &asked);
        }
        const Collective& collective = buckets[bucket];
        std::vector<TaskId> tasks;
        for (const Collective::Link& link : collective.links) {
            const std::vector<TaskId>* after = negotiated ? &agreed : own;
            const std::vector<TaskId>* and_after = negotiated && ahead ? own : nullptr;
            if (!tasks.empty()) {
                after = &tasks;
                and_after = nullptr;
                for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
                    if (streams[rank] == no_stream) continue;
                    const TaskId before = tasks[rank];
                    tasks[rank] = graph.add_task(
                        {streams[rank], Phase::factor, first + bucket, link.before_s, Task::no_exchange, 0, urgency});
                    graph.depend(tasks[rank], before);
                }
            }
            const auto in_network = std::dynamic_pointer_cast<const InNetwork>(link.algorithm);
            tasks = in_network && in_network->tree().ranks() > 1
                        ? switches.add(in_network, first + bucket, link.bytes, link.protocol, after, and_after)
                        : add({link.algorithm, group, collective.tag, link.bytes, gamma_of(reduction_Bps(cluster)),
                               link.protocol, collective.kind},
                              after, and_after);
        }
        for (std::uint32_t rank = 0; rank < workers.size(); ++rank)
            if (tasks[rank] != no_task) results.own[rank].push_back({first + bucket, tasks[rank]});
    }
    return results;
}

}  // namespace syncline
