#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/lowering/channel_orders.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Chooses the algorithm for an exchange of a given size on a cluster, and makes it ready to run: by the plan's
/// selection, or by the transport's, which is limited to the algorithm that the plan names, or else the named one.
namespace syncline {

class Wiring;

struct Chosen {
    AlgorithmSpec spec;
    Protocol protocol;
    std::string why;
    std::string selection;                                 ///< name of the one that chose; empty: none
    std::shared_ptr<const CollectiveAlgorithm> algorithm;  ///< the same object for the same choice
};

/// Returns ranks, nodes and bandwidths of a group, the latter of as many channels as are asked for (see Plan), for data
/// without packets' headers. For a platform in SimGrid's format the bandwidths are unknown here: they are infinite.
Terrain terrain_of(const Cluster& cluster, const std::vector<Place>& places,
                   const std::optional<std::int64_t>& channels = {});

/// Terrains of groups on one cluster, which outlives it. Its wiring is made once, for the first group of several ranks.
class Terrains {
public:
    /// Groups are on the first `nodes` nodes.
    Terrains(const Cluster& cluster, std::uint32_t nodes);
    ~Terrains();
    Terrain of(const std::vector<Place>& places, const std::optional<std::int64_t>& channels);

private:
    const Cluster& cluster_;
    const std::uint32_t nodes_;
    std::unique_ptr<Wiring> wiring_;
};

class Chooser {
public:
    /// `selection`: the plan's, for the operation of `named` if it has rows for that.
    Chooser(const Cluster& cluster, const std::vector<Place>& places, AlgorithmSpec named,
            const std::optional<Selection>& selection, const std::optional<std::int64_t>& channels, Terrains& terrains);

    Chosen choose(std::uint64_t bytes);

private:
    Choice decide(std::uint64_t bytes) const;
    bool possible(const AlgorithmSpec& spec) const;

    const AlgorithmSpec named_;
    std::shared_ptr<const Selection> selection_;  ///< null: none applies
    bool limited_ = false;                        ///< to the named algorithm
    Terrain terrain_;
    std::shared_ptr<const CollectiveAlgorithm> in_network_;  ///< null: not possible, or not needed
    ChannelOrders orders_;
};

/// Returns the algorithm's label in results: its name, or "mpich: rabenseifner, recursive-doubling", in the order of
/// use, if a selection decides.
std::string algorithm_label(const std::vector<Chosen>& chosen);

}  // namespace syncline
