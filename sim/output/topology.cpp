#include "sim/output/topology.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/version.hpp"

namespace syncline {

namespace {

using Json = nlohmann::ordered_json;

const char* word(Use use) {
    return use == Use::fabric ? "fabric" : "overlay";
}

/// At most `digits` behind the point, none for a whole number.
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

}  // namespace

std::string to_table(const TopologyReport& report) {
    const Metrics& m = report.metrics;
    return fmt::format("{}: {} as {} {}\n\n", report.name, shape_name(report.shape),
                       report.use == Use::fabric ? "a" : "an", word(report.use)) +
           row("hosts", fmt::format("{}", m.hosts)) + row("switches", fmt::format("{}", m.switches)) +
           row("cables", fmt::format("{}", m.cables)) +
           row("ports", m.switches == 0 ? fmt::format("{}", m.ports)
                                        : fmt::format("{}, at most {} of one switch", m.ports, m.switch_ports)) +
           row("degree", m.least_degree == m.most_degree
                             ? fmt::format("{} of a host", cables(m.most_degree))
                             : fmt::format("{} to {} of a host", m.least_degree, cables(m.most_degree))) +
           row("diameter", fmt::format("{} hops", m.diameter)) +
           row("average distance", number(m.average_distance) + " hops between two hosts") +
           row("bisection", bisection(m)) +
           row("edge connectivity", fmt::format("a host is cut off when {} fail{}", cables(m.edge_connectivity),
                                                m.edge_connectivity == 1 ? "s" : "")) +
           row("spectral gap", m.spectral_gap
                                   ? fmt::format("{}: a round of gossip leaves {} of the ranks' disagreement",
                                                 number(*m.spectral_gap, 4), number(1 - *m.spectral_gap, 4))
                                   : "none: switches do not take part in gossip");
}

std::string to_json(const TopologyReport& report) {
    const Metrics& m = report.metrics;
    return Json{
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
               {"bisection_cables", m.bisection_cables},
               {"bisection_bandwidth_Bps", m.bisection_Bps ? Json(*m.bisection_Bps) : Json(nullptr)},
               {"bisection_exact", m.bisection_exact},
               {"bisection_basis", m.bisection_basis},
               {"edge_connectivity", m.edge_connectivity},
               {"spectral_gap", m.spectral_gap ? Json(*m.spectral_gap) : Json(nullptr)},
           }
               .dump(2, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

}  // namespace syncline
