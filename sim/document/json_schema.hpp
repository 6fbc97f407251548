#pragma once

#include <functional>
#include <string>

#include "sim/document/fields.hpp"

/// Generates JSON Schema (draft-07) from a field table, for editors that complete and check YAML
/// (yaml-language-server). What occurs at several places stands once, in `$defs` (shared_schema.hpp).
namespace syncline::config {

/// Returns the schema as JSON text in lines, ended by a newline. `id` becomes `$id`, `title` the title.
std::string schema(const std::string& id, const std::string& title, const std::function<void(Fields&)>& body);

}  // namespace syncline::config
