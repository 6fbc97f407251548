#include "sim/platform/simgrid_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

namespace syncline {

namespace {

// Measured with SimGrid 3.32: memory per host, link, route and pair of members of a zone.
constexpr double host_bytes = 1300, link_bytes = 600, route_bytes = 150, full_bytes = 8;
constexpr double most_bytes = 400e6;
constexpr const char* instead = "give `nodes` and `fabric` in place of 'simgrid_xml'";
// Floyd and Warshall's algorithm takes 2 s for 1200 members. Dijkstra's takes at most 80 ns for each member and each
// direction of a route, whenever a route is looked up.
constexpr double most_floyd = 1200.0 * 1200 * 1200, most_dijkstra = 5.1e7;

std::optional<std::uint64_t> whole(std::string_view text) {
    std::uint64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// Returns how many numbers "0-3,7" means.
double count_of(const XmlTag& tag) {
    const std::string radical = tag.attribute("radical").value_or("");
    double count = 0;
    for (const std::string_view group : split(radical, ',')) {
        const auto dash = group.find('-');
        const auto first = whole(group.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : whole(group.substr(dash + 1));
        if (!first || !last || *last < *first || *last >= std::numeric_limits<std::uint32_t>::max())
            throw XmlError(
                tag.place,
                fmt::format("radical of '{}': '{}' is no range of numbers", tag.attribute("id").value_or(""), group),
                "write it like 0-15,32");
        count += static_cast<double>(*last - *first + 1);
    }
    return count;
}

/// The numbers in topo_parameters, of which groups are separated by semicolons.
using Parameters = std::vector<std::vector<double>>;

struct Built {
    double hosts = 0, links = 0;
};

/// Returns the number of pairs.
double pairs(double members) {
    return members * (members - 1) / 2;
}

double product(const std::vector<double>& factors) {
    return std::accumulate(factors.begin(), factors.end(), 1.0, std::multiplies<>());
}

// The constructions are those of SimGrid's zones: see
// https://simgrid.org/doc/latest/Platform_examples.html.

std::optional<Built> torus(const Parameters& groups) {
    if (groups.size() != 1) return std::nullopt;
    const double hosts = product(groups[0]);
    return Built{hosts, hosts * static_cast<double>(groups[0].size())};
}

/// "levels; down of each level; up of each level; cables of each level"
std::optional<Built> fat_tree(const Parameters& groups) {
    if (groups.size() != 4 || groups[0].size() != 1) return std::nullopt;
    const std::vector<double>&down = groups[1], &up = groups[2], &cables = groups[3];
    const std::size_t levels = down.size();
    if (groups[0][0] != static_cast<double>(levels) || up.size() != levels || cables.size() != levels)
        return std::nullopt;
    Built built{product(down), 0};
    double below = built.hosts;
    for (std::size_t level = 0; level < levels; ++level) {
        built.links += below * up[level] * cables[level];
        below = below / down[level] * up[level];
    }
    return built;
}

/// "groups,cables; chassis,cables; routers,cables; hosts"
std::optional<Built> dragonfly(const Parameters& groups) {
    if (groups.size() != 4 || groups[0].size() != 2 || groups[1].size() != 2 || groups[2].size() != 2 ||
        groups[3].size() != 1)
        return std::nullopt;
    const double count = groups[0][0], chassis = groups[1][0], routers = groups[2][0], hosts = groups[3][0];
    const double all = count * chassis * routers * hosts;
    return Built{all, all + count * chassis * pairs(routers) + count * routers * pairs(chassis) + pairs(count)};
}

/// Returns the numbers of hosts and links that topo_parameters describe.
Built built(const XmlTag& tag, const std::string& topology) {
    const std::string text = tag.attribute("topo_parameters").value_or("");
    Parameters groups;
    bool good = true;
    for (const std::string_view group : split(text, ';')) {
        groups.emplace_back();
        for (const std::string_view word : split(group, ',')) {
            const auto value = whole(word);
            good = good && value && *value > 0 && *value <= std::numeric_limits<std::uint32_t>::max();
            groups.back().push_back(static_cast<double>(value.value_or(1)));
        }
    }
    const std::optional<Built> result = topology == "TORUS"      ? torus(groups)
                                        : topology == "FAT_TREE" ? fat_tree(groups)
                                                                 : dragonfly(groups);
    if (!good || !result)
        throw XmlError(tag.place, fmt::format("topo_parameters of '{}': '{}' does not describe a {}",
                                              tag.attribute("id").value_or(""), text, topology));
    return *result;
}

}  // namespace

void SimGridSize::open(const XmlTag& tag) {
    const bool zone = tag.name == "zone" || tag.name == "AS";
    const bool member = zone || tag.name == "host" || tag.name == "peer" || tag.name == "router" ||
                        tag.name == "cluster" || tag.name == "cabinet";
    if (member && !zones_.empty()) ++zones_.back().members;
    if (zone) {
        std::string routing = tag.attribute("routing").value_or("");
        for (char& letter : routing)
            if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
        zones_.push_back({tag.attribute("id").value_or(""), routing, tag.place});
    }
    if (tag.name == "host") add(tag.place, 1, 0);
    if (tag.name == "peer") add(tag.place, 1, 2);
    if (tag.name == "link" || tag.name == "backbone")
        add(tag.place, 0, tag.attribute("sharing_policy") == "SPLITDUPLEX" ? 3 : 1);
    if (tag.name == "cabinet") {
        const double hosts = count_of(tag);
        add(tag.place, hosts, 2 * hosts);
    }
    if (tag.name == "cluster") add_cluster(tag);
    if (tag.name.ends_with("oute") && !zones_.empty()) {
        ++zones_.back().routes;
        ++routes_;
    }
}

void SimGridSize::close(std::string_view name) {
    if (name == "platform") require_time();
    if ((name != "zone" && name != "AS") || zones_.empty()) return;
    const Zone zone = std::move(zones_.back());
    zones_.pop_back();
    const auto refuse = [&](const std::string& most) {
        throw XmlError(zone.place,
                       fmt::format("zone '{}' is too large for the routing '{}': {} members and {} routes", zone.id,
                                   zone.routing, zone.members, zone.routes),
                       most);
    };
    if (zone.routing == "full") full_ += zone.members * zone.members;
    if (zone.routing == "floyd") floyd_ += zone.members * zone.members * zone.members;
    if (zone.routing.starts_with("dijkstra")) {
        dijkstra_ += zone.members + 2 * zone.routes;
        dijkstra_place_ = zone.place;
    }
    if (full_ * full_bytes > most_bytes / 2) refuse("at most 5000 members with routing='Full', in one zone or several");
    if (floyd_ > most_floyd) refuse("at most 1200 members with routing='Floyd', in one zone or several");
    require_memory(zone.place);
}

void SimGridSize::add_cluster(const XmlTag& tag) {
    const double named = count_of(tag);
    const std::string topology = tag.attribute("topology").value_or("FLAT");
    Built size{named, named};
    if (topology == "TORUS" || topology == "FAT_TREE" || topology == "DRAGONFLY") {
        size = built(tag, topology);
        if (size.hosts != named)
            throw XmlError(tag.place, fmt::format("'{}' has {} hosts, but its radical names {}",
                                                  tag.attribute("id").value_or(""), size.hosts, named));
    }
    if (tag.attribute("sharing_policy").value_or("SPLITDUPLEX") == "SPLITDUPLEX") size.links *= 2;
    for (const char* own : {"loopback_bw", "limiter_link"})
        if (tag.attribute(own)) size.links += size.hosts;
    add(tag.place, size.hosts, size.links);
}

void SimGridSize::add(XmlLocation place, double hosts, double links) {
    hosts_ += hosts;
    links_ += links;
    if (hosts_ > most_simgrid_hosts)
        throw XmlError(place, fmt::format("the platform has more than {} hosts", most_simgrid_hosts), instead);
    if (links_ > most_simgrid_links)
        throw XmlError(place, fmt::format("the platform has more than {} links", most_simgrid_links), instead);
    require_memory(place);
}

void SimGridSize::require_memory(XmlLocation place) const {
    const double bytes = host_bytes * hosts_ + link_bytes * links_ + route_bytes * routes_ + full_bytes * full_;
    if (bytes > most_bytes)
        throw XmlError(place,
                       fmt::format("SimGrid needs more than {:.0f} MB for {} hosts, {} links and {} routes",
                                   most_bytes / 1e6, hosts_, links_, routes_),
                       instead);
}

void SimGridSize::require_time() const {
    // All pairs of few hosts; of many hosts each one with a few others.
    const double lookups = hosts_ <= most_paired_hosts ? hosts_ * hosts_ : 2 * hosts_;
    if (lookups * dijkstra_ > most_dijkstra)
        throw XmlError(dijkstra_place_,
                       fmt::format("routes between {} hosts take too long with the routing 'Dijkstra'", hosts_),
                       "use routing='Full' or 'Floyd', or smaller zones");
}

}  // namespace syncline
