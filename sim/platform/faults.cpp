#include "sim/platform/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/units.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::string_view arrow_mark = "->", cable_mark = "--";

/// A link's names, and its ends in words: of one inside a node "node-2/device-0".
struct Ends {
    std::string name;                ///< "leaf-0->host-3"
    std::string from, to;            ///< empty for links that have none, such as a node's loopback
    std::string inside;              ///< "node-2/"; empty for links of the fabric
    std::string cable, other_cable;  ///< both directions: "leaf-0--host-3" and "host-3--leaf-0"; empty without ends

    bool is_named(const std::string& other) const {
        return other == name || (!from.empty() && (other == cable || other == other_cable));
    }
};

Ends ends_of(const Wiring& wiring, Wiring::Link link) {
    Ends ends;
    ends.name = wiring.name(link);
    const std::string& name = ends.name;
    if (!wiring.in_fabric(link)) ends.inside = name.substr(0, name.find('/') + 1);
    const std::size_t arrow = name.find(arrow_mark);
    if (arrow == std::string::npos) return ends;
    ends.from = name.substr(0, arrow);
    ends.to = ends.inside + name.substr(arrow + arrow_mark.size());
    ends.cable = fmt::format("{}{}{}", ends.from, cable_mark, ends.to.substr(ends.inside.size()));
    ends.other_cable = fmt::format("{}{}{}", ends.to, cable_mark, ends.from.substr(ends.inside.size()));
    return ends;
}

/// Returns true for a host of the fabric, and for a device or port of a node.
bool is_host(const Wiring& wiring, Wiring::Link link, const Ends& ends, const std::string& end) {
    if (wiring.in_fabric(link)) {
        const Router::Hop& hop = wiring.hop(link);
        return (end == ends.from ? hop.from : hop.to) < wiring.fabric().hosts;
    }
    const std::string own = end.substr(ends.inside.size());
    return own.starts_with("device-") || own.starts_with("nic-");
}

bool is_of_node(const Wiring& wiring, Wiring::Link link, const Ends& ends, const Cluster& cluster, std::uint32_t node) {
    if (!wiring.in_fabric(link)) return ends.inside == fmt::format("node-{}/", node);
    const auto ports = static_cast<std::uint32_t>(cluster.node.nics);
    const auto port = [&](std::uint32_t vertex) { return vertex < wiring.fabric().hosts && vertex / ports == node; };
    return port(wiring.hop(link).from) || port(wiring.hop(link).to);
}

bool concerns(const Fault& fault, const Wiring& wiring, Wiring::Link link, const Ends& ends, const Cluster& cluster) {
    switch (fault.part) {
        case Fault::Part::link:
            return ends.is_named(fault.name);
        case Fault::Part::fabric_switch:
            return (ends.from == fault.name || ends.to == fault.name) && !is_host(wiring, link, ends, fault.name);
        case Fault::Part::node:
            return fault.rate == 0 && is_of_node(wiring, link, ends, cluster, fault.number);
        case Fault::Part::device:
            break;
    }
    return false;
}

void sort_out(std::vector<std::string>& names) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
}

std::string time_words(double seconds) {
    return format_quantity(seconds, Dimension::seconds);
}

}  // namespace

std::string Fault::part_words() const {
    switch (part) {
        case Part::link:
            return "link " + name;
        case Part::fabric_switch:
            return "switch " + name;
        case Part::device:
            return fmt::format("device {}", number);
        case Part::node:
            break;
    }
    return fmt::format("node {}", number);
}

std::string Fault::words() const {
    const std::string how = rate == 0 ? "down" : fmt::format("at {:g} %", 100 * rate);
    if (std::isinf(to_s)) return fmt::format("{} {} from {} on", part_words(), how, time_words(from_s));
    return fmt::format("{} {} from {} to {}", part_words(), how, time_words(from_s), time_words(to_s));
}

/// Returns the index of the change at this time, a new one if there is none.
std::size_t RateOverTime::split(double time_s) {
    const auto at = std::ranges::lower_bound(changes_, time_s, {}, &Change::from_s);
    const auto index = static_cast<std::size_t>(at - changes_.begin());
    if (at == changes_.end() || at->from_s != time_s)
        changes_.insert(at, {time_s, index == 0 ? 1 : changes_[index - 1].rate});
    return index;
}

void RateOverTime::multiply(double from_s, double to_s, double rate) {
    if (from_s >= to_s || rate == 1) return;
    const std::size_t first = split(from_s), end = std::isinf(to_s) ? changes_.size() : split(to_s);
    for (std::size_t i = first; i < end; ++i) changes_[i].rate *= rate;
}

