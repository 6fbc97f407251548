#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/document.hpp"

namespace syncline::config {

inline constexpr std::size_t most_points = 1'000'000;

/// A key along which a study varies, and its values.
struct AxisColumn {
    std::string key;  ///< a path
    Mark mark;
    std::vector<Node> values;
    std::vector<std::string> texts;  ///< of each, as people read it: see Setting
};

/// Reads what stands behind an axis's key: a list; powers `2^1..2^10`; a range `2..64`, `2..64 step 2`, whose end is a
/// value if a step hits it; or one value. What is wrong is reported to `assembly`, and no values are returned.
AxisColumn read_axis(Assembly& assembly, const std::string& key, const Mark& mark, const Node& node);

/// The texts of a column's values: a file's name without directory and extension, where that tells the values apart.
std::vector<std::string> texts_of(const std::vector<Node>& values);

/// Entries of a mapping with a plain path for a key, in the order written: `{a: {b: 1, c.d: 2}}` is `a.b: 1`,
/// `a.c.d: 2`.
std::vector<Entry> flattened(const Node& mapping, const std::string& prefix = "");

/// A plain text as a value.
Node scalar(const Mark& mark, std::string text);

/// The document `{a: {b: value}}` of the path `a.b`. Throws ConfigError if it is no path.
Node document_of(const std::string& path, const Mark& mark, Node value);

}  // namespace syncline::config
