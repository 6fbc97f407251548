#pragma once

#include "sim/document/document.hpp"

/// Keys and values that earlier versions called otherwise: one table for all files, paths and assignments.
namespace syncline::config {

/// Removes former names anywhere in `document`, and throws ConfigError with all of them if there are any, each at its
/// place, with what to write. A key is known by its name and by that of the mapping, or list of mappings, that has it;
/// the keys of `document` itself are in none. Must be called before documents are merged, since one name would not
/// replace the other.
void refuse_former_names(Node& document);

}  // namespace syncline::config
