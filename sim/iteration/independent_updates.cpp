#include "sim/collective/parameter_server.hpp"
#include "sim/iteration/exchange.hpp"

#include <optional>

namespace syncline {

namespace {

/// One server, its streams for each worker, and the workers' streams to it.
struct UpdateServer {
    ProcessId process = 0;
    std::vector<GroupId> groups;  ///< the server, member 0, and the worker
    std::vector<StreamId> push, apply, pull, worker_push, worker_pull;
};

class UpdatesByWorker {
public:
    UpdatesByWorker(TaskGraph& graph, const std::vector<ProcessId>& workers, const Servers& plan,
                    const Cluster& cluster)
        : graph_(graph),
          workers_(workers),
          plan_(plan),
          gamma_s_per_B_(gamma_of(cluster.host.reduction_Bps)),
          servers_(static_cast<std::size_t>(plan.count)) {
        std::vector<Place> places;
        for (const ProcessId worker : workers) places.push_back(graph.processes()[worker].place);
        nodes_ = server_nodes(plan, places);
    }

    void push(std::uint32_t bucket, const ServerPart& part, const std::vector<TaskId>* ready) {
        const UpdateServer& server = at(part.server);
        Applied applied{bucket, part, {}};
        for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
            const ExchangeId exchange = graph_.add_exchange(
                {push_, server.groups[worker], part.server, part.bytes, 0, {}, ExchangeClass::point_to_point});
            const TaskId arrived = graph_.add_task({server.push[worker], Phase::push, bucket, 0, exchange, 0});
            const TaskId sent = graph_.add_task({server.worker_push[worker], Phase::push, bucket, 0, exchange, 1});
            if (ready != nullptr) {
                graph_.depend(sent, (*ready)[worker]);
                // Both sides decide at one instant whether a late worker's gradients are pushed.
                if (plan_.backup_workers > 0) graph_.depend(arrived, (*ready)[worker]);
            }
            const double seconds = static_cast<double>(part.bytes) * gamma_s_per_B_;
            const TaskId apply = graph_.add_task({server.apply[worker], Phase::aggregate, bucket, seconds});
            graph_.depend(apply, arrived);
            applied.by_worker.push_back(apply);
            if (plan_.backup_workers > 0) late_.insert(late_.end(), {arrived, sent, apply});
        }
        applied_.push_back(std::move(applied));
    }

    Arrivals pull() {
        Arrivals results{{}, std::vector<std::vector<Arrival>>(workers_.size())};
        std::optional<Gate> together;
        if (plan_.pull == PullStart::together || plan_.backup_workers > 0) together = gate(applied_);
        for (const Applied& applied : applied_) {
            const Gate gate = together ? *together : this->gate({applied});
            const UpdateServer& server = at(applied.part.server);
            for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
                const ExchangeId exchange = graph_.add_exchange({pull_,
                                                                 server.groups[worker],
                                                                 applied.part.server,
                                                                 applied.part.bytes,
                                                                 0,
                                                                 {},
                                                                 ExchangeClass::point_to_point});
                const TaskId sent = graph_.add_task({server.pull[worker], Phase::pull, applied.bucket, 0, exchange, 0});
                const TaskId pulled =
                    graph_.add_task({server.worker_pull[worker], Phase::pull, applied.bucket, 0, exchange, 1});
                for (const TaskId side : {sent, pulled}) {
                    if (plan_.backup_workers == 0) graph_.depend(side, gate.own[worker]);
                    if (gate.all) graph_.depend(side, *gate.all, static_cast<std::uint32_t>(plan_.staleness));
                }
                results.own[worker].push_back({applied.bucket, pulled});
            }
        }
        return results;
    }

private:
    /// A part of a bucket, and the tasks that apply it.
    struct Applied {
        std::uint32_t bucket;
        ServerPart part;
        std::vector<TaskId> by_worker;
    };

