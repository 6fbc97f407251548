#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

/// Files that are read: every one that a user names, or that a folder of presets holds. Only regular files are opened,
/// without waiting: a pipe may never begin, a device never end.
namespace syncline {

struct FileContent {
    enum class Problem { none, missing, directory, special, too_large, unreadable };
    Problem problem = Problem::none;
    std::string text;    ///< if it is too large: its first bytes
    std::string reason;  ///< the system's, if it is unreadable
};

/// Reads a file of at most `most_bytes`, byte by byte as it is. No more of it is read.
FileContent read_regular(const std::filesystem::path& path, std::size_t most_bytes);

/// Returns whether `path` is a regular file, or a link to one: what a list of files has in it.
bool is_regular(const std::filesystem::path& path);

}  // namespace syncline
