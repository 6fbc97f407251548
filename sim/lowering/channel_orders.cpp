#include "sim/lowering/channel_orders.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "sim/collective/channels.hpp"
#include "sim/platform/node_rings.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

/// Bytes of which a channel must have as many to be worth its start: 512 threads of 64 B.
constexpr std::uint64_t least_bytes = 32'768;

/// NCCL's MAXCHANNELS.
constexpr std::uint32_t most_rings = 64;

/// Returns the members as a grid of a torus; nothing if the fabric is none, or they are no such grid.
std::optional<MemberGrid> grid_on_torus(const Cluster& cluster, const std::vector<Place>& members) {
    if (cluster.native || cluster.fabric.topology.shape != Shape::torus || members.size() < 2 ||
        cluster.node.devices != 1 || cluster.node.nics != 1)
        return std::nullopt;
    std::uint32_t nodes = 0;
    for (const Place& place : members) nodes = std::max(nodes, place.node + 1);
    MemberGrid grid;
    std::vector<std::uint32_t> places(members.size(), 0);  // in the grid, by member
    std::uint32_t stride = 1, count = 1;
    const std::vector<std::uint32_t> axes = Wiring(cluster, nodes).fabric().cycles;
    for (const std::uint32_t size : axes) {
        std::map<std::uint32_t, std::uint32_t> number;  // of a coordinate among those that members have
        for (const Place& place : members) number.emplace(place.node / stride % size, 0);
        std::uint32_t next = 0;
        for (auto& [coordinate, its] : number) its = next++;
        for (std::size_t member = 0; member < members.size(); ++member)
            places[member] += count * number.at(members[member].node / stride % size);
        if (next > 1) grid.sizes.push_back(next);
        if (next > members.size() / count) return std::nullopt;
        stride *= size;
        count *= next;
    }
    if (count != members.size()) return std::nullopt;
    constexpr std::uint32_t nobody = ~std::uint32_t{0};
    grid.member.assign(count, nobody);
    for (std::uint32_t member = 0; member < count; ++member) {
        if (grid.member[places[member]] != nobody) return std::nullopt;
        grid.member[places[member]] = member;
    }
    return grid;
}

}  // namespace

ChannelOrders::ChannelOrders(const Cluster& cluster, const std::vector<Place>& members, std::int64_t requested)
    : members_(static_cast<std::uint32_t>(members.size())), given_(requested != automatic_channels) {
    std::map<std::uint32_t, std::size_t> number;
    for (std::uint32_t member = 0; member < members_; ++member) {
        const Place& place = members[member];
        const bool on_device = !cluster.native && place.device != Place::host;
        ports_.push_back(on_device ? cluster.node.nic(place.device) : 0);
        const auto [found, added] = number.try_emplace(place.node, nodes_.size());
        if (added) nodes_.emplace_back();
        nodes_[found->second].members.push_back(member);
    }
    const bool direct = cluster.node.links != NodeLinks::crossbar && cluster.node.links != NodeLinks::pcie;
    for (OnNode& node : nodes_) {
        node.rings = {node.members};
        if (cluster.native || !direct || node.members.size() < 2) continue;
        std::vector<std::uint32_t> devices;
        for (const std::uint32_t member : node.members) devices.push_back(members[member].device);
        if (std::set(devices.begin(), devices.end()).size() < devices.size()) continue;
        node.rings.clear();
        for (std::vector<std::uint32_t>& ring : node_rings(cluster.node, devices, most_rings)) {
            for (std::uint32_t& device : ring)
                device = node.members[static_cast<std::size_t>(std::find(devices.begin(), devices.end(), device) -
                                                               devices.begin())];
            node.rings.push_back(std::move(ring));
        }
    }
    if (given_) {
        most_ = static_cast<std::uint32_t>(requested);
    } else {
        grid_ = grid_on_torus(cluster, members);
        most_ = nodes_.size() == 1 ? rings() : ports();
    }
}

std::uint32_t ChannelOrders::ports() const {
    std::size_t fewest = members_;
    for (const OnNode& node : nodes_) {
        std::set<std::uint32_t> ports;
        for (const std::uint32_t member : node.members) ports.insert(ports_[member]);
        fewest = std::min(fewest, ports.size());
    }
    return static_cast<std::uint32_t>(fewest);
}

std::uint32_t ChannelOrders::rings() const {
    std::size_t fewest = most_rings;
    for (const OnNode& node : nodes_) fewest = std::min(fewest, node.rings.size());
    return static_cast<std::uint32_t>(fewest);
}

