#pragma once

#include <string>
#include <string_view>

#include "sim/document/document.hpp"

/// Overrides: changes of one document by another, by variants and `--set`. A mapping changes key by key, everything
/// else replaces the previous value; a null (`~`) removes the key. A key may be a path (key_path.hpp).
namespace syncline::config {

void merge(Node& base, const Node& changes);

/// Removes from `base` the alternatives of keys that `changes` give, since a later key overrides an earlier
/// alternative. Alternatives are `selection` and `algorithm` (with its `overlay` and `segment`), `sweep` and `bytes`,
/// `batch` and `batch_per_rank`, `model: auto` and `data`, a `framework` and one with a `base`; of a job its `scenario`
/// and what it replaces, and its ways to arrive. Applies to the document itself, its `training` with its
/// `parallelism`, its `collective`, and its `jobs`. Must be called before merging.
void drop_alternatives(Node& base, const Node& changes);

/// Rewrites keys that are paths (`a.b.c: v`) as nested mappings, everywhere in `node`'s top level.
/// Throws ConfigError if one is not a path, or sets a key twice.
void split_paths(Node& node);

/// Reads `key.path=value` into a document of its own: `{key: {path: value}}`, the value parsed as YAML. File names in
/// it are relative to the working directory. Throws ConfigError.
Node parse_assignment(Library& library, const std::string& text);

}  // namespace syncline::config
