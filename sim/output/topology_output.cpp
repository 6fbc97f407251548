#include "sim/output/topology_output.hpp"

#include <fmt/format.h>

#include "sim/base/version.hpp"
#include "sim/output/json_text.hpp"

namespace syncline {

namespace {

const char* word(Use use) {
    return use == Use::fabric ? "fabric" : "overlay";
}

/// Formats a number with up to `digits` decimals, without trailing zeros.
std::string number(double value, int digits = 3) {
    std::string text = fmt::format("{:.{}f}", value, digits);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string row(const char* what, const std::string& value) {
    return fmt::format("{:<19}{}\n", what, value);
}

std::string cables(double count) {
    return fmt::format("{} cable{}", number(count), count == 1 ? "" : "s");
}

std::string bisection(const Metrics& m) {
    std::string text = m.bisection_exact ? "" : "at most ";
    text += cables(m.bisection_cables);
    if (m.bisection_Bps) text += fmt::format(", {} Gb/s in each direction", number(*m.bisection_Bps * 8e-9));
    return fmt::format("{} ({}{})", text, m.bisection_exact ? "exact: " : "", m.bisection_basis);
}

/// Returns a line for each level of switches that has cables upwards.
std::string oversubscription(const Metrics& m) {
    std::string text;
    for (const LevelMetrics& level : m.levels) {
        if (!level.oversubscription()) continue;
        text += row(
            text.empty() ? "oversubscription" : "",
            fmt::format("{}:1 at switches of level {} ({} down, {} up)", number(*level.oversubscription()), level.level,
                        cables(static_cast<double>(level.cables_down)), cables(static_cast<double>(level.cables_up))));
    }
    return text;
}

Json levels_json(const Metrics& m) {
    Json levels = Json::array();
    for (const LevelMetrics& level : m.levels)
        levels.push_back(
            {{"level", level.level},
             {"switches", level.switches},
             {"cables_down", level.cables_down},
             {"cables_up", level.cables_up},
             {"down_Bps", level.down_Bps},
             {"up_Bps", level.up_Bps},
             {"oversubscription", level.oversubscription() ? Json(*level.oversubscription()) : Json(nullptr)}});
    return levels;
}

}  // namespace

std::string to_table(const TopologyReport& report) {
    const Metrics& m = report.metrics;
    return fmt::format("{}: {} as {} {}\n\n", report.name, shape_name(report.shape),
                       report.use == Use::fabric ? "a" : "an", word(report.use)) +
           row("hosts", fmt::format("{}", m.hosts)) + row("switches", fmt::format("{}", m.switches)) +
           row("cables", fmt::format("{}", m.cables)) +
           row("ports", m.switches == 0 ? fmt::format("{}", m.ports)
                                        : fmt::format("{}, at most {} per switch", m.ports, m.switch_ports)) +
           row("degree", m.least_degree == m.most_degree
                             ? fmt::format("{} per host", cables(m.most_degree))
                             : fmt::format("{} to {} per host", m.least_degree, cables(m.most_degree))) +
           row("diameter", fmt::format("{}{} hops", m.distances_exact ? "" : "at least ", m.diameter)) +
           row("average distance", number(m.average_distance) + " hops between two hosts" +
                                       (m.distances_exact ? "" : " (between some hosts and all others)")) +
           row("bisection", bisection(m)) + oversubscription(m) +
           row("edge connectivity",
               m.edge_connectivity ? fmt::format("a host is disconnected when {} fail{}", cables(*m.edge_connectivity),
                                                 *m.edge_connectivity == 1 ? "s" : "")
                                   : "unknown: the graph is too large") +
           row("spectral gap", m.spectral_gap
                                   ? fmt::format("{}: a gossip round leaves {} of the disagreement between ranks",
                                                 number(*m.spectral_gap, 4), number(1 - *m.spectral_gap, 4))
                               : m.switches > 0 ? "none: switches do not take part in gossip"
                                                : "unknown: the graph is too large");
}

std::string to_json(const TopologyReport& report) {
    const Metrics& m = report.metrics;
    return dumped(Json{
        {"schema_version", result_schema_version},
        {"name", report.name},
        {"topology", shape_name(report.shape)},
        {"use", word(report.use)},
        {"hosts", m.hosts},
        {"switches", m.switches},
        {"cables", m.cables},
        {"ports", m.ports},
        {"switch_ports", m.switch_ports},
        {"least_degree", m.least_degree},
        {"most_degree", m.most_degree},
        {"diameter_hops", m.diameter},
        {"average_distance_hops", m.average_distance},
        {"distances_exact", m.distances_exact},
        {"bisection_cables", m.bisection_cables},
        {"bisection_bandwidth_Bps", m.bisection_Bps ? Json(*m.bisection_Bps) : Json(nullptr)},
        {"bisection_exact", m.bisection_exact},
        {"bisection_basis", m.bisection_basis},
        {"edge_connectivity", m.edge_connectivity ? Json(*m.edge_connectivity) : Json(nullptr)},
        {"spectral_gap", m.spectral_gap ? Json(*m.spectral_gap) : Json(nullptr)},
        {"levels", levels_json(m)},
    });
}

}  // namespace syncline
