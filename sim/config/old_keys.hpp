#pragma once

#include "sim/config/document.hpp"

namespace syncline::config {

/// Gives keys that were called otherwise in earlier versions their names of today, everywhere in `document`, with a
/// warning for each: `on` of a mapping `reduction` is `where`. Writers of YAML 1.1, for which `on` is a word for true,
/// have made `true` of it, which is read, too. To be done before documents are merged, or one would not replace the
/// other. A mapping with both names keeps both, and reading it says so.
void rename_old_keys(Node& document);

}  // namespace syncline::config
