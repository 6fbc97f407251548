#pragma once

#include <string>
#include <string_view>

#include "sim/config/document.hpp"

/// Overrides: how one document changes another. Variants of a scenario and `--set` are the two users.
///
/// A mapping changes key by key, everything else replaces what was there; a null (`~`) removes the key, so its default
/// comes back. A key may be a path (key_path.hpp): `training.ranks: 8` is the same as `training: {ranks: 8}`.
namespace syncline::config {

void merge(Node& base, const Node& changes);

/// Keys that stand for each other, of which the one that is given later holds: `selection` and `algorithm` (with its
/// `overlay` and `segment`), `sweep` and `bytes`, `batch` and `batch_per_rank`, `grid` and `model` with `data`. Where
/// `changes` give one, the other is taken out of `base`: of the document itself, its `training` with its `parallelism`,
/// and its `collective`. To be done before merging them.
void drop_alternatives(Node& base, const Node& changes);

/// Rewrites keys that are paths (`a.b.c: v`) as nested mappings, everywhere in `node`'s top level.
/// Throws ConfigError when one is no path, or sets a key twice.
void split_paths(Node& node);

/// Reads `key.path=value` into a document of its own: `{key: {path: value}}`, the value parsed as YAML. File names in
/// it are relative to the working directory. Throws ConfigError.
Node parse_assignment(Library& library, const std::string& text);

}  // namespace syncline::config
