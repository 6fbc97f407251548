#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/axis_rings.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// The channels of a group's collectives (sim/collective/channels.hpp): their number, and the order of the members in
/// each.
///
/// Between nodes there is a channel for each port that the members use, the fewest of any node. In channel c each
/// node's chain of devices begins at a device on the c-th port and leaves by the port of its last device; the next node
/// has the chain in reverse, so that messages between nodes are between ports of the same number (with an odd number of
/// nodes one is not). Chains follow rings of devices that share no link (node_rings.hpp), otherwise the devices in
/// order; ring c begins further on than ring c-1. A group inside one node has a channel for each of these rings. Small
/// buffers take as many channels as have 32 KiB each.
///
/// On a torus of nodes with one device and one port the rings of automatic channels are those of its axes
/// (axis_rings.hpp), if the members have all combinations of some coordinates along each: all hosts, a box, or rows of
/// hosts at equal distances. A ring has then a channel for each axis and direction, of whatever size.
///
/// Source: NVIDIA NCCL 2.28, src/graph/connect.cc (rings of channels, and their reversal on every second node),
/// src/graph/search.cc (a channel for each port and for each path between devices), src/enqueue.cc (a channel has at
/// least 512 threads of 64 B). Left out: more channels than paths; channels of all-to-all and of transfers between
/// stages; orders of their own for the groups of a stage: all take those of the first one, which listed and random
/// placements may make wrong for the others; a ring of links for a single channel, which follows the order of the
/// members.
namespace syncline {

/// Number of channels that a plan asks for: as many as libraries take (`automatic`), or a given number.
inline constexpr std::int64_t automatic_channels = 0;

class ChannelOrders {
public:
    /// `requested`: 0 for automatic_channels. On a platform in SimGrid's format, whose ports are not known, one.
    ChannelOrders(const Cluster& cluster, const std::vector<Place>& members, std::int64_t requested);

    /// Returns the number of channels for an exchange of this size.
    std::uint32_t count(std::uint64_t bytes) const;
    /// Returns the same, but 1 for an algorithm that does not run in channels.
    std::uint32_t count(const AlgorithmSpec& spec, std::uint64_t bytes) const {
        if (along_axes(spec)) return grid_->channels();
        return takes_channels(spec) ? count(bytes) : 1;
    }
    /// Return the number of ports that the members use on each node, and the number of rings that share no link there:
    /// the fewest of any node.
    std::uint32_t ports() const;
    std::uint32_t rings() const;
    /// Returns the members in the order of each of `count` channels.
    std::vector<std::vector<std::uint32_t>> orders(std::uint32_t count) const;

    /// Returns the algorithm among these members, in channels where its kind runs in channels: the same object for the
    /// same `name`, which stands for a spec, and number of channels. Throws AlgorithmError.
    std::shared_ptr<const CollectiveAlgorithm> make(const AlgorithmSpec& spec, std::uint64_t bytes,
                                                    const std::string& name);

private:
    struct OnNode {
        std::vector<std::uint32_t> members;
        std::vector<std::vector<std::uint32_t>> rings;  ///< of these members, by their index
    };

    bool along_axes(const AlgorithmSpec& spec) const { return grid_ && spec.name == "ring" && takes_channels(spec); }

    /// Returns a node's members in the order of each channel. As many channels as there are ports enter at different
    /// ports and leave by different ones, if the rings allow it.
    std::vector<std::vector<std::uint32_t>> chains(const OnNode& node, std::uint32_t count) const;

    std::uint32_t members_ = 1, most_ = 1;
    bool given_ = false;
    std::vector<OnNode> nodes_;         ///< in the order of their first members
    std::vector<std::uint32_t> ports_;  ///< by member: its port
    std::optional<MemberGrid> grid_;    ///< on a torus
    std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<const CollectiveAlgorithm>> made_;
};

/// Returns the number of channels that `given`, or else the cluster's transport, asks for.
std::int64_t requested_channels(const Cluster& cluster, const std::optional<std::int64_t>& given);

}  // namespace syncline
