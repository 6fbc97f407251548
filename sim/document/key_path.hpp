#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Key paths as users write them: `training.ranks`. A part that contains a dot, an '=' or a quote is written in double
/// quotes, with quotes doubled: `calibration."gpt-3.6b".throughput`. All code uses these functions.
namespace syncline::config {

struct PathPart {
    std::string key;     ///< without quotes
    std::size_t at = 0;  ///< where it begins in the text
};

/// The result of reading a path: its parts, or an error.
struct KeyPath {
    std::vector<PathPart> parts;
    std::string error, hint;
    std::size_t error_at = 0;
};

KeyPath parse_path(std::string_view text);

/// Returns `key` as a part of a path, in quotes if it needs them.
std::string path_part(std::string_view key);

/// Returns the path with only the quotes that it needs, so that two spellings of one path are equal. A text that is not
/// a path is returned unchanged.
std::string plain_path(const std::string& text);

/// Returns the end of the path at the start of `text`: the first '=' that is not in quotes, npos if there is none.
std::size_t end_of_path(std::string_view text);

/// Returns whether `path` leads through `prefix`; both are plain.
bool lies_in(std::string_view path, std::string_view prefix);

}  // namespace syncline::config
