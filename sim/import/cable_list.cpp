#include "sim/import/cable_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/import/written.hpp"

namespace syncline::config {

namespace {

/// Returns the value that most cables have.
template <class Cables, class Value>
double commonest(const Cables& cables, const Value& value) {
    std::map<double, std::size_t> times;
    for (const auto& cable : cables) ++times[value(cable)];
    return std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace

void CableList::add_cable(Vertex a, Vertex b, double bandwidth_Bps, double latency_s, const Mark& mark) {
    const auto [known, added] = cable_of_.try_emplace(std::minmax(a, b), cables_.size());
    if (added) return cables_.push_back({a, b, bandwidth_Bps, latency_s, mark});
    Cable& cable = cables_[known->second];
    cable.bandwidth_Bps += bandwidth_Bps;
    ++cable.parallel;
}

Node CableList::fabric(const Mark& mark, Findings& findings) {
    number_hosts(findings);
    const double bandwidth = commonest(cables_, [](const Cable& cable) { return cable.bandwidth_Bps; });
    const double latency = commonest(cables_, [](const Cable& cable) { return cable.latency_s; });
    Node edges = empty_at(mark, Node::Kind::sequence), switches = empty_at(mark, Node::Kind::sequence);
    const Cable* first_parallel = nullptr;
    std::size_t parallel = 0;
    for (const Cable& cable : cables_) {
        Written edge(cable.mark);
        edge.set("from", vertices_[cable.from].name).set("to", vertices_[cable.to].name);
        if (cable.bandwidth_Bps != bandwidth) edge.set("bandwidth", bandwidth_text(cable.bandwidth_Bps));
        if (cable.latency_s != latency) edge.set("latency", latency_text(cable.latency_s));
        edges.items.push_back(edge.take());
        if (cable.parallel == 1) continue;
        if (parallel++ == 0) first_parallel = &cable;
    }
    if (first_parallel != nullptr)
        findings.note(first_parallel->mark,
                      fmt::format("{} and {} have {} parallel cables, which are one of their bandwidths together{}",
                                  vertices_[first_parallel->from].name, vertices_[first_parallel->to].name,
                                  first_parallel->parallel,
                                  parallel > 1 ? fmt::format("; so are those of {} other pairs", parallel - 1) : ""));
    for (const Named& vertex : vertices_)
        if (vertex.is_switch) switches.items.push_back(scalar_at(mark, vertex.name));
    Written fabric(mark);
    fabric.set("topology", "graph");
    if (bandwidth > 0) fabric.set("bandwidth", bandwidth_text(bandwidth));
    fabric.set("latency", latency_text(latency));
    if (!switches.items.empty()) fabric.set("switches", std::move(switches));
    return fabric.set("edges", std::move(edges)).take();
}

/// Sorts the cables, since hosts are numbered in the order in which cables name them.
void CableList::number_hosts(Findings& findings) {
    const auto is_host = [&](Vertex vertex) { return !vertices_[vertex].is_switch; };
    for (Cable& cable : cables_)
        if (is_host(cable.to) && (!is_host(cable.from) || cable.from > cable.to)) std::swap(cable.from, cable.to);
    // A cable of two hosts comes with those of the second one, so that the first one is already named.
    std::ranges::stable_sort(cables_, {}, [&](const Cable& cable) {
        constexpr Vertex none = ~Vertex{0};
        return is_host(cable.to) ? cable.to : is_host(cable.from) ? cable.from : none;
    });
    std::vector<bool> named(vertices_.size(), false);
    Vertex last = 0;
    for (const Cable& cable : cables_)
        for (const Vertex end : {cable.from, cable.to}) {
            if (!is_host(end) || named[end]) continue;
            named[end] = true;
            if (end < last)
                return findings.note(cable.mark, fmt::format("hosts are not in the file's order: {} comes after {}",
                                                             vertices_[end].name, vertices_[last].name));
            last = end;
        }
}

std::string bandwidth_text(double bandwidth_Bps) {
    return fmt::format("{} Gbps", bandwidth_Bps * 8 / 1e9);
}

std::string latency_text(double latency_s) {
    if (latency_s == 0) return "none";
    constexpr double nanosecond = 1e-9, femtosecond = 1e6;  // the second one: in a nanosecond
    return fmt::format("{} ns", std::round(latency_s / nanosecond * femtosecond) / femtosecond);
}

}  // namespace syncline::config
