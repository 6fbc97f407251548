#include "sim/explain/exchange_explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "sim/base/replay_error.hpp"
#include "sim/base/units.hpp"
#include "sim/plan/placement.hpp"
#include "sim/topology/shape.hpp"

namespace syncline {

namespace {

struct Part {
    const char *resource, *text, *bound;
    double better;
};

constexpr std::array all_parts{
    Part{"link:nic", "bytes on links between nodes and fabric", "links between nodes and fabric bound it", 2},
    Part{"link:fabric", "bytes on links above the fabric's lowest level",
         "links of the fabric's higher levels bound it", 2},
    Part{"link:node", "bytes on links inside a node", "links inside a node bound it", 2},
    Part{"latency", "latency of links and of the transport", "latency bounds it", 0.5},
    Part{"transport", "overheads and launches of the transport", "the transport's software bounds it", 0.5},
    Part{"protocol", "launch and latency of the protocol", "the protocol's launch and latency bound it", 0.5},
    Part{"protocol-rate", "maximum rates of the protocol", "the protocol's maximum rate bounds it", 2},
    Part{"copies", "copies between buffers of the transport and the device", "copies between buffers bound it", 2},
    Part{"reduction", "reductions", "reductions bound it", 2},
};

constexpr double nudge = 1.125;  // by which a resource is better for its part of the time

/// Changes the protocols of the selection that applies: the plan's, or the transport's.
template <class Change>
void change_protocols(Cluster& cluster, CollectivePlan& plan, const Change& change) {
    if (!plan.selection && !cluster.transport.selection) throw std::invalid_argument("no selection chooses a protocol");
    Selection selection = plan.selection ? *plan.selection : *cluster.transport.selection;
    for (SelectionRow& row : selection.rows)
        for (Candidate& candidate : row.candidates) change(candidate.protocol);
    if (plan.selection)
        plan.selection = std::move(selection);
    else
        cluster.transport.selection = std::make_shared<const Selection>(std::move(selection));
}

void change_protocol(ProtocolTerms& protocol, double factor) {
    for (double* seconds : {&protocol.launch_s, &protocol.inside_latency_s, &protocol.between_latency_s,
                            &protocol.chunk_latency_s, &protocol.launch_per_rank_s})
        *seconds *= factor;
}

void change_protocol_rate(ProtocolTerms& protocol, double factor) {
    for (double* rate_Bps : {&protocol.inside_Bps, &protocol.between_Bps, &protocol.copy_Bps}) *rate_Bps *= factor;
}

void change_copies(Cluster& cluster, double factor) {
    Staging& staging = cluster.transport.staging;
    if (staging.unit == Staging::Unit::none) throw std::invalid_argument("the transport copies nothing");
    if (staging.rate_Bps)
        *staging.rate_Bps *= factor;
    else
        for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) cluster.device_of(kind).host_link_Bps *= factor;
}

void change_reduction(Cluster& cluster, double factor) {
    for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) cluster.device_of(kind).reduction_Bps *= factor;
    cluster.host.reduction_Bps *= factor;
    if (cluster.transport.reduction.rate_Bps) *cluster.transport.reduction.rate_Bps *= factor;
    cluster.transport.reduction.launch_s /= factor;
}

/// Returns the bytes per second that a device can send: over its links in the node, and its port. Of several kinds of
/// nodes the slowest counts.
double device_Bps(const Cluster& cluster, double port_Bps, bool leaves) {
    const NodeDesign& node = cluster.node;
    double inside_Bps = node.link.bandwidth_Bps;
    for (const OtherNodes& other : cluster.others)
        inside_Bps = std::min(inside_Bps, other.link_Bps.value_or(inside_Bps));
    const auto others = static_cast<double>(node.devices - 1);
    if (node.links == NodeLinks::all_to_all) inside_Bps *= others;
    if (node.links == NodeLinks::ring) inside_Bps *= std::min(others, 2.0);
    if (node.links == NodeLinks::mesh) {
        std::map<std::uint32_t, std::uint32_t> links;
        for (const DevicePair& pair : node.pairs) {
            links[pair.a] += pair.links;
            links[pair.b] += pair.links;
        }
        std::uint32_t most = 0;
        for (const auto& [device, number] : links) most = std::max(most, number);
        inside_Bps *= most;
        if (node.mesh_pcie) inside_Bps += node.mesh_pcie->bandwidth_Bps;
    }
    if (node.devices == 1) inside_Bps = 0;
    return inside_Bps + (leaves ? port_Bps : 0);
}