    /// Tasks that pulls wait for.
    struct Gate {
        std::vector<TaskId> own;    ///< by worker: its own gradients are applied
        std::optional<TaskId> all;  ///< those of all workers, or of as many as an update takes
    };

    /// Returns the gate of pulls that follow these.
    Gate gate(const std::vector<Applied>& applied) {
        Gate gate;
        const bool one = applied.size() == 1;
        for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
            if (one) {
                gate.own.push_back(applied.front().by_worker[worker]);
                continue;
            }
            const StreamId stream = graph_.add_stream(workers_[worker], StreamKind::release);
            gate.own.push_back(graph_.add_task({stream, Phase::barrier, 0, 0}));
            for (const Applied& each : applied) graph_.depend(gate.own.back(), each.by_worker[worker]);
        }
        const bool backed_up = plan_.backup_workers > 0;
        if (plan_.updates == Updates::asynchronous) return gate;
        const StreamId stream = graph_.add_stream(at(applied.front().part.server).process, StreamKind::release);
        gate.all = graph_.add_task({stream, Phase::barrier, 0, 0});
        for (const TaskId own : gate.own) graph_.depend(*gate.all, own);
        if (backed_up) {
            const auto first = static_cast<std::int64_t>(workers_.size()) - plan_.backup_workers;
            graph_.wait_for_first(*gate.all, static_cast<std::uint32_t>(first));
            give_up_late(*gate.all);
        }
        return gate;
    }

    /// Gives up the rest of the iteration when `enough` have pushed.
    void give_up_late(TaskId enough) {
        for (TaskId task = 0; task < enough; ++task)
            if (graph_.streams()[graph_.tasks()[task].stream].kind == StreamKind::compute) graph_.give_up(task, enough);
        for (const TaskId task : late_) graph_.give_up(task, enough);
    }

    /// Returns a server, creating it on first use: a server that holds nothing is not created.
    const UpdateServer& at(std::uint32_t number) {
        std::optional<UpdateServer>& server = servers_[number];
        if (server) return *server;
        server.emplace();
        server->process = graph_.add_process({{nodes_[number], Place::host}});
        for (const ProcessId worker : workers_) {
            server->groups.push_back(graph_.add_group({server->process, worker}));
            server->push.push_back(graph_.add_stream(server->process, StreamKind::push));
            server->apply.push_back(graph_.add_stream(server->process, StreamKind::aggregate));
            server->pull.push_back(graph_.add_stream(server->process, StreamKind::pull));
            server->worker_push.push_back(graph_.add_stream(worker, StreamKind::push));
            server->worker_pull.push_back(graph_.add_stream(worker, StreamKind::pull));
        }
        graph_.take_turns(server->apply);
        return *server;
    }

    const std::shared_ptr<const Push> push_ = std::make_shared<const Push>();
    const std::shared_ptr<const Pull> pull_ = std::make_shared<const Pull>();
    TaskGraph& graph_;
    const std::vector<ProcessId>& workers_;
    const Servers& plan_;
    const double gamma_s_per_B_;
    std::vector<std::optional<UpdateServer>> servers_;  // by number
    std::vector<std::uint32_t> nodes_;                  // by number
    std::vector<Applied> applied_;
    std::vector<TaskId> late_;  // tasks that are given up
};

}  // namespace

Arrivals add_updates_by_worker(TaskGraph& graph, const std::vector<ProcessId>& workers,
                               const std::vector<std::vector<ServerPart>>& buckets, const Ready& ready,
                               const Servers& servers, const Cluster& cluster) {
    UpdatesByWorker updates(graph, workers, servers, cluster);
    for (std::uint32_t bucket = 0; bucket < buckets.size(); ++bucket)
        for (const ServerPart& part : buckets[bucket])
            updates.push(bucket, part, ready.empty() ? nullptr : &ready[bucket]);
    return updates.pull();
}

}  // namespace syncline
