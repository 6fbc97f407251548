#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/document/document.hpp"

namespace syncline::config {

/// Axes: keys of a scenario with the values that a study, or a page's knob, gives them in turn.

inline constexpr std::size_t most_points = 1'000'000;

/// The axis that chooses a variant.
inline constexpr const char* variant_key = "variant";

/// A key along which a study varies, and its values.
struct AxisColumn {
    std::string key;  ///< a path
    Mark mark;
    std::vector<Node> values;
    std::vector<std::string> texts;  ///< of each value, as shown to users: see Setting
};

/// Reads the value of an axis's key: a list; powers `2^1..2^10`; a range `2..64`, `2..64 step 2`, whose end is included
/// if a step reaches it; or one value. Reports errors to `assembly`, and then returns no values.
AxisColumn read_axis(Assembly& assembly, const std::string& key, const Mark& mark, const Node& node);

/// Reports a path that does not lead through one of a scenario's keys that may vary: `platform`, `training`, …
void check_axis(Assembly& assembly, const std::string& key, const Mark& mark);

/// Reports values of the axis `variant` that are not variants' names; `names` is empty if there are none.
void check_variants(Assembly& assembly, const AxisColumn& column, const std::vector<std::string>& names);

/// Returns the texts of a column's values: a file's name without directory and extension, if the values stay distinct.
std::vector<std::string> texts_of(const std::vector<Node>& values);

/// Returns the entries of a mapping with plain paths as keys, in the order written: `{a: {b: 1, c.d: 2}}` becomes `a.b:
/// 1`, `a.c.d: 2`.
std::vector<Entry> flattened(const Node& mapping, const std::string& prefix = "");

/// Returns the document `{a: {b: value}}` for the path `a.b`. Throws ConfigError if it is not a path.
Node document_of(const std::string& path, const Mark& mark, Node value);

}  // namespace syncline::config