double RateOverTime::at(double time_s) const {
    const auto after = std::ranges::upper_bound(changes_, time_s, {}, &Change::from_s);
    return after == changes_.begin() ? 1 : std::prev(after)->rate;
}

double RateOverTime::elapsed_s(double start_s, double seconds) const {
    if (seconds <= 0) return 0;
    double now_s = start_s, rate = at(start_s);
    for (auto next = std::ranges::upper_bound(changes_, start_s, {}, &Change::from_s); next != changes_.end(); ++next) {
        const double done_s = (next->from_s - now_s) * rate;
        if (done_s >= seconds) break;
        seconds -= done_s;
        now_s = next->from_s;
        rate = next->rate;
    }
    return rate == 0 ? never : now_s - start_s + seconds / rate;
}

double RateOverTime::work_s(double start_s, double end_s) const {
    double now_s = start_s, rate = at(start_s), sum_s = 0;
    for (auto next = std::ranges::upper_bound(changes_, start_s, {}, &Change::from_s);
         next != changes_.end() && next->from_s < end_s; ++next) {
        sum_s += (next->from_s - now_s) * rate;
        now_s = next->from_s;
        rate = next->rate;
    }
    return sum_s + (end_s - now_s) * rate;
}

double RateOverTime::down_s(double time_s) const {
    if (at(time_s) > 0) return 0;
    for (auto next = std::ranges::upper_bound(changes_, time_s, {}, &Change::from_s); next != changes_.end(); ++next)
        if (next->rate > 0) return next->from_s - time_s;
    return never;
}

double RateOverTime::down_since_s() const {
    double since_s = never;
    for (const Change& change : changes_)
        if (change.rate > 0)
            since_s = never;
        else
            since_s = std::min(since_s, change.from_s);
    return since_s;
}

std::vector<LinkRate> link_rates(const Wiring& wiring, const Cluster& cluster) {
    std::vector<LinkRate> rates;
    if (cluster.faults.empty()) return rates;
    for (Wiring::Link link = 0; link < wiring.links(); ++link) {
        const Ends ends = ends_of(wiring, link);
        LinkRate rate{link, {}, {}};
        for (const Fault& fault : cluster.faults) {
            if (!concerns(fault, wiring, link, ends, cluster)) continue;
            rate.rate.multiply(fault.from_s, fault.to_s, fault.rate);
            if (fault.rerouted) rate.rerouted.multiply(fault.from_s, fault.to_s, fault.rate);
        }
        if (!rate.rate.constant()) rates.push_back(std::move(rate));
    }
    return rates;
}

RateOverTime process_rate(const Cluster& cluster, const Place& place) {
    RateOverTime rate;
    if (place.in_fabric()) return rate;
    const auto devices = static_cast<std::uint32_t>(cluster.node.devices);
    for (const Fault& fault : cluster.faults) {
        const bool of_node = fault.part == Fault::Part::node && fault.number == place.node;
        const bool of_device = fault.part == Fault::Part::device && place.on_device() &&
                               fault.number == place.node * devices + place.device;
        if (of_node || of_device) rate.multiply(fault.from_s, fault.to_s, fault.rate);
    }
    return rate;
}

std::vector<std::string> link_names(const Wiring& wiring) {
    std::vector<std::string> names;
    for (Wiring::Link link = 0; link < wiring.links(); ++link) {
        const Ends ends = ends_of(wiring, link);
        names.push_back(ends.from.empty() ? ends.name : ends.cable);
    }
    sort_out(names);
    return names;
}

std::vector<std::string> all_link_names(const Wiring& wiring) {
    std::vector<std::string> names;
    for (Wiring::Link link = 0; link < wiring.links(); ++link) {
        Ends ends = ends_of(wiring, link);
        if (!ends.from.empty()) {
            names.push_back(std::move(ends.cable));
            names.push_back(std::move(ends.other_cable));
        }
        names.push_back(std::move(ends.name));
    }
    sort_out(names);
    return names;
}

std::vector<std::string> switch_names(const Wiring& wiring) {
    std::vector<std::string> names;
    for (Wiring::Link link = 0; link < wiring.links(); ++link) {
        const Ends ends = ends_of(wiring, link);
        for (const std::string* end : {&ends.from, &ends.to})
            if (!end->empty() && !is_host(wiring, link, ends, *end)) names.push_back(*end);
    }
    sort_out(names);
    return names;
}

}  // namespace syncline
