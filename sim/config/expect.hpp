#pragma once

#include "sim/config/assembly.hpp"
#include "sim/config/files.hpp"

/// The key `expect` of a scenario: a list of what must come out (sim/base/expectation.hpp). Whether a field exists is
/// checked where results are written; here that variants and sizes do, and that each item says one thing.
namespace syncline::config {

/// The key itself, for the table of a scenario.
void describe_expectations(Fields& fields, std::vector<Expectation>& expectations);

/// Reads `list`, the key's value, into `scenario`, whose variants are there already. Where the command line has
/// `changed` the file, an expectation may be of a variant or size that is gone: it is left out and counted.
void read_expectations(Assembly& assembly, const Node& list, bool changed, Scenario& scenario);

}  // namespace syncline::config
