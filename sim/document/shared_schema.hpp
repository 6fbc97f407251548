#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

/// JSON Schemas in which everything stands once, and their text.
namespace syncline::config {

/// Returns the schema with each key that occurs at several places with the same value, and each mapping that does, as
/// one definition in `$defs`, to which these places refer by `$ref`. A definition is named after its key, with the keys
/// around its first place in front if another one has that name.
nlohmann::ordered_json share(const nlohmann::ordered_json& schema);

/// Returns a shared schema with the definitions in the places that refer to them: it is easier to search.
nlohmann::json expanded(const nlohmann::json& shared);

/// Returns JSON with two spaces for each level, in which a value that fits into a line of 140 columns has one line.
std::string lines_of(const nlohmann::ordered_json& value);

}  // namespace syncline::config
