#include "sim/training/channel_orders.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/collective/channels.hpp"

namespace syncline {

namespace {

/// Bytes of which a channel must have as many to be worth its start: 512 threads of 64 B.
constexpr std::uint64_t least_bytes = 512 * 64;

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
    for (OnNode& node : nodes_) node.rings = {node.members};
    if (given_) {
        most_ = static_cast<std::uint32_t>(requested);
    } else if (nodes_.size() == 1) {
        most_ = static_cast<std::uint32_t>(nodes_.front().rings.size());
    } else {
        most_ = members_;
        for (const OnNode& node : nodes_) {
            std::set<std::uint32_t> ports;
            for (const std::uint32_t member : node.members) ports.insert(ports_[member]);
            most_ = std::min(most_, static_cast<std::uint32_t>(ports.size()));
        }
    }
}

std::uint32_t ChannelOrders::count(std::uint64_t bytes) const {
    if (given_) return most_;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / least_bytes, 1, most_));
}

std::vector<std::uint32_t> ChannelOrders::order(std::uint32_t channel) const {
    std::vector<std::uint32_t> all;
    bool reversed = false;
    for (const OnNode& node : nodes_) {
        std::vector<std::uint32_t> ring = node.rings[channel % node.rings.size()];
        if (nodes_.size() > 1) {
            std::vector<std::uint32_t> ports;
            for (const std::uint32_t member : ring) ports.push_back(ports_[member]);
            std::sort(ports.begin(), ports.end());
            ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
            const std::uint32_t port = ports[channel % ports.size()];
            const auto enters =
                std::find_if(ring.begin(), ring.end(), [&](std::uint32_t member) { return ports_[member] == port; });
            std::rotate(ring.begin(), enters, ring.end());
            if (reversed) std::reverse(ring.begin(), ring.end());
            reversed = !reversed;
        }
        all.insert(all.end(), ring.begin(), ring.end());
    }
    return all;
}

std::vector<std::vector<std::uint32_t>> ChannelOrders::orders(std::uint32_t count) const {
    std::vector<std::vector<std::uint32_t>> all;
    for (std::uint32_t channel = 0; channel < count; ++channel) all.push_back(order(channel));
    return all;
}

std::shared_ptr<const CollectiveAlgorithm> ChannelOrders::make(const AlgorithmSpec& spec, std::uint64_t bytes,
                                                               const std::string& name) {
    const std::uint32_t channels = takes_channels(spec) ? count(bytes) : 1;
    std::shared_ptr<const CollectiveAlgorithm>& made = made_[{name, channels}];
    if (made) return made;
    made = make_algorithm(spec, members_);
    if (channels > 1) made = in_channels(made, orders(channels));
    return made;
}

std::int64_t requested_channels(const Cluster& cluster, const std::optional<std::int64_t>& given) {
    if (given) return *given;
    return cluster.native ? 1 : cluster.transport.channels;
}

}  // namespace syncline
