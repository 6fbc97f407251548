#pragma once

#include <functional>
#include <map>
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

/// Returns the values of keys in what `body` describes, as texts by path: what members hold, where the schema of a
/// thing with these members would call it the default. Left out: keys whose default the table puts into words.
std::map<std::string, std::string> held_values(const std::function<void(Fields&)>& body);

}  // namespace syncline::config
