#include "sim/analysis/carried_cost.hpp"

#include <algorithm>
#include <set>

namespace syncline {

namespace {

/// Routes of the messages between `places`: all inside a node, all between nodes, or mixed.
enum class Ways { inside, between, mixed };

Ways ways(const std::vector<Place>& places) {
    std::set<std::uint32_t> nodes;
    for (const Place& place : places) nodes.insert(place.node);
    if (nodes.size() == places.size()) return Ways::between;
    return nodes.size() == 1 ? Ways::inside : Ways::mixed;
}

}  // namespace

bool in_step(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes) {
    if (algorithm.lanes() > 1) return false;
    for (std::uint32_t round = 0; round < algorithm.period(); ++round) {
        std::vector<Program> programs;
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            programs.push_back(algorithm.program(rank, ranks, bytes, round));
        const std::vector<Step>& common = programs.front().steps;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const std::vector<Step>& steps = programs[rank].steps;
            if (steps.size() != common.size()) return false;
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const Step& step = steps[i];
                if (step.repeat != common[i].repeat || step.body != common[i].body || step.sends.size() != 1 ||
                    step.receives.size() != 1)
                    return false;
                const Message &send = step.sends.front(), &first = common[i].sends.front();
                if (send.turn != first.turn || step.receives.front().turn != common[i].receives.front().turn)
                    return false;
                // If all peers turn alike and pair up before and after one turn, they do after any number of turns.
                for (const std::uint32_t repetition : {0u, 1u}) {
                    const std::vector<Step>& receiver = programs[peer_of(send, repetition, ranks)].steps;
                    if (receiver.size() != steps.size() || receiver[i].receives.size() != 1 ||
                        peer_of(receiver[i].receives.front(), repetition, ranks) != rank)
                        return false;
                }
            }
        }
    }
    return true;
}

bool wires_only(const Transport& transport) {
    Transport software = transport;
    software.host_Bps = unlimited;
    software.reduction.where = Reduction::Where::device;
    software.reduction.rate_Bps.reset();
    return is_plain(software);
}

std::optional<double> carried_cost(const Cluster& cluster, const std::vector<Place>& places,
                                   const CollectiveAlgorithm& algorithm, std::uint64_t bytes, const MessageCost& wires,
                                   const Protocol& protocol) {
    const Transport& transport = cluster.transport;
    const auto ranks = static_cast<std::uint32_t>(places.size());
    if ((wires_only(transport) && protocol == Protocol{}) || ranks == 1) return algorithm.cost(ranks, bytes, wires);
    const Ways way = ways(places);
    const bool same = transport.inside == transport.between &&
                      protocol.inside_latency_s == protocol.between_latency_s &&
                      protocol.inside_factor == protocol.between_factor;
    const bool inside = way == Ways::inside;
    const MessageTerms& terms = inside ? transport.inside : transport.between;
    if ((way == Ways::mixed && !same) || terms.bandwidth.size() > 1 ||
        (terms.eager_bytes && *terms.eager_bytes < static_cast<double>(bytes)) ||
        transport.staging.unit == Staging::Unit::message || transport.reduction.launch_s > 0 ||
        !in_step(algorithm, ranks, bytes))
        return std::nullopt;
    const auto other_copies = [&](const OtherNodes& other) {
        return other.device.host_link_Bps != cluster.device.host_link_Bps;
    };
    if (transport.staging.unit == Staging::Unit::collective && std::ranges::any_of(cluster.others, other_copies))
        return std::nullopt;
    MessageCost message = wires;
    const bool replaced = protocol.replaces_transport();
    message.alpha_s += terms.send_overhead_s + (replaced ? protocol.latency_s(inside) : terms.latency_s) +
                       terms.receive_overhead_s + 2 * transport.driver_query_s;
    message.beta_s_per_B = std::max(message.beta_s_per_B, 1 / terms.limit_Bps(static_cast<double>(bytes))) /
                           (protocol.factor(inside) * terms.payload);
    const std::optional<double> steps_s = algorithm.cost(ranks, bytes, message);
    if (!steps_s) return std::nullopt;
    const double copy_s = transport.staging.unit == Staging::Unit::collective
                              ? transport.staging.copy_s(bytes, cluster.device.host_link_Bps)
                              : 0;
    return (replaced ? protocol.launch_s : transport.launch_s) + copy_s + *steps_s + copy_s;
}

}  // namespace syncline
