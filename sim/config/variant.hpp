#pragma once

#include <string>

#include "sim/config/assembly.hpp"
#include "sim/config/scenario.hpp"
#include "sim/lowering/feasibility.hpp"

namespace syncline::config {

/// Describes one variant's document, with everything merged. `name` is the scenario's; `choices` are those that the
/// variant leaves open.
void describe_variant(Fields& fields, std::string& name, Variant& variant, GridChoices& choices,
                      const Inspect& inspect);

/// Gives the device the kernel of attention that the training calls. One that a framework names, and that was not
/// measured on the device, changes nothing.
void choose_attention(Fields& training, Device& device, const Plan& plan);

/// Reads such a document. Reports errors to `assembly`. `seed` determines everything random. `free_layers` is what an
/// ablation's mechanism says, a list of names or a null: no key of a document does.
Variant read_variant(Assembly& assembly, const Node& document, const std::string& name, std::string& scenario_name,
                     GridChoices& choices, const Inspect& inspect, std::uint64_t seed = 1,
                     const Node& free_layers = {});

/// Reports a variant of this document whose plan only a search can complete (`parallelism: auto`).
void refuse_open(Assembly& assembly, const Node& document, const Variant& variant);

}  // namespace syncline::config
