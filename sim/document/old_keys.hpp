#pragma once

#include <string>

#include "sim/document/document.hpp"

namespace syncline::config {

/// Renames keys of earlier versions to their current names everywhere in `document`, with a warning for each: `on` of a
/// mapping `reduction` becomes `where`. Writers of YAML 1.1, in which `on` means true, turn it into `true`, which is
/// read as well. Must be called before documents are merged, since one name would not replace the other. A mapping with
/// both names keeps both, and reading it reports an error.
void rename_old_keys(Node& document);

/// Returns a plain path (see plain_path()) with such keys renamed, without a warning.
std::string current_path(const std::string& path);
/// Returns the same for a path that is written at `mark`, with a warning.
std::string current_path(const std::string& path, const Mark& mark);

}  // namespace syncline::config
