#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/document/fields.hpp"

/// Generates JSON Schema (draft-07) from a field table, for editors that complete and check YAML
/// (yaml-language-server). What occurs at several places stands once, in `$defs` (shared_schema.hpp).
namespace syncline::config {

/// Returns the schema as JSON text in lines, ended by a newline. `id` becomes `$id`, `title` the title.
std::string schema(const std::string& id, const std::string& title, const std::function<void(Fields&)>& body);

/// A key by its path from the top, `training.ranks`, with the description that the schema has.
struct DescribedKey {
    std::string path, description;
};

/// Returns all keys that a path can name, outer ones first. A section that has several forms has the keys of all.
std::vector<DescribedKey> key_paths(const std::function<void(Fields&)>& body);

/// Returns the value of the key with this path in what `body` describes, as text: what the member holds, if the schema
/// of a thing with this member would call it the default. Nothing if there is no such key, or the table puts its
/// default into words.
std::optional<std::string> held_value(const std::function<void(Fields&)>& body, const std::string& path);

}  // namespace syncline::config
