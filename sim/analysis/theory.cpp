#include "sim/analysis/theory.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "sim/training/buckets.hpp"
#include "sim/training/iteration.hpp"
#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

/// When the last bucket has been all-reduced.
double allreduce_end(const std::vector<Bucket>& buckets, const Cluster& cluster, const Plan& plan) {
    const CollectiveAlgorithm& algorithm = allreduce_algorithm(plan.algorithm);
    const MessageCost message = message_cost(cluster, cluster.device.reduction_Bps);
    double end_s = 0;
    for (const Bucket& bucket : buckets) {
        end_s = std::max(end_s, bucket.release_s) +
                algorithm.cost(static_cast<std::uint32_t>(plan.ranks), bucket.bytes, message);
    }
    return end_s;
}

/// When the last pull has ended, if all ranks start together.
std::optional<double> parameter_server_end(const std::vector<Bucket>& buckets, const Cluster& cluster,
                                           const Plan& plan) {
    const std::vector<std::vector<Shard>> placed = place(buckets, plan.servers);
    const auto servers = static_cast<std::size_t>(plan.servers.count);
    const auto workers = static_cast<double>(plan.ranks);
    const bool colocated = plan.servers.location == ServerLocation::colocated;
    const MessageCost message = message_cost(cluster, cluster.host.reduction_Bps);
    // One server's messages with all workers; one worker may live on the server's own node.
    const auto transfer_s = [&](std::uint64_t bytes) {
        const auto size = static_cast<double>(bytes);
        const double remote_s = message.alpha_s + (colocated ? workers - 1 : workers) * size * message.beta_s_per_B;
        return std::max(remote_s, colocated ? size / cluster.host.loopback_Bps : 0);
    };

    std::vector<double> pushed(servers, 0), summed(servers, 0), pulled(servers, 0);
    std::set<std::uint32_t> active;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        for (const Shard& shard : placed[b]) {
            double& push = pushed[shard.server];
            push = std::max(push, buckets[b].release_s) + transfer_s(shard.bytes);
            double& sum = summed[shard.server];
            sum = std::max(sum, push) + static_cast<double>(shard.bytes) * workers * message.gamma_s_per_B;
            pulled[shard.server] += transfer_s(shard.bytes);
            active.insert(shard.server);
        }
    }
    if (active.size() > static_cast<std::size_t>(plan.ranks))
        return std::nullopt;  // workers' links are the narrow ones
    return *std::max_element(summed.begin(), summed.end()) + *std::max_element(pulled.begin(), pulled.end());
}

}  // namespace

MessageCost message_cost(const Cluster& cluster, double reduction_Bps) {
    return {cluster.route_latency_s(), 1 / cluster.fabric.bandwidth_Bps, 1 / reduction_Bps};
}

ClosedForm closed_form(const Cluster& cluster, const Model& model, const Plan& plan) {
    if (cluster.network != NetworkModel::exact) return {"none for this network model", {}, {}};
    const std::vector<LayerTime> times = layer_times(model, cluster.device, plan.batch_per_rank);
    const double copy_s = input_copy_seconds(cluster, model, plan);
    double compute_end_s = plan.input_copy == InputCopy::blocking ? copy_s : 0;
    const std::vector<Bucket> buckets = make_buckets(model, times, compute_end_s, plan);
    for (const LayerTime& time : times) compute_end_s += time.forward_s + time.backward_s;
    const double least_s = plan.input_copy == InputCopy::overlapped ? std::max(compute_end_s, copy_s) : compute_end_s;
    if (plan.ranks == 1 || buckets.empty()) return {"no exchange", 0.0, least_s};

    std::vector<Bucket> at_once = buckets;
    for (Bucket& bucket : at_once) bucket.release_s = 0;
    if (plan.exchange == ExchangeKind::allreduce) {
        return {allreduce_algorithm(plan.algorithm).formula(), allreduce_end(at_once, cluster, plan),
                std::max(least_s, allreduce_end(buckets, cluster, plan))};
    }
    ClosedForm result{
        "2(α + max over servers of its bytes·N·β) + sums", parameter_server_end(at_once, cluster, plan), {}};
    const std::optional<double> end_s = parameter_server_end(buckets, cluster, plan);
    if (end_s) result.iteration_time_s = std::max(least_s, *end_s);
    return result;
}

}  // namespace syncline
