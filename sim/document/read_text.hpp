#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "sim/document/document.hpp"

namespace syncline::config {

/// The result of reading a file: its text, or an error with a hint.
struct Text {
    std::optional<std::string> text;
    std::string error;
    std::string hint;
};

inline constexpr std::size_t largest_yaml = 8 << 20;
/// Maximum for formats that take less memory than yaml-cpp.
inline constexpr std::size_t largest_other_file = 64 << 20;
/// Maximum for files of which nothing is kept but a digest.
inline constexpr std::size_t largest_trace_file = std::size_t{1} << 30;

/// Reads a regular file of at most `most_bytes`. A byte order mark is dropped.
Text read_text(const std::filesystem::path& path, std::size_t most_bytes = largest_yaml);

/// Throws ConfigError if `source` is not text: UTF-8 without control characters, and no larger than yaml-cpp can read
/// in reasonable time and memory.
void check_text(const Source& source);

}  // namespace syncline::config
