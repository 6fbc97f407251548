#pragma once

#include <string>

#include "sim/topology/metrics.hpp"
#include "sim/topology/shape.hpp"

/// A topology's figures as text. Both end with a newline; the same topology gives the same bytes.
namespace syncline {

struct TopologyReport {
    std::string name;
    Shape shape = Shape::star;
    Use use = Use::fabric;
    Metrics metrics;
};

/// For people: one figure a line, with its unit and what it means.
std::string to_table(const TopologyReport& report);
/// One object; what does not exist is null.
std::string to_json(const TopologyReport& report);

}  // namespace syncline
