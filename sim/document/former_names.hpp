#pragma once

#include "sim/document/document.hpp"

/// Keys and values that earlier versions called otherwise: one table for all files, paths and assignments.
namespace syncline::config {

/// Rejects former names anywhere in `document`, each at its place, with what to write. A key is known by its name and
/// by that of the mapping, or list of mappings, that has it; the keys of `document` itself are in none. Must be called
/// before documents are merged, since one name would not replace the other. Throws ConfigError with all of them.
void refuse_former_names(const Node& document);

}  // namespace syncline::config
