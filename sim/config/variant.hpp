#pragma once

#include <string>

#include "sim/config/assembly.hpp"
#include "sim/config/files.hpp"
#include "sim/config/parallelism.hpp"

namespace syncline::config {

/// The table of one variant's document, everything merged. `name` is the scenario's; `choices` are those that the
/// variant leaves open.
void describe_variant(Fields& fields, std::string& name, Variant& variant, GridChoices& choices,
                      const Inspect& inspect);

/// Reads such a document. What is wrong with it is reported to `assembly`. `seed`: of all that is drawn.
Variant read_variant(Assembly& assembly, const Node& document, const std::string& name, std::string& scenario_name,
                     GridChoices& choices, const Inspect& inspect, std::uint64_t seed = 1);

}  // namespace syncline::config
