#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/config/document.hpp"

namespace syncline::config {

/// What came of reading a file: its text, or what is wrong and how to mend it.
struct Text {
    std::optional<std::string> text;
    std::string error;
    std::string hint;
};

/// Reads a regular file that is not too large. A byte order mark is dropped.
Text read_text(const std::filesystem::path& path);

/// Throws ConfigError if `source` is not text: UTF-8 without control characters, and no more of it than yaml-cpp can
/// take in reasonable time and memory.
void check_text(const Source& source);

}  // namespace syncline::config