std::uint32_t ChannelOrders::count(std::uint64_t bytes) const {
    if (given_) return most_;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / least_bytes, 1, most_));
}

std::vector<std::vector<std::uint32_t>> ChannelOrders::chains(const OnNode& node, std::uint32_t count) const {
    std::vector<std::vector<std::uint32_t>> all;
    std::set<std::uint32_t> ports;
    for (const std::uint32_t member : node.members) ports.insert(ports_[member]);
    // By channel and turn: ports at which earlier channels enter, and by which they leave. When all ports are taken,
    // the next channels begin anew.
    std::set<std::uint32_t> enters, exits;
    int tries = 10000;  // far more than known nodes need
    const std::function<bool(std::uint32_t)> add = [&](std::uint32_t channel) {
        if (channel == count || exits.size() == ports.size()) return true;
        const std::vector<std::uint32_t>& ring = node.rings[channel % node.rings.size()];
        // The channels' first ports ascend if possible.
        for (const std::uint32_t port : ports) {
            for (std::size_t first = 0; first < ring.size(); ++first) {
                const std::uint32_t exit = ports_[ring[(first + ring.size() - 1) % ring.size()]];
                if (ports_[ring[first]] != port || enters.contains(port) || exits.contains(exit)) continue;
                if (--tries < 0) return false;
                enters.insert(port);
                exits.insert(exit);
                all.push_back(ring);
                std::rotate(all.back().begin(), all.back().begin() + static_cast<std::ptrdiff_t>(first),
                            all.back().end());
                if (add(channel + 1)) return true;
                all.pop_back();
                enters.erase(port);
                exits.erase(exit);
            }
        }
        return false;
    };
    while (all.size() < count) {
        enters.clear();
        exits.clear();
        const auto before = static_cast<std::uint32_t>(all.size());
        if (add(before) && all.size() > before) continue;
        // The rings do not allow it: each channel enters at a port of its own, and leaves where its ring ends.
        for (std::uint32_t channel = before; channel < count; ++channel) {
            std::vector<std::uint32_t> ring = node.rings[channel % node.rings.size()];
            const std::uint32_t port = *std::next(ports.begin(), channel % static_cast<std::uint32_t>(ports.size()));
            std::rotate(
                ring.begin(),
                std::find_if(ring.begin(), ring.end(), [&](std::uint32_t member) { return ports_[member] == port; }),
                ring.end());
            all.push_back(std::move(ring));
        }
    }
    return all;
}

std::vector<std::vector<std::uint32_t>> ChannelOrders::orders(std::uint32_t count) const {
    std::vector<std::vector<std::uint32_t>> all(count);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        std::vector<std::vector<std::uint32_t>> here;
        if (nodes_.size() > 1) here = chains(nodes_[i], count);
        for (std::uint32_t channel = 0; channel < count; ++channel) {
            std::vector<std::uint32_t> ring =
                nodes_.size() > 1 ? here[channel] : nodes_[i].rings[channel % nodes_[i].rings.size()];
            if (i % 2 == 1) std::reverse(ring.begin(), ring.end());
            all[channel].insert(all[channel].end(), ring.begin(), ring.end());
        }
    }
    return all;
}

std::shared_ptr<const CollectiveAlgorithm> ChannelOrders::make(const AlgorithmSpec& spec, std::uint64_t bytes,
                                                               const std::string& name) {
    const std::uint32_t channels = count(spec, bytes);
    std::shared_ptr<const CollectiveAlgorithm>& made = made_[{name, channels}];
    if (made) return made;
    if (along_axes(spec)) return made = axis_rings(spec.operation, *grid_);
    if (spec.name == "nccl-tree") {  // its chains are those of the nodes, also in a single channel
        AlgorithmSpec by_node = spec;
        for (const OnNode& node : nodes_) by_node.node_ranks.push_back(static_cast<std::uint32_t>(node.members.size()));
        return made = in_channels(make_algorithm(by_node, members_), orders(channels));
    }
    made = make_algorithm(spec, members_);
    if (channels > 1) made = in_channels(made, orders(channels));
    return made;
}

std::int64_t requested_channels(const Cluster& cluster, const std::optional<std::int64_t>& given) {
    if (given) return *given;
    return cluster.native ? 1 : cluster.transport.channels;
}

}  // namespace syncline
