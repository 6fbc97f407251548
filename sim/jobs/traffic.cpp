#include "sim/jobs/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "sim/collective/direct.hpp"

namespace syncline {

namespace {

class Flows {
public:
    Flows(const Cluster& cluster, const TrafficPlan& plan) : cluster_(cluster), plan_(plan), random_(plan.seed) {}

    TaskGraph graph() {
        const std::vector<std::int64_t>& devices = plan_.devices;
        const std::size_t count = devices.size();
        switch (plan_.kind) {
            case TrafficPlan::Kind::pairs:
                for (std::size_t i = 0; i + 1 < count; i += 2) add_paced(devices[i], devices[i + 1]);
                break;
            case TrafficPlan::Kind::incast:
                for (std::size_t i = 1; i < count; ++i) add_paced(devices[i], devices.front());
                break;
            case TrafficPlan::Kind::permutation: {
                // One cycle through all devices, in a drawn order: nobody sends to itself.
                std::vector<std::int64_t> order = devices;
                for (std::size_t left = count; left > 1; --left) std::swap(order[left - 1], order[random_() % left]);
                for (std::size_t i = 0; i < count; ++i) add_paced(order[i], order[(i + 1) % count]);
                break;
            }
            case TrafficPlan::Kind::poisson:
                add_random();
                break;
        }
        graph_.seal();
        return std::move(graph_);
    }

private:
    /// Returns a number drawn evenly from (0, 1].
    double drawn() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }

    ProcessId process(std::int64_t device) {
        const auto [found, added] = processes_.try_emplace(device, 0);
        const std::int64_t each = cluster_.node.devices;
        if (added)
            found->second = graph_.add_process(
                {Place{static_cast<std::uint32_t>(device / each), static_cast<std::uint32_t>(device % each)}});
        return found->second;
    }

    /// Adds a message, which waits for a task of the sender's that takes `seconds`.
    void add(std::int64_t from, std::int64_t to, std::uint64_t bytes, double seconds) {
        const ProcessId sender = process(from), receiver = process(to);
        Exchange exchange{message_, graph_.add_group({sender, receiver}), messages_[{from, to}]++, bytes};
        exchange.kind = ExchangeClass::point_to_point;
        exchange.buffered = true;
        const ExchangeId id = graph_.add_exchange(exchange);
        for (const std::uint32_t member : {0u, 1u}) {
            const bool sends = member == 0;
            Task task{graph_.add_stream(sends ? sender : receiver, sends ? StreamKind::transfer : StreamKind::receive),
                      Phase::communication};
            task.exchange = id;
            task.member = member;
            const TaskId added = graph_.add_task(task);
            if (!sends || seconds == 0) continue;
            graph_.depend(
                added, graph_.add_task({graph_.add_stream(sender, StreamKind::release), Phase::release, 0, seconds}));
        }
    }

    void add_paced(std::int64_t from, std::int64_t to) {
        add(from, to, plan_.bytes, plan_.rate_Bps > 0 ? static_cast<double>(plan_.bytes) / plan_.rate_Bps : 0);
    }

    void add_random() {
        const auto mean = static_cast<double>(plan_.bytes), devices = static_cast<double>(plan_.devices.size());
        const double per_s = plan_.rate_Bps * devices / mean;
        for (double start_s = -std::log(drawn()) / per_s; start_s < plan_.until_s;
             start_s -= std::log(drawn()) / per_s) {
            const std::size_t from = random_() % plan_.devices.size();
            const std::size_t to = (from + 1 + random_() % (plan_.devices.size() - 1)) % plan_.devices.size();
            const double factor =
                plan_.shape > 0 ? (plan_.shape - 1) / plan_.shape * std::pow(drawn(), -1 / plan_.shape) : 1;
            const auto bytes = static_cast<std::uint64_t>(std::max(1.0, std::round(mean * factor)));
            add(plan_.devices[from], plan_.devices[to], bytes, start_s);
        }
    }

    const Cluster& cluster_;
    const TrafficPlan& plan_;
    std::mt19937_64 random_;
    TaskGraph graph_;
    std::map<std::int64_t, ProcessId> processes_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> messages_;  ///< number, by sender and receiver
    const std::shared_ptr<const CollectiveAlgorithm> message_ =
        std::make_shared<const DirectRooted>(DirectRooted::Operation::broadcast);
};

}  // namespace

TaskGraph traffic_graph(const Cluster& cluster, const TrafficPlan& plan) {
    return Flows(cluster, plan).graph();
}

}  // namespace syncline
