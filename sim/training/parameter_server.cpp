#include "sim/collective/parameter_server.hpp"

#include <optional>

#include "sim/training/exchange.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t server_member = 0;

/// One server, its streams, and its connections to the workers.
struct Server {
    GroupId group = 0;
    StreamId push = 0, aggregate = 0, pull = 0;
    std::vector<StreamId> worker_push, worker_pull;
    TaskId last_sent = 0;
};

Server add_server(TaskGraph& graph, const std::vector<ProcessId>& workers, std::uint32_t node) {
    Server server;
    const ProcessId process = graph.add_process({{node, Place::host}});
    std::vector<ProcessId> members{process};
    members.insert(members.end(), workers.begin(), workers.end());
    server.group = graph.add_group(std::move(members));
    server.push = graph.add_stream(process, StreamKind::push);
    server.aggregate = graph.add_stream(process, StreamKind::aggregate);
    server.pull = graph.add_stream(process, StreamKind::pull);
    for (const ProcessId worker : workers) {
        server.worker_push.push_back(graph.add_stream(worker, StreamKind::push));
        server.worker_pull.push_back(graph.add_stream(worker, StreamKind::pull));
    }
    return server;
}

}  // namespace

Last add_parameter_server(TaskGraph& graph, const std::vector<ProcessId>& workers,
                          const std::vector<std::vector<Shard>>& buckets, const Ready& ready, const Servers& plan,
                          const Cluster& cluster) {
    const auto push = std::make_shared<const Push>();
    const auto pull = std::make_shared<const Pull>();
    const auto ranks = static_cast<std::uint32_t>(workers.size());
    const double gamma = gamma_of(cluster.host.reduction_Bps);

    std::vector<Place> places;
    for (const ProcessId worker : workers) places.push_back(graph.processes()[worker].place);
    const std::uint32_t free = first_free_node(places);

    std::vector<std::optional<Server>> servers(static_cast<std::size_t>(plan.count));
    struct Aggregated {
        TaskId task;
        std::uint32_t bucket;
        Shard shard;
    };
    std::vector<Aggregated> aggregated;
    for (std::uint32_t bucket = 0; bucket < buckets.size(); ++bucket) {
        for (const Shard& shard : buckets[bucket]) {
            std::optional<Server>& server = servers[shard.server];
            if (!server) {  // a server that holds nothing is not there
                const bool colocated = plan.location == ServerLocation::colocated;
                server =
                    add_server(graph, workers,
                               colocated ? graph.processes()[workers[shard.server]].place.node : free + shard.server);
            }
            // The server's sum is a task of its own, so that it runs while the next push arrives.
            const ExchangeId exchange = graph.add_exchange({push, server->group, shard.server, shard.bytes, 0});
            const TaskId arrived = graph.add_task({server->push, Phase::push, bucket, 0, exchange, server_member});
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                const TaskId task =
                    graph.add_task({server->worker_push[rank], Phase::push, bucket, 0, exchange, rank + 1});
                if (!ready.empty()) graph.depend(task, ready[bucket][rank]);
            }
            const double sum_s = static_cast<double>(shard.bytes) * ranks * gamma;
            const TaskId sum = graph.add_task({server->aggregate, Phase::aggregate, bucket, sum_s});
            graph.depend(sum, arrived);
            aggregated.push_back({sum, bucket, shard});
        }
    }

    const StreamId barrier_stream = graph.add_stream(workers.front(), StreamKind::release);
    const TaskId barrier = graph.add_task({barrier_stream, Phase::barrier, 0, 0});
    for (const Aggregated& sum : aggregated) graph.depend(barrier, sum.task);
    for (const Aggregated& sum : aggregated) {
        Server& server = *servers[sum.shard.server];
        const ExchangeId exchange = graph.add_exchange({pull, server.group, sum.shard.server, sum.shard.bytes, 0});
        const TaskId sent = graph.add_task({server.pull, Phase::pull, sum.bucket, 0, exchange, server_member});
        graph.depend(sent, barrier);
        server.last_sent = sent;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const TaskId task =
                graph.add_task({server.worker_pull[rank], Phase::pull, sum.bucket, 0, exchange, rank + 1});
            graph.depend(task, barrier);
        }
    }

    // Synchronous: a rank goes on when every rank has everything, so that none runs ahead of the others.
    std::vector<TaskId> all_sent;
    for (const std::optional<Server>& server : servers) {
        if (server) all_sent.push_back(server->last_sent);
    }
    const Last last(ranks, all_sent);
    return last;
}

}  // namespace syncline
