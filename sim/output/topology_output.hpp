#pragma once

#include <string>

#include "sim/topology/metrics.hpp"
#include "sim/topology/shape.hpp"

/// Writers of topology metrics. All texts end with a newline; the same topology gives the same bytes.
namespace syncline {

struct TopologyReport {
    std::string name;
    Shape shape = Shape::star;
    Use use = Use::fabric;
    Metrics metrics;
};

/// Returns a table for people: one metric per line, with its unit and meaning.
std::string to_table(const TopologyReport& report);
/// Returns one JSON object; metrics that do not exist are null.
std::string to_json(const TopologyReport& report);

}  // namespace syncline
