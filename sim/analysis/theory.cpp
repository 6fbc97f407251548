#include "sim/analysis/theory.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "sim/analysis/carried_cost.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/platform/wiring.hpp"
#include "sim/training/exchange.hpp"
#include "sim/training/iteration.hpp"
#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

MessageCost flat_message_cost(const Cluster& cluster, double reduction_Bps) {
    const TopologySpec& star = cluster.fabric.topology;
    const double bandwidth_Bps = std::min(star.bandwidth_Bps.front(), cluster.transport.host_Bps);
    return {2 * star.latency_s.front(), 1 / bandwidth_Bps, 1 / reduction_Bps};
}

/// When the last bucket has been exchanged. No order leaves the streams idle while a bucket is ready, so the end is the
/// same for all.
std::optional<double> collectives_end(const std::vector<Bucket>& buckets, const Cluster& cluster,
                                      const std::vector<Place>& places, const CollectiveAlgorithm& algorithm,
                                      const MessageCost& message, const std::vector<std::uint64_t>& request_bytes) {
    const MessageCost unreduced{message.alpha_s, message.beta_s_per_B, 0};
    const auto ranks = static_cast<std::uint32_t>(places.size());
    double end_s = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const std::optional<double> cost_s = carried_cost(cluster, places, algorithm, buckets[b].bytes, message);
        if (!cost_s) return std::nullopt;
        end_s = std::max(end_s, buckets[b].release_s);
        if (!request_bytes.empty() && request_bytes[b] > 0)
            end_s +=
                *Push().cost(ranks, request_bytes[b], unreduced) + *Pull().cost(ranks, request_bytes[b], unreduced);
        end_s += *cost_s;
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
    const bool each = plan.servers.pull == PullStart::each;
    if (each && colocated) return std::nullopt;  // pushes and pulls share links
    if (plan.schedule != Schedule::fifo) return std::nullopt;
    const MessageCost message = flat_message_cost(cluster, cluster.host.reduction_Bps);
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
            double& pull = pulled[shard.server];
            pull = (each ? std::max(pull, sum) : pull) + transfer_s(shard.bytes);
            active.insert(shard.server);
        }
    }
    if (active.size() > static_cast<std::size_t>(plan.ranks))
        return std::nullopt;  // workers' links are the narrow ones
    const double last_s = *std::max_element(pulled.begin(), pulled.end());
    return each ? last_s : *std::max_element(summed.begin(), summed.end()) + last_s;
}

/// What every message of a ring around the ranks costs, if all cost the same and no two share a link.
std::optional<MessageCost> ring_message_cost(const Cluster& cluster, const std::vector<Place>& places) {
    Wiring wiring(cluster, first_free_node(places));
    std::vector<bool> taken(wiring.links(), false);
    std::optional<MessageCost> common;
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        std::vector<Wiring::Link> links;
        wiring.route(places[rank], places[(rank + 1) % places.size()], links);
        double narrowest_Bps = unlimited;
        for (const Wiring::Link link : links) {
            if (taken[link]) return std::nullopt;
            taken[link] = true;
            narrowest_Bps = std::min(narrowest_Bps, wiring.wire(link).bandwidth_Bps);
        }
        const MessageCost cost{wiring.latency_s(links), 1 / narrowest_Bps, 1 / reduction_Bps(cluster)};
        if (!common) common = cost;
        if (cost.alpha_s != common->alpha_s || cost.beta_s_per_B != common->beta_s_per_B) return std::nullopt;
    }
    return common;
}

}  // namespace

std::optional<MessageCost> message_cost(const Cluster& cluster, const std::vector<Place>& places,
                                        const std::string& algorithm) {
    if (cluster.network != NetworkModel::exact || cluster.native) return std::nullopt;
    const bool served = algorithm == served_allreduce;
    if (served && !wires_only(cluster.transport)) return std::nullopt;
    const double rate_Bps = served ? cluster.host.reduction_Bps : reduction_Bps(cluster);
    if (is_flat(cluster)) return flat_message_cost(cluster, rate_Bps);
    return algorithm == "ring" ? ring_message_cost(cluster, places) : std::nullopt;
}

bool leaves_idle(const CollectiveAlgorithm& algorithm, std::uint32_t ranks) {
    for (std::uint32_t round = 0; round < algorithm.period(); ++round) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            if (algorithm.program(rank, ranks, 0, round).steps.empty()) return true;
        }
    }
    return false;
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

    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    const bool served = plan.exchange == ExchangeKind::parameter_server;
    const auto algorithm = served ? nullptr : make_algorithm(plan.algorithm, ranks);
    const std::vector<Place> places = place_ranks(cluster, plan.placement, ranks);
    std::optional<MessageCost> message;
    if (served || !leaves_idle(*algorithm, ranks))
        message = message_cost(cluster, places, served ? served_allreduce : plan.algorithm.name);
    const std::vector<std::uint64_t> request_bytes = coordinate(buckets, plan).request_bytes;
    if (!request_bytes.empty() && (!is_flat(cluster) || !wires_only(cluster.transport))) message.reset();
    const auto end_s = [&](const std::vector<Bucket>& released) -> std::optional<double> {
        if (!message) return std::nullopt;
        return served ? parameter_server_end(released, cluster, plan)
                      : collectives_end(released, cluster, places, *algorithm, *message, request_bytes);
    };
    std::vector<Bucket> at_once = buckets;
    for (Bucket& bucket : at_once) bucket.release_s = 0;
    ClosedForm result{
        served ? "2(α + max over servers of its bytes·N·β) + sums" : algorithm->formula(), end_s(at_once), {}};
    if (served && plan.servers.pull == PullStart::each)
        result.formula = "per tensor: α + N·S·β, sum, α + N·S·β, each in order";
    if (plan.overlap == Overlap::across_iterations) {
        result.formula += "; none for iterations that reach into each other";
        return result;
    }
    if (const std::optional<double> last_s = end_s(buckets)) result.iteration_time_s = std::max(least_s, *last_s);
    return result;
}

}  // namespace syncline