/// Returns the bytes per second of a port: of its cables, or of the link to it.
double port_Bps(const Cluster& cluster) {
    const Topology fabric =
        make_topology(cluster.fabric.topology, Use::fabric, cluster.fabric_nodes() * cluster.node.nics);
    double cables_Bps = 0;
    for (auto [edge, end] = boost::out_edges(0, fabric.graph); edge != end; ++edge)
        cables_Bps += fabric.graph[*edge].wire.bandwidth_Bps;
    double port_Bps = std::min(cables_Bps, cluster.node.nic_link.bandwidth_Bps);
    for (const OtherNodes& other : cluster.others) port_Bps = std::min(port_Bps, other.port_Bps.value_or(port_Bps));
    return port_Bps;
}

/// Returns the plan with another algorithm.
CollectivePlan with_algorithm(CollectivePlan plan, const std::string& name) {
    plan.selection.reset();
    plan.algorithm.name = name;
    plan.algorithm.named = true;
    plan.algorithm.overlay.reset();
    plan.algorithm.schedule.reset();
    plan.algorithm.segment_bytes = 0;
    plan.channels.reset();
    return plan;
}

class Simulations {
public:
    Simulations(const CollectiveResult& base, const Watch& watch) : base_(base), watch_(watch) {}

    WhatIf run(const std::string& change, const std::string& text,
               const std::function<CollectiveResult(const Watch&)>& simulate) const {
        WhatIf answer;
        answer.change = change;
        answer.text = text;
        try {
            const CollectiveResult result = simulate(watch_);
            answer.iteration_time_s = result.completion_time_s;
            if (result.completion_time_s > 0) answer.speed_up = base_.completion_time_s / result.completion_time_s;
        } catch (const std::invalid_argument& error) {
            answer.problem = error.what();
        } catch (const AlgorithmError& error) {
            answer.problem = error.what();
        } catch (const ReplayError& error) {
            answer.problem = error.what();
        }
        return answer;
    }

private:
    const CollectiveResult& base_;
    const Watch& watch_;
};

void by_gain(std::vector<WhatIf>& all) {
    std::ranges::stable_sort(all, [](const WhatIf& a, const WhatIf& b) {
        return std::pair(a.problem.empty(), a.speed_up) > std::pair(b.problem.empty(), b.speed_up);
    });
}

/// Returns the sentence that leads the explanation.
std::string answer_of(const ExchangeExplanation& e) {
    const auto time = [](double seconds) { return format_quantity(seconds, Dimension::seconds); };
    const auto rate = [](double rate_Bps) { return format_quantity(rate_Bps, Dimension::bandwidth); };
    constexpr double much = 0.3;
    std::string bound = "no single resource bounds it";
    if (!e.parts.empty() && e.parts.front().share >= much) {
        const auto part =
            std::ranges::find_if(all_parts, [&](const Part& one) { return one.resource == e.parts.front().resource; });
        bound = fmt::format("{} ({:.0f} % of the time", part->bound, 100 * std::min(1.0, e.parts.front().share));
        const bool wires = e.parts.front().resource.starts_with("link:");
        if (wires && !e.result.links.empty())
            bound += fmt::format("; the busiest, {}, is used to {:.0f} %", e.result.links.front().name,
                                 100 * e.result.links.front().utilisation);
        bound += ")";
    } else if (!e.parts.empty() && e.parts.front().share > 0) {
        bound += fmt::format("; most of the time, {:.0f} %, are {}", 100 * e.parts.front().share, e.parts.front().text);
    }
    const double took_s = e.result.completion_time_s;
    // Switches that add up data may need less than ranks alone.
    const bool comparable = e.least && took_s >= e.least->seconds * (1 - 1e-9);
    const std::string limit = comparable ? fmt::format("the limit of {}", e.least->of) : "";
    if (e.result.bus_bandwidth_Bps && comparable && e.least->bus_bandwidth_Bps)
        return fmt::format("bus bandwidth is {} of at most {}, {}: {}", rate(*e.result.bus_bandwidth_Bps),
                           rate(*e.least->bus_bandwidth_Bps), limit, bound);
    if (comparable)
        return fmt::format("it takes {}, and at least {}, {}: {}", time(took_s), time(e.least->seconds), limit, bound);
    if (e.result.bus_bandwidth_Bps)
        return fmt::format("bus bandwidth is {}: {}", rate(*e.result.bus_bandwidth_Bps), bound);
    return fmt::format("it takes {}: {}", time(took_s), bound);
}

}  // namespace

