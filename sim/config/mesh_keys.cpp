
#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sim/config/platform_parts.hpp"

namespace syncline::config {

namespace {

constexpr std::uint32_t most_parallel = 64;

/// Removes a whole number from the front of the text.
std::optional<std::uint32_t> take_number(std::string_view& text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, char sign) {
    if (text.empty() || text.front() != sign) return false;
    text.remove_prefix(1);
    return true;
}

/// Returns the pair of a text such as `0-1` or `0-3x2`, its devices in ascending order.
std::optional<DevicePair> parse_pair(std::string_view text) {
    const auto a = take_number(text);
    if (!a || !take(text, '-')) return std::nullopt;
    const auto b = take_number(text);
    if (!b) return std::nullopt;
    DevicePair pair{std::min(*a, *b), std::max(*a, *b), 1};
    if (take(text, 'x')) {
        const auto links = take_number(text);
        if (!links || *links == 0 || *links > most_parallel) return std::nullopt;
        pair.links = *links;
    }
    return text.empty() ? std::optional(pair) : std::nullopt;
}

void read_pairs(Fields& fields, const std::vector<std::string>& texts, NodeDesign& node) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string key = fmt::format("pairs.{}", i);
        const auto pair = parse_pair(texts[i]);
        if (!pair)
            fields.reject(key, fmt::format("'{}' is not a pair of devices", texts[i]),
                          fmt::format("`0-1`, or `0-3x2` for two parallel links (1 to {})", most_parallel));
        else if (pair->b >= node.devices)
            fields.reject(key, fmt::format("there is no device {}", pair->b),
                          fmt::format("there are {}: 0 to {}", node.devices, node.devices - 1));
        else if (pair->a == pair->b)
            fields.reject(key, fmt::format("device {} is paired with itself", pair->a), "");
        else if (!known.insert({pair->a, pair->b}).second)
            fields.reject(key, fmt::format("the pair {}-{} is listed twice", pair->a, pair->b),
                          fmt::format("`{}-{}x2` for two parallel links", pair->a, pair->b));
        else
            node.pairs.push_back(*pair);
    }
}

/// Returns a device that no path connects with device 0.
std::optional<std::uint32_t> unconnected(const NodeDesign& node) {
    std::vector<std::uint32_t> group(static_cast<std::size_t>(node.devices));
    std::iota(group.begin(), group.end(), 0U);
    for (const DevicePair& pair : node.pairs) {
        const std::uint32_t from = group[pair.b], to = group[pair.a];
        for (std::uint32_t& each : group) {
            if (each == from) each = to;
        }
    }
    for (std::uint32_t device = 1; device < group.size(); ++device) {
        if (group[device] != group[0]) return device;
    }
    return std::nullopt;
}

}  // namespace

void describe_mesh(Fields& links, NodeDesign& node) {
    node.pairs.clear();
    std::vector<std::string> texts;
    links.texts({"pairs",
                 "Pairs of devices with links of their own, and the number of parallel links: `[0-1, 0-3x2]`. Applies "
                 "to `mesh`, which requires it."},
                texts);
    links.section({"pcie",
                   "PCIe beside the links of a mesh, for pairs without a link and for ports. Default: devices in "
                   "between forward messages, by the fewest hops. Applies to `mesh`."},
                  [&](Fields& inner) {
                      Wire wire;
                      inner.quantity({"bandwidth", "Bandwidth of each PCIe link in each direction: `12 GBps`.", true},
                                     wire.bandwidth_Bps, Dimension::bandwidth, bandwidths);
                      inner.quantity({"latency", "Latency of each PCIe link: `500 ns`, or `none`.", true},
                                     wire.latency_s, Dimension::seconds, {.word = "none", .most = 3600});
                      node.mesh_pcie = wire;
                  });
    const bool mesh = node.links == NodeLinks::mesh;
    for (const char* key : {"pairs", "pcie"}) {
        if (!mesh && links.given(key))
            links.reject(key, fmt::format("'{}' has no effect here", key), "remove it, or write `pattern: mesh`");
    }
    links.integer(
        {"devices_per_switch", "Number of devices on each PCIe switch. Applies to `pcie`, and to a mesh with `pcie`."},
        node.devices_per_switch, 1, 256);
    if (links.given("devices_per_switch") && !node.has_pcie())
        links.reject("devices_per_switch", "'devices_per_switch' has no effect here",
                     mesh ? "remove it, or give `pcie: {bandwidth: 12 GBps, latency: 500 ns}`"
                          : "remove it, or write `pattern: pcie`");
    if (!mesh || !links.sound()) return;
    if (texts.empty()) return links.reject("", "a mesh needs 'pairs'", "`pairs: [0-1, 0-2, 1-2x2]`");
    read_pairs(links, texts, node);
    if (!links.sound() || node.mesh_pcie) return;
    if (const auto device = unconnected(node))
        links.reject("pairs", fmt::format("devices 0 and {} are not connected", *device),
                     "add a pair, or give `pcie: {bandwidth: 12 GBps, latency: 500 ns}`");
}

}  // namespace syncline::config
