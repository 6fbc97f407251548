#pragma once

#include "sim/config/assembly.hpp"
#include "sim/config/scenario.hpp"

/// The key `expect` of a scenario: a list of expected results (sim/base/expectation.hpp). Checks that variants and
/// sizes exist, and that each item is consistent. Fields are checked when results are written.
namespace syncline::config {

/// Describes the key itself, for the table of a scenario.
void describe_expectations(Fields& fields, std::vector<Expectation>& expectations);

/// Reads `list`, the key's value, into `scenario`, whose variants must be read already. If the command line has
/// `changed` the file, an expectation may name a variant or size that no longer exists; it is left out and counted.
void read_expectations(Assembly& assembly, const Node& list, bool changed, Scenario& scenario);

}  // namespace syncline::config
