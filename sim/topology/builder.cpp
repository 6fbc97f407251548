#include "sim/topology/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace syncline::shapes {

void refuse_so_many(const std::string& key) {
    throw TopologyError(key, fmt::format("this topology would have more than {} cables", most_cables));
}

std::int64_t Request::hosts(std::int64_t if_nobody_says) const {
    if (spec.hosts != 0) return spec.hosts;
    return needed != 0 ? needed : if_nobody_says;
}

void Request::require_fit(std::int64_t count, const std::string& what, const char* key) const {
    if (count > most_vertices) refuse_so_many(key);
    if (spec.hosts != 0 && spec.hosts != count)
        throw TopologyError("hosts", fmt::format("{} has {} {}, not {}", what, count, hosts_word(), spec.hosts));
    if (fabric() ? needed > count : needed != 0 && needed != count)
        throw TopologyError("hosts", fmt::format("{} has {} {}, but {} are needed", what, count, hosts_word(), needed));
}

namespace {

void require_levels(const char* key, std::size_t given, std::int64_t levels) {
    if (static_cast<std::int64_t>(given) <= levels) return;
    throw TopologyError(key, fmt::format("the list has {} entries, but this topology has {} of cables", given,
                                         levels == 1 ? "1 level" : fmt::format("{} levels", levels)));
}

double at_level(const std::vector<double>& by_level, std::int64_t level) {
    if (by_level.empty()) return 0;
    return by_level[std::min(static_cast<std::size_t>(level), by_level.size() - 1)];
}

}  // namespace

Builder::Builder(const Request& request, std::int64_t cable_levels) : request_(request) {
    require_levels("bandwidth", request.spec.bandwidth_Bps.size(), cable_levels);
    require_levels("latency", request.spec.latency_s.size(), cable_levels);
    topology_.name = request.spec.name;
}

void Builder::add_hosts(std::int64_t count) {
    if (count > most_vertices) refuse_so_many(blamed_);
    for (std::int64_t i = 0; i < count; ++i) add_host(fmt::format("{}-{}", request_.fabric() ? "host" : "rank", i));
}

void Builder::add_host(std::string name) {
    if (topology_.vertices() == most_vertices) refuse_so_many(blamed_);
    topology_.add_host(std::move(name));
}

std::int64_t Builder::add_switch(std::string name, std::int64_t level) {
    if (topology_.vertices() == most_vertices) refuse_so_many(blamed_);
    return topology_.add_switch(std::move(name), static_cast<std::uint32_t>(level));
}

void Builder::add(const Connection& connection) {
    if (std::ssize(connections_) == most_cables) refuse_so_many(blamed_);
    connections_.push_back(connection);
}

void Builder::add_cable(std::int64_t a, std::int64_t b, std::int64_t level) {
    add({a, b, wire(level), false});
}

void Builder::add_cable(std::int64_t a, std::int64_t b, const Wire& wire) {
    add({a, b, wire, false});
}

void Builder::add_one_way(std::int64_t from, std::int64_t to, std::int64_t level) {
    add({from, to, wire(level), true});
}

Topology Builder::take() {
    // A graph can only be copied, so this copies one that has no cables yet.
    Topology topology = std::move(topology_);
    for (const auto& [from, to, wire, one_way] : connections_) {
        const auto source = static_cast<std::uint32_t>(from), target = static_cast<std::uint32_t>(to);
        if (one_way) {
            topology.add_one_way(source, target, wire);
        } else {
            topology.add_cable(source, target, wire);
        }
    }
    return topology;
}

Wire Builder::wire(std::int64_t level) const {
    return {at_level(request_.spec.bandwidth_Bps, level), at_level(request_.spec.latency_s, level)};
}

}  // namespace syncline::shapes
