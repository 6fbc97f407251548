#include "sim/analysis/theory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "sim/analysis/carried_cost.hpp"
#include "sim/analysis/split_cost.hpp"
#include "sim/analysis/switched_cost.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/platform/wiring.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

MessageCost flat_message_cost(const Cluster& cluster, double reduction_Bps) {
    const TopologySpec& star = cluster.fabric.topology;
    const double bandwidth_Bps = std::min(star.bandwidth_Bps.front(), cluster.transport.host_Bps);
    return {2 * star.latency_s.front(), 1 / bandwidth_Bps, 1 / reduction_Bps, latency_travels(cluster)};
}

/// Returns the end of the last bucket's exchange, if the first may start after `negotiation_s`. It is the same for
/// every order of buckets, since no order leaves the streams idle while a bucket is ready.
std::optional<double> collectives_end(const std::vector<Bucket>& buckets,
                                      const std::vector<std::optional<double>>& costs_s, double negotiation_s) {
    double end_s = negotiation_s;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        if (!costs_s[b]) return std::nullopt;
        end_s = std::max(end_s, buckets[b].release_s) + *costs_s[b];
    }
    return end_s;
}

/// Returns the end of the last pull if all ranks start together.
std::optional<double> parameter_server_end(const std::vector<Bucket>& buckets, const Cluster& cluster,
                                           const Plan& plan) {
    const std::vector<std::vector<ServerPart>> placed = place(buckets, plan.servers);
    const auto servers = static_cast<std::size_t>(plan.servers.count);
    const auto workers = static_cast<double>(plan.ranks);
    const bool colocated = plan.servers.colocated();
    const bool each = plan.servers.pull == PullStart::each;
    if (each && colocated) return std::nullopt;  // pushes and pulls share links
    if (plan.schedule != Schedule::fifo) return std::nullopt;
    const MessageCost message = flat_message_cost(cluster, cluster.host.reduction_Bps);
    // One server's messages with all workers; one worker may be on the server's own node.
    const auto transfer_s = [&](std::uint64_t bytes) {
        const auto size = static_cast<double>(bytes);
        const double remote_s = message.alpha_s + (colocated ? workers - 1 : workers) * size * message.beta_s_per_B;
        return std::max(remote_s, colocated ? size / cluster.host.loopback_Bps : 0);
    };

    std::vector<double> pushed(servers, 0), summed(servers, 0), pulled(servers, 0);
    std::set<std::uint32_t> active;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        for (const ServerPart& part : placed[b]) {
            double& push = pushed[part.server];
            push = std::max(push, buckets[b].release_s) + transfer_s(part.bytes);
            double& sum = summed[part.server];
            sum = std::max(sum, push) + static_cast<double>(part.bytes) * workers * message.gamma_s_per_B;
            double& pull = pulled[part.server];
            pull = (each ? std::max(pull, sum) : pull) + transfer_s(part.bytes);
            active.insert(part.server);
        }
    }
    if (active.size() > static_cast<std::size_t>(plan.ranks))
        return std::nullopt;  // the workers' links are the bottleneck
    const double last_s = *std::max_element(pulled.begin(), pulled.end());
    return each ? last_s : *std::max_element(summed.begin(), summed.end()) + last_s;
}

