#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/iteration/prices.hpp"
#include "sim/platform/wiring.hpp"

/// Estimated times of exchanges on any fabric.
///
/// All groups of a stage exchange at the same time, each as a ring of its members in every channel, or in an all-to-all
/// between all of them. A link that carries n of these rings passes 1/n of its bandwidth to each; α is the latency of
/// the longest route, and β the time of a byte on the link with the least bandwidth per ring. The closed form of the
/// algorithm with these α and β, and the costs of the transport (analysis/carried_cost.hpp), is the time. Left out:
/// other traffic on the links, ports that adapt to it, and algorithms whose members are not neighbours in a ring, which
/// are taken as if they were.
namespace syncline::planning {

class WireCosts : public Prices {
public:
    /// `cluster` and `places` (of each rank) must outlive it. The cluster must not be a platform in SimGrid's format.
    WireCosts(const Cluster& cluster, const std::vector<Place>& places);

    double exchange_s(StageRanks stage, const Grouping& groups, const CollectiveAlgorithm& algorithm,
                      const AlgorithmSpec& spec, std::uint64_t bytes, const Protocol& protocol = {}) override;

    double transfer_s(StageRanks from, std::uint32_t to, std::uint64_t bytes) override;

private:
    struct Flow {
        std::uint32_t from = 0, to = 0;  ///< ranks
        double fraction = 1;             ///< of the bytes
        std::uint32_t channel = 0;
    };

    MessageCost cost_of(const std::vector<Flow>& flows);
    const MessageCost& message_of(StageRanks stage, const Grouping& groups, const CollectiveAlgorithm& algorithm,
                                  bool all_pairs);

    const Cluster& cluster_;
    const std::vector<Place>& places_;
    Wiring wiring_;
    std::vector<double> load_;  ///< by link, of the flows that are being counted
    std::map<std::tuple<StageRanks, Grouping, std::uint32_t, bool>, MessageCost> messages_;
    std::map<std::pair<StageRanks, std::uint32_t>, MessageCost> transfers_;
    std::map<std::tuple<StageRanks, Grouping, std::uint32_t, std::string, std::uint64_t>, double> exchanges_;
};

}  // namespace syncline::planning
