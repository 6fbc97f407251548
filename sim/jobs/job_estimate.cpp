#include "sim/jobs/job_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/iteration/forecast.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

/// Returns the training on the first devices; nothing if it cannot run there.
std::optional<Lowered> lowered(Cluster cluster, const JobPlan& job) {
    cluster.device = job.device;
    try {
        return lower(std::move(cluster), job.model, job.plan);
    } catch (const ParallelismError&) {
    } catch (const AlgorithmError&) {
    }
    return std::nullopt;
}

/// Returns whether the job before this one is a copy of the same job.
bool repeats(const JobsPlan& plan, std::size_t number) {
    return number > 0 && plan.jobs[number].written == plan.jobs[number - 1].written;
}

/// Exchanges in which every rank sends its data twice over a port of this bandwidth.
class OverPorts : public Prices {
public:
    explicit OverPorts(double port_Bps) : port_Bps_(port_Bps) {}
    double exchange_s(StageRanks, const Grouping&, const CollectiveAlgorithm&, const AlgorithmSpec&,
                      std::uint64_t bytes, const Protocol&) override {
        return 2 * static_cast<double>(bytes) / port_Bps_;
    }
    double transfer_s(StageRanks, std::uint32_t, std::uint64_t bytes) override {
        return static_cast<double>(bytes) / port_Bps_;
    }

private:
    double port_Bps_;
};

/// Returns the bandwidth of the first node's first port.
double port_Bps(const Cluster& cluster) {
    constexpr double unknown = 1e9;
    if (cluster.native || cluster.nodes == 0) return unknown;
    const Wiring wiring(cluster, static_cast<std::uint32_t>(cluster.nodes));
    for (Wiring::Link link = 0; link < wiring.links() && wiring.in_fabric(link); ++link)
        if (wiring.hop(link).from < wiring.fabric().hosts) return wiring.hop(link).wire.bandwidth_Bps;
    return unknown;
}

/// Adds what the flows of other traffic need. Those of `poisson` are all built before they are replayed; others send
/// for `seconds`.
void add_flows(Estimate& sum, const Cluster& cluster, const TrafficPlan& traffic, double seconds) {
    constexpr double tasks = 3, task_B = 110 + 35, message_B = 250, task_s = 0.6e-6, message_s = 0.3e-6 + 2 * 0.9e-6;
    if (traffic.kind == TrafficPlan::Kind::poisson) {
        const double flows = traffic.flows();
        sum.messages += flows;
        sum.memory_bytes += flows * (tasks * task_B + message_B);
        sum.time_s += flows * (tasks * task_s + message_s);
        return;
    }
    const double devices = static_cast<double>(traffic.devices.size()), ports_Bps = port_Bps(cluster);
    double all_Bps = ports_Bps;  // of an incast: those of its receiver
    double senders = devices - 1;
    if (traffic.kind != TrafficPlan::Kind::incast) {
        senders = traffic.kind == TrafficPlan::Kind::pairs ? devices / 2 : devices;
        all_Bps *= senders / static_cast<double>(cluster.node.devices);
    }
    if (traffic.rate_Bps > 0) all_Bps = std::min(all_Bps, senders * traffic.rate_Bps);
    const double messages = all_Bps * seconds / static_cast<double>(traffic.bytes);
    sum.messages += messages;
    sum.time_s += messages * message_s;
}

}  // namespace

Estimate estimate(const Cluster& cluster, const JobsPlan& plan) {
    constexpr double base_B = 45e6;  // of each estimate
    Estimate sum, one;
    sum.memory_bytes = base_B;
    double iteration_s = 0, last_s = 0, held_s = 0;
    OverPorts ports(port_Bps(cluster));
    for (std::size_t number = 0; number < plan.jobs.size(); ++number) {
        const JobPlan& job = plan.jobs[number];
        if (!repeats(plan, number)) {
            one = {};
            iteration_s = 0;
            if (job.trace) {
                one = estimate(cluster, *job.trace);
            } else if (const std::optional<Lowered> training = lowered(cluster, job)) {
                one = estimate(*training);
                iteration_s = forecast(*training, ports).time_s;
            }
        }
        const bool timed = job.duration_s > 0 && iteration_s > 0;
        const double iterations = timed ? std::max(1.0, std::round(job.duration_s / iteration_s)) : job.iterations();
        last_s = std::max(last_s, job.arrival_s + iterations * iteration_s);
        held_s += iterations * iteration_s * static_cast<double>(job.ranks());
        const double simulated = std::max<double>(1, one.iterations);
        const double times = one.fidelity.folds ? 1 : 2 * iterations / simulated;
        sum.messages += one.messages * times;
        sum.time_s += one.time_s * times;
        sum.memory_bytes += std::max(0.0, one.memory_bytes - base_B);
        sum.iterations = std::max(sum.iterations, job.iterations());
        sum.fidelity = one.fidelity;
    }
    last_s =
        std::max(last_s, held_s / static_cast<double>(std::max<std::int64_t>(1, cluster.nodes) * cluster.node.devices));
    for (const TrafficPlan& traffic : plan.traffic) add_flows(sum, cluster, traffic, last_s);
    return sum;
}

std::vector<JobMemory> memory_of(const Cluster& cluster, const JobsPlan& plan) {
    std::vector<JobMemory> all;
    for (std::size_t number = 0; number < plan.jobs.size(); ++number) {
        const JobPlan& job = plan.jobs[number];
        if (job.trace || repeats(plan, number)) continue;
        if (const std::optional<Lowered> training = lowered(cluster, job))
            all.push_back({job.name, job.written, memory_of(*training)});
    }
    return all;
}

}  // namespace syncline
