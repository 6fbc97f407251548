#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Key paths, the way people write them: `training.ranks` leads through a document's mappings, part by part.
///
/// A part that holds a dot, an '=' or a quote stands in double quotes, where a quote is doubled:
/// `calibration."gpt-3.6b".throughput`. Everything that takes a path apart, or makes one, does it here.
namespace syncline::config {

struct PathPart {
    std::string key;     ///< without quotes
    std::size_t at = 0;  ///< where it begins in the text
};

/// What came of reading a path: its parts, or what is wrong with it.
struct KeyPath {
    std::vector<PathPart> parts;
    std::string error, hint;
    std::size_t error_at = 0;
};

KeyPath parse_path(std::string_view text);

/// `key` as a part of a path: in quotes where it needs them.
std::string path_part(std::string_view key);

/// The path with only the quotes that it needs, so that two ways to write one are equal; what is no path stays as it
/// is.
std::string plain_path(const std::string& text);

/// Where the path at the start of `text` ends: at the first '=' that is not in quotes, npos if there is none.
std::size_t end_of_path(std::string_view text);

/// Whether `path` leads through `prefix`, both plain.
bool lies_in(std::string_view path, std::string_view prefix);

}  // namespace syncline::config
