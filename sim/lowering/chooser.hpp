#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/in_network.hpp"
#include "sim/collective/selection.hpp"
#include "sim/lowering/channel_orders.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Chooses the algorithm for an exchange of a given size on a cluster, and makes it ready to run: the one that the plan
/// names, or the one that its selection chooses.
namespace syncline {

struct Chosen {
    AlgorithmSpec spec;
    Protocol protocol;
    std::string why;
    std::shared_ptr<const CollectiveAlgorithm> algorithm;  ///< the same object for the same choice
};

/// Returns ranks, nodes and bandwidths of a group, the latter of as many channels as are asked for (see Plan). For a
/// platform in SimGrid's format the bandwidths are unknown here: they are infinite.
Terrain terrain_of(const Cluster& cluster, const std::vector<Place>& places,
                   const std::optional<std::int64_t>& channels = {});

class Chooser {
public:
    /// `selection`, if present, decides in place of `named`, for the operation of `named`.
    Chooser(const Cluster& cluster, const std::vector<Place>& places, AlgorithmSpec named,
            const std::optional<Selection>& selection, const std::optional<std::int64_t>& channels);

    Chosen choose(std::uint64_t bytes);

private:
    Choice decide(std::uint64_t bytes) const;

    const AlgorithmSpec named_;
    const std::optional<Selection> selection_;
    const Terrain terrain_;
    std::optional<SwitchTree> switches_;  ///< for an in-network reduction
    std::shared_ptr<const CollectiveAlgorithm> in_network_;
    ChannelOrders orders_;
};

/// Returns the algorithm's label in results: its name, or "mpich: rabenseifner, recursive-doubling", in the order of
/// use, if a selection decides.
std::string algorithm_label(const std::optional<Selection>& selection, const std::vector<Chosen>& chosen);

}  // namespace syncline
