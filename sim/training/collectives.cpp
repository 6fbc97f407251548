#include "sim/training/exchange.hpp"

namespace syncline {

Last add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<Collective>& buckets,
                     const Ready& ready, const Cluster& cluster) {
    const GroupId group = graph.add_group(workers);
    std::vector<StreamId> streams;
    for (const ProcessId worker : workers) streams.push_back(graph.add_stream(worker, StreamKind::exchange));

    Last last(workers.size());
    for (std::uint32_t bucket = 0; bucket < buckets.size(); ++bucket) {
        const Collective& collective = buckets[bucket];
        const ExchangeId exchange = graph.add_exchange(
            {collective.algorithm, group, 0, collective.bytes, gamma_of(reduction_Bps(cluster)), collective.protocol});
        for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
            const TaskId task = graph.add_task({streams[rank], Phase::exchange, bucket, 0, exchange, rank});
            if (!ready.empty()) graph.depend(task, ready[bucket][rank]);
            last[rank] = {task};
        }
    }
    return last;
}

}  // namespace syncline