std::optional<LeastTime> least_time(const Cluster& cluster, const CollectivePlan& plan) {
    const std::string& operation = plan.algorithm.operation;
    const bool subset = plan.algorithm.contributors > 0 || plan.algorithm.receivers > 0;
    if (cluster.native || cluster.network == NetworkModel::Constant || plan.served() || plan.ranks < 2 || subset)
        return std::nullopt;
    std::map<std::uint32_t, double> ranks_on;  // by node
    for (const Place& place : place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks)))
        ++ranks_on[place.node];
    double g = 0;
    for (const auto& [node, ranks] : ranks_on) g = std::max(g, ranks);
    const auto n = static_cast<double>(plan.ranks), N = static_cast<double>(ranks_on.size()),
               S = static_cast<double>(plan.bytes);
    double rank_B = S * (n - 1) / n, node_B = S * (N - 1) / N;
    if (operation == "allreduce") {
        rank_B *= 2, node_B *= 2;
    } else if (operation == "all-to-all") {
        node_B = g * S * (n - g) / n;
    } else if (operation == "broadcast" || operation == "reduce") {
        rank_B = node_B = S;
    } else if (operation == "scatter" || operation == "gather") {
        node_B = S * (n - g) / n;
    } else if (operation != "reduce-scatter" && operation != "allgather") {
        return std::nullopt;
    }
    if (S == 0) return std::nullopt;
    const double ports = N > 1 ? port_Bps(cluster) : 0;
    const double device = device_Bps(cluster, ports, N > 1);
    LeastTime least{rank_B / device, cluster.node.devices > 1 ? "the links of a device" : "a node's port", {}};
    if (N > 1) {
        const double all_ports = std::min(ports * static_cast<double>(cluster.node.nics), cluster.transport.host_Bps);
        if (node_B / all_ports >= least.seconds)
            least = {node_B / all_ports, cluster.node.nics > 1 ? "a node's ports" : "a node's port", {}};
    }
    least.bus_bandwidth_Bps = S * bus_factor(operation, n) / least.seconds;
    return least;
}

ExchangeExplanation explain_exchange(const Cluster& cluster, const CollectivePlan& asked,
                                     const std::vector<Change>& changes, bool others, const Watch& watch) {
    CollectivePlan plan = asked;
    plan.sweep.clear();
    if (plan.fidelity == Fidelity::message) plan.fidelity = Fidelity::automatic;
    ExchangeExplanation e;
    e.result = simulate_collective(cluster, plan, watch);
    const double took_s = e.result.completion_time_s;
    e.least = least_time(cluster, plan);
    const Simulations simulations(e.result, watch);
    const auto changed = [&](const Change& change) {
        return [&cluster, &plan, change](const Watch& seen) {
            Cluster other = cluster;
            CollectivePlan again = plan;
            if (change.resource == "protocol")
                change_protocols(other, again, [&](ProtocolTerms& terms) { change_protocol(terms, change.factor); });
            else if (change.resource == "protocol-rate")
                change_protocols(other, again,
                                 [&](ProtocolTerms& terms) { change_protocol_rate(terms, change.factor); });
            else if (change.resource == "copies")
                change_copies(other, change.factor);
            else if (change.resource == "reduction")
                change_reduction(other, change.factor);
            else
                other = changed_cluster(cluster, change);
            return simulate_collective(other, again, seen);
        };
    };
    for (const Part& part : all_parts) {
        const bool rate = part.better > 1;
        const Change slightly{part.resource, rate ? nudge : 1 / nudge}, twice{part.resource, part.better};
        const WhatIf nudged = simulations.run("", "", changed(slightly));
        if (!nudged.problem.empty()) continue;  // there is no such resource
        const double seconds = (took_s - *nudged.iteration_time_s) * nudge / (nudge - 1);
        if (std::abs(seconds) <= 1e-6 * took_s) continue;
        e.parts.push_back({part.resource, part.text, seconds, seconds / took_s});
        if (changes.empty() && others)
            e.what_if.push_back(simulations.run(
                text_of(twice), fmt::format("{}: {}", part.text, rate ? "twice the rate" : "half the time"),
                changed(twice)));
    }
    std::ranges::stable_sort(e.parts, std::greater<>{}, &ResourcePart::share);
    for (const Change& change : changes)
        e.what_if.push_back(simulations.run(text_of(change), description_of(change), changed(change)));
    if (others && changes.empty() && !plan.served()) {
        std::vector<WhatIf> algorithms;
        for (const std::string& name : algorithm_names(plan.algorithm.operation)) {
            const bool free = plan.selection || (cluster.transport.selection && !plan.algorithm.named);
            if (!free && name == plan.algorithm.name) continue;
            WhatIf answer = simulations.run(
                "algorithm " + name, fmt::format("`algorithm: {}`", name),
                [&](const Watch& seen) { return simulate_collective(cluster, with_algorithm(plan, name), seen); });
            // A library that chose this algorithm itself gains nothing.
            if (answer.problem.empty() && *answer.iteration_time_s != took_s) algorithms.push_back(std::move(answer));
        }
        by_gain(algorithms);
        constexpr std::size_t most = 3;
        algorithms.resize(std::min(most, algorithms.size()));
        e.what_if.insert(e.what_if.end(), algorithms.begin(), algorithms.end());
    }
    by_gain(e.what_if);
    e.answer = answer_of(e);
    return e;
}

}  // namespace syncline
