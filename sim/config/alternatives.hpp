#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/document/document.hpp"
#include "sim/document/fields.hpp"

/// Alternatives to a scenario with measurements: what its source may have meant, and mechanisms that are switched off.
namespace syncline::config {

/// A named set of changes, with which all rows are predicted once more.
struct Alternative {
    std::string name;
    std::string why;
    Node changes = {};                     ///< of every row's scenario; paths are split
    Node free_layers = {};                 ///< list of the names of layers whose computation takes no time, or a null
    std::vector<std::size_t> series = {};  ///< whose rows they change; empty: all
    bool over_rows = false;                ///< they replace values that rows give, too
    Location at = {};

    bool applies_to(std::size_t number) const;
};

/// Describes the keys that all alternatives have. `changes` are read when they are applied.
void describe(Fields& fields, Alternative& alternative);

/// A file of mechanisms, each of which is switched off alone.
struct AblationFile {
    std::vector<Alternative> mechanisms;
};

void describe(Fields& fields, AblationFile& file);

}  // namespace syncline::config
