#include "sim/collective/parameter_server.hpp"

#include <numeric>
#include <optional>
#include <set>

#include "sim/iteration/teams.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t server_member = 0;

/// One server, its streams, and its connections to the workers.
struct Server {
    GroupId group = 0;
    StreamId push = 0, aggregate = 0, pull = 0;
    std::vector<StreamId> worker_push, worker_pull;
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

/// Adds the tasks bucket by bucket, first all pushes, then all pulls.
class ParameterServer {
public:
    ParameterServer(TaskGraph& graph, const std::vector<ProcessId>& workers, const Servers& plan,
                    const Cluster& cluster, const Coordination& coordination)
        : graph_(graph),
          workers_(workers),
          plan_(plan),
          gamma_s_per_B_(gamma_of(cluster.host.reduction_Bps)),
          urgency_(coordination.urgency),
          teams_(graph, workers, plan.local_reduction, cluster, !urgency_.empty()),
          servers_(static_cast<std::size_t>(plan.count)) {
        std::vector<Place> places;
        for (const ProcessId leader : teams_.leaders()) places.push_back(graph.processes()[leader].place);
        nodes_ = server_nodes(plan, places);
    }

    void push(std::uint32_t bucket, const std::vector<ServerPart>& parts, const std::vector<TaskId>* ready) {
        std::uint64_t bytes = 0;
        for (const ServerPart& part : parts) bytes += part.bytes;
        const auto gathered = teams_.reduce(bucket, bytes, ready, urgency(bucket));
        const auto pushers = static_cast<std::uint32_t>(gathered.size());
        for (const ServerPart& part : parts) {
            const Server& server = at(part.server);
            // The server's reduction is a task of its own, so that it runs while the next push arrives.
            const ExchangeId exchange = graph_.add_exchange(
                {push_, server.group, part.server, part.bytes, 0, {}, ExchangeClass::point_to_point});
            const TaskId arrived =
                graph_.add_task({server.push, Phase::push, bucket, 0, exchange, server_member, urgency(bucket)});
            for (std::uint32_t i = 0; i < pushers; ++i) {
                const TaskId task =
                    graph_.add_task({server.worker_push[i], Phase::push, bucket, 0, exchange, i + 1, urgency(bucket)});
                if (gathered[i]) graph_.depend(task, *gathered[i]);
            }
            const double sum_s = static_cast<double>(part.bytes) * pushers * gamma_s_per_B_;
            const TaskId sum = graph_.add_task(
                {server.aggregate, Phase::aggregate, bucket, sum_s, Task::no_exchange, 0, urgency(bucket)});
            graph_.depend(sum, arrived);
            aggregated_.push_back({sum, bucket, part});
        }
    }

    Arrivals pull() {
        Arrivals results{{}, std::vector<std::vector<Arrival>>(workers_.size())};
        std::optional<TaskId> barrier;
        if (plan_.pull == PullStart::together) {
            const StreamId stream = graph_.add_stream(workers_.front(), StreamKind::release);
            barrier = graph_.add_task({stream, Phase::barrier, 0, 0});
            for (const Aggregated& sum : aggregated_) graph_.depend(*barrier, sum.task);
        }
        for (auto sum = aggregated_.begin(); sum != aggregated_.end();) {
            const std::uint32_t bucket = sum->bucket;
            std::uint64_t bytes = 0;
            std::vector<std::vector<TaskId>> pulled(teams_.leaders().size());
            for (; sum != aggregated_.end() && sum->bucket == bucket; ++sum) {
                const TaskId sent = pull_shard(*sum, barrier.value_or(sum->task), pulled);
                // Synchronous training: a rank continues when the servers have sent the bucket to all ranks, so that
                // none runs ahead of the others by more than a latency.
                results.everyone.push_back({bucket, sent});
                bytes += sum->part.bytes;
            }
            teams_.broadcast(bucket, bytes, pulled, urgency(bucket), results);
        }
        return results;
    }

private:
    struct Aggregated {
        TaskId task;
        std::uint32_t bucket;
        ServerPart part;
    };

    std::uint32_t urgency(std::uint32_t bucket) const { return urgency_.empty() ? 0 : urgency_[bucket]; }

    /// Returns a server, creating it on first use: a server that holds nothing is not created.
    const Server& at(std::uint32_t number) {
        std::optional<Server>& server = servers_[number];
        if (server) return *server;
        server = add_server(graph_, teams_.leaders(), nodes_[number]);
        if (!urgency_.empty()) {
            std::vector<StreamId> push = server->worker_push, pull = server->worker_pull;
            push.push_back(server->push);
            pull.push_back(server->pull);
            graph_.take_by_priority(std::move(push));
            graph_.take_by_priority({server->aggregate});
            graph_.take_by_priority(std::move(pull));
        }
        return *server;
    }

    /// Adds the server's task and returns it; the leaders' tasks are added to `pulled`.
    TaskId pull_shard(const Aggregated& sum, TaskId after, std::vector<std::vector<TaskId>>& pulled) {
        const Server& server = at(sum.part.server);
        const std::uint32_t order = urgency(sum.bucket);
        const ExchangeId exchange = graph_.add_exchange(
            {pull_, server.group, sum.part.server, sum.part.bytes, 0, {}, ExchangeClass::point_to_point});
        const TaskId sent = graph_.add_task({server.pull, Phase::pull, sum.bucket, 0, exchange, server_member, order});
        graph_.depend(sent, after);
        for (std::uint32_t i = 0; i < pulled.size(); ++i) {
            const TaskId task =
                graph_.add_task({server.worker_pull[i], Phase::pull, sum.bucket, 0, exchange, i + 1, order});
            graph_.depend(task, after);
            pulled[i].push_back(task);
        }
        return sent;
    }

    const std::shared_ptr<const Push> push_ = std::make_shared<const Push>();
    const std::shared_ptr<const Pull> pull_ = std::make_shared<const Pull>();
    TaskGraph& graph_;
    const std::vector<ProcessId>& workers_;
    const Servers& plan_;
    const double gamma_s_per_B_;
    const std::vector<std::uint32_t>& urgency_;
    Teams teams_;
    std::vector<std::optional<Server>> servers_;  // by number
    std::vector<std::uint32_t> nodes_;            // by number
    std::vector<Aggregated> aggregated_;
};

}  // namespace

std::vector<std::uint32_t> server_nodes(const Servers& servers, const std::vector<Place>& places) {
    std::vector<std::uint32_t> nodes(static_cast<std::size_t>(servers.count));
    if (!servers.colocated()) {
        std::iota(nodes.begin(), nodes.end(), first_free_node(places));
        return nodes;
    }
    const bool spread = servers.location == ServerLocation::spread;
    std::vector<std::uint32_t> hosts;
    std::set<std::uint32_t> seen;
    for (const Place& place : places)
        if (seen.insert(place.node).second || !spread) hosts.push_back(place.node);
    const bool apart = spread && nodes.size() < hosts.size();
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i] = hosts[apart ? i * hosts.size() / nodes.size() : i % hosts.size()];
    return nodes;
}

Arrivals add_parameter_server(TaskGraph& graph, const std::vector<ProcessId>& workers,
                              const std::vector<std::vector<ServerPart>>& buckets, const Ready& ready,
                              const Servers& plan, const Cluster& cluster, const Coordination& coordination) {
    ParameterServer server(graph, workers, plan, cluster, coordination);
    for (std::uint32_t bucket = 0; bucket < buckets.size(); ++bucket)
        server.push(bucket, buckets[bucket], ready.empty() ? nullptr : &ready[bucket]);
    return server.pull();
}

}  // namespace syncline