/// Returns the cost of a message in a ring of the ranks; empty unless all messages cost the same and no two share a
/// link.
std::optional<MessageCost> ring_message_cost(const Cluster& cluster, const std::vector<Place>& places) {
    Wiring wiring(cluster, first_free_node(places));
    if (wiring.policy() == Routing::Policy::adaptive_at_start && !wiring.single_way()) return std::nullopt;
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
        const MessageCost cost{wiring.latency_s(links), 1 / narrowest_Bps, 1 / reduction_Bps(cluster),
                               latency_travels(cluster)};
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

std::optional<double> ExchangeCosts::of(const Chosen& chosen, std::uint64_t bytes) {
    if (const auto* switched = dynamic_cast<const InNetwork*>(chosen.algorithm.get()))
        return switched_cost(cluster_, places_, *switched, bytes);
    const auto [message, added] = messages_.try_emplace(chosen.spec.name);
    // Channels take the ranks in other orders, over links of which some are shared and others are not.
    if (chosen.algorithm->parts() > 1 && !is_flat(cluster_)) return std::nullopt;
    if (added) message->second = message_cost(cluster_, places_, chosen.spec.name);
    if (!message->second) return std::nullopt;
    return carried_cost(cluster_, places_, *chosen.algorithm, bytes, *message->second, chosen.protocol);
}

namespace {

/// Returns the cost of each bucket's exchange, empty without a closed form, and the formulas of the algorithms in use.
std::pair<std::vector<std::optional<double>>, std::string> price(const Cluster& cluster,
                                                                 const std::vector<Place>& places,
                                                                 const std::vector<Bucket>& buckets,
                                                                 const std::vector<Chosen>& chosen) {
    ExchangeCosts costs(cluster, places);
    std::map<const CollectiveAlgorithm*, bool> idle;
    std::vector<std::optional<double>> costs_s;
    std::vector<std::string> formulas;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const CollectiveAlgorithm* algorithm = chosen[b].algorithm.get();
        const auto [known, added] = idle.try_emplace(algorithm);
        if (added) {
            // After a chain whose latency travels the first ranks are ahead of the last ones in the next exchange.
            known->second = leaves_idle(*algorithm, static_cast<std::uint32_t>(places.size())) ||
                            (chosen[b].spec.peers == Peers::machine && latency_travels(cluster));
            if (std::string formula = algorithm->formula(latency_travels(cluster)); !formula.empty())
                formulas.push_back(std::move(formula));
        }
        costs_s.push_back(known->second ? std::nullopt : costs.of(chosen[b], buckets[b].bytes));
    }
    return {costs_s, formulas.empty() ? no_formula : fmt::format("{}", fmt::join(formulas, "; or "))};
}

/// Adds the requests that rank 0 gathers and answers before each bucket: see Coordination. Returns the cost of those
/// that precede all buckets.
double add_requests(std::vector<std::optional<double>>& costs_s, const Cluster& cluster, std::uint32_t ranks,
                    const std::vector<Bucket>& buckets, const std::vector<Chosen>& chosen,
                    const Coordination& coordination) {
    const std::vector<std::uint64_t>& request_bytes = coordination.request_bytes;
    double before_s = 0;
    if (request_bytes.empty()) return before_s;
    const bool exact = is_flat(cluster) && wires_only(cluster.transport);
    for (std::size_t b = 0; b < costs_s.size(); ++b) {
        // If some rank ends before the others, its next request overlaps with their remaining exchange.
        if (!exact || !in_step(*chosen[b].algorithm, ranks, buckets[b].bytes)) costs_s[b].reset();
        if (!costs_s[b] || request_bytes[b] == 0) continue;
        const MessageCost message = flat_message_cost(cluster, unlimited);
        const double requests_s =
            *Push().cost(ranks, request_bytes[b], message) + *Pull().cost(ranks, request_bytes[b], message);
        (coordination.ahead ? before_s : *costs_s[b]) += requests_s;
    }
    return before_s;
}

/// Returns why the iteration has no closed form, although its exchanges may have one; else nothing.
std::string why_none_of_iteration(const Cluster& cluster, const Plan& plan) {
    if (plan.overlap == Overlap::across_iterations) return "none for overlapping iterations";
    if (plan.noise.any()) return "none for iterations with jitter or stragglers";
    if (plan.offload == Offload::gradients)
        return "none where gradients are copied to the host during the backward pass";
    if (plan.compression.any()) return "none where gradients are encoded and decoded";
    const bool overlaps = plan.overlap != Overlap::none || plan.fusion.negotiation == Negotiation::ahead;
    if (overlaps && speed_beside_exchange(cluster).slows())
        return "none where exchanges slow down concurrent computation";
    return "";
}

/// Returns why exchanges that have no closed form have none.
std::string why_none_of_exchanges(const Lowered& training) {
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    const bool costs = !wires_only(cluster.transport), flat = is_flat(cluster);
    if (cluster.native) return "none for a platform in SimGrid's format";
    if (training.served()) {
        if (costs) return "none for a parameter server if the transport has costs";
        if (!flat) return "none for a parameter server, except on one switch";
        if (plan.servers.pull == PullStart::each && plan.servers.colocated())
            return "none where pushes and pulls share links";
        if (plan.schedule != Schedule::fifo) return "none for a parameter server, except with `schedule: fifo`";
        return "none if more servers than ranks are in use";
    }
    const auto ring = [](const Chosen& chosen) { return chosen.spec.name == "ring"; };
    if (!flat && !std::all_of(training.exchanges.begin(), training.exchanges.end(), ring))
        return "none on this fabric, except for a ring";
    if (plan.fusion.negotiation != Negotiation::none && (costs || !flat))
        return "none with negotiation, except on one switch without costs of the transport";
    if (!flat) return "none where routes of a ring share links or differ, or blocks differ in size";
    return costs ? "none where blocks differ in size, or ranks are idle or kept out of step by the transport's costs"
                 : "none where blocks differ in size, or ranks are idle or out of step";
}

/// Returns the closed form of an iteration in which every rank has the whole model, without the reason.
ClosedForm data_closed_form(const Lowered& training) {
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    const double copy_s = training.input_copy_s;
    double compute_end_s = plan.input_copy == InputCopy::blocking ? copy_s : 0;
    const std::vector<Bucket>& buckets = training.buckets;
    for (const PlacedLayer& layer : training.arrangement.layers)
        compute_end_s += layer.time.forward_s + layer.time.backward_s() + layer.recompute_s;
    // The optimizer's step follows the passes and the exchanges.
    const auto iteration_s = [&](double gradients_s) {
        const double busy_s = std::max(compute_end_s, gradients_s) + training.steps.front().total_s();
        return plan.input_copy == InputCopy::overlapped ? std::max(busy_s, copy_s) : busy_s;
    };
    if (buckets.empty()) {
        const bool none = plan.noise.any() || plan.offload == Offload::gradients;
        return {no_exchange, 0.0, none ? std::nullopt : std::optional(iteration_s(0))};
    }

    const bool served = training.served();
    const std::vector<Place>& places = training.places;
    std::vector<std::optional<double>> costs_s;
    double negotiation_s = 0;
    std::string formula = "2(α + max over servers of its bytes·N·β) + reductions";
    if (served && plan.servers.pull == PullStart::each)
        formula = "per tensor: α + N·S·β, reduction, α + N·S·β, each in order";
    if (!served) {
        std::tie(costs_s, formula) = price(cluster, places, buckets, training.exchanges);
        if (formula == no_formula) return {no_formula, {}, {}, no_formula};
        if (!training.second_exchanges.empty()) costs_s.assign(costs_s.size(), std::nullopt);
        negotiation_s = add_requests(costs_s, cluster, static_cast<std::uint32_t>(plan.ranks), buckets,
                                     training.exchanges, coordinate(buckets, plan));
    }
    const bool priced = !served || message_cost(cluster, places, served_allreduce);
    const auto end_s = [&](const std::vector<Bucket>& released) -> std::optional<double> {
        if (!priced) return std::nullopt;
        return served ? parameter_server_end(released, cluster, plan)
                      : collectives_end(released, costs_s, negotiation_s);
    };
    std::vector<Bucket> at_once = buckets;
    for (Bucket& bucket : at_once) bucket.release_s = 0;
    ClosedForm result{formula, end_s(at_once), {}};
    if (const std::string why_not = why_none_of_iteration(cluster, plan); !why_not.empty())
        result.formula += "; " + why_not;
    else if (const std::optional<double> last_s = end_s(buckets))
        result.iteration_time_s = iteration_s(*last_s);
    return result;
}

}  // namespace

ClosedForm closed_form(const Lowered& training) {
    if (training.cluster.network != NetworkModel::exact) {
        const std::string why_not = "none for this network model";
        return {why_not, {}, {}, why_not};
    }
    const bool split = !training.plan.parallelism.data_only();
    ClosedForm form = split ? split_closed_form(training) : data_closed_form(training);
    if (form.iteration_time_s || !form.why_not.empty()) return form;
    form.why_not = split ? form.formula : why_none_of_iteration(training.cluster, training.plan);
    if (form.why_not.empty()) form.why_not = why_none_of_exchanges(training);
    return form;
}

}  // namespace syncline
