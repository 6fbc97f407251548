#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/plan/jobs_plan.hpp"
#include "sim/platform/cluster.hpp"

/// The devices of a cluster that jobs take and give back, and the racks that they are in.
///
/// A rack is a node's first switch of the fabric: the leaf of a tree, the router of a dragonfly. Nodes that are
/// connected to each other directly, and those of a platform in SimGrid's format, are all in one rack.
namespace syncline {

class Devices {
public:
    explicit Devices(const Cluster& cluster);

    std::size_t count() const { return taken_.size(); }
    std::uint32_t rack_of(std::int64_t device) const { return rack_of_node_[node_of(device)]; }
    std::uint32_t node_of(std::int64_t device) const { return static_cast<std::uint32_t>(device / each_); }
    /// Returns the largest number of devices in a rack.
    std::int64_t largest_rack() const;

    /// Returns devices for a job, by rank, without taking them; nothing if too few are free where it may be. Racks and
    /// nodes with the fewest free devices that suffice are preferred (best fit), the first of equal ones. `draw`: 64
    /// random bits.
    std::optional<std::vector<std::int64_t>> choose(JobPlacement placement, std::size_t ranks,
                                                    const std::vector<std::int64_t>& listed, std::uint64_t draw) const;
    void take(const std::vector<std::int64_t>& devices);
    void give_back(const std::vector<std::int64_t>& devices);

private:
    using Numbers = std::vector<std::int64_t>;

    /// Takes up to `ranks` devices of these racks into `chosen`.
    void pack(std::vector<std::uint32_t> racks, std::size_t ranks, Numbers& chosen) const;
    Numbers spread(std::size_t ranks) const;
    std::size_t free_in_node(std::uint32_t node) const { return free_in_node_[node]; }
    std::size_t free_in_rack(std::uint32_t rack) const { return free_in_rack_[rack]; }
    bool in_use(std::uint32_t rack) const;

    std::int64_t each_;                      ///< devices of a node
    std::vector<bool> taken_;                ///< by device
    std::vector<std::size_t> free_in_node_;  ///< by node
    std::vector<std::size_t> free_in_rack_;  ///< by rack
    std::size_t free_ = 0;
    std::vector<std::uint32_t> rack_of_node_;        ///< by node
    std::vector<std::vector<std::uint32_t>> racks_;  ///< nodes by rack
};

}  // namespace syncline
