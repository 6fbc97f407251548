#include "sim/planning/wire_costs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/analysis/carried_cost.hpp"
#include "sim/collective/ring.hpp"
#include "sim/plan/placement.hpp"

namespace syncline::planning {

WireCosts::WireCosts(const Cluster& cluster, const std::vector<Place>& places)
    : cluster_(cluster), places_(places), wiring_(cluster, first_free_node(places)), load_(wiring_.links(), 0) {}

MessageCost WireCosts::cost_of(const std::vector<Flow>& flows) {
    MessageCost cost{0, 0, 1 / reduction_Bps(cluster_), latency_travels(cluster_)};
    std::vector<Wiring::Link> links, used;
    std::vector<Router::Share> shares;
    for (const Flow& flow : flows) {
        links.clear();
        shares.clear();
        wiring_.route(places_[flow.from], places_[flow.to], links, flow.channel);
        cost.alpha_s = std::max(cost.alpha_s, wiring_.latency_s(links));
        if (wiring_.sprays())
            wiring_.spread(places_[flow.from], places_[flow.to], shares);
        else
            for (const Wiring::Link link : links) shares.push_back({link, 1});
        for (const auto& [link, part] : shares) {
            if (load_[link] == 0) used.push_back(link);
            load_[link] += flow.fraction * part;
        }
    }
    for (const Wiring::Link link : used) {
        cost.beta_s_per_B = std::max(cost.beta_s_per_B, load_[link] / wiring_.wire(link).bandwidth_Bps);
        load_[link] = 0;
    }
    return cost;
}

const MessageCost& WireCosts::message_of(StageRanks stage, const Grouping& groups, const CollectiveAlgorithm& algorithm,
                                         bool all_pairs) {
    const std::uint32_t parts = algorithm.slices();
    const auto [found, added] = messages_.try_emplace({stage, groups, parts, all_pairs});
    if (!added) return found->second;
    std::vector<Flow> flows;
    for (std::uint32_t index = 0; index < stage.ranks; ++index) {
        if (groups.member(index) != 0) continue;
        for (std::uint32_t from = 0; all_pairs && from < groups.size; ++from)
            for (std::uint32_t to = 0; to < groups.size; ++to)
                if (from != to)
                    flows.push_back({stage.first + groups.index(index, from), stage.first + groups.index(index, to),
                                     1.0 / (groups.size - 1), 0});
        if (all_pairs) continue;
        for (std::uint32_t part = 0; part < parts; ++part) {
            const std::span<const std::uint32_t> order = algorithm.order(part);
            const auto rank = [&](std::uint32_t member) {
                member %= groups.size;
                return stage.first + groups.index(index, order.empty() ? member : order[member]);
            };
            for (std::uint32_t member = 0; member < groups.size; ++member)
                flows.push_back({rank(member), rank(member + 1), 1.0 / parts, part});
        }
    }
    found->second = cost_of(flows);
    return found->second;
}

double WireCosts::exchange_s(StageRanks stage, const Grouping& groups, const CollectiveAlgorithm& algorithm,
                             const AlgorithmSpec& spec, std::uint64_t bytes, const Protocol& protocol) {
    if (groups.size == 1) return 0;
    const std::uint64_t blocks = std::uint64_t{groups.size} * algorithm.slices();
    const std::uint64_t even = (bytes + blocks - 1) / blocks * blocks;
    const std::string name = fmt::format("{} {} {} {}", spec.operation, spec.name, spec.contributors, protocol.name);
    const auto [found, added] = exchanges_.try_emplace({stage, groups, algorithm.slices(), name, even});
    if (!added) return found->second;
    std::vector<Place> members;
    for (std::uint32_t member = 0; member < groups.size; ++member)
        members.push_back(places_[stage.first + groups.index(0, member)]);
    const MessageCost& message = message_of(stage, groups, algorithm, spec.operation == "all-to-all");
    std::optional<double> seconds = carried_cost(cluster_, members, algorithm, even, message, protocol);
    if (!seconds) seconds = algorithm.cost(groups.size, even, message);
    // An algorithm without a closed form is taken as a ring of as many steps as its operation needs.
    if (!seconds) seconds = RingAllreduce().cost(groups.size, even, message);
    found->second = seconds.value_or(0);
    return found->second;
}

double WireCosts::transfer_s(StageRanks from, std::uint32_t to, std::uint64_t bytes) {
    const auto [found, added] = transfers_.try_emplace({from, to});
    if (added) {
        std::vector<Flow> flows;
        for (std::uint32_t index = 0; index < from.ranks; ++index) flows.push_back({from.first + index, to + index});
        found->second = cost_of(flows);
    }
    return found->second.alpha_s + static_cast<double>(bytes) * found->second.beta_s_per_B;
}

}  // namespace syncline::planning
