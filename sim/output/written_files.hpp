#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/utf8.hpp"

/// Output to files and standard streams. Files are written completely or not at all.
namespace syncline {

/// Writing failed; what() names the path and the reason.
class OutputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Writes `text` to a temporary file beside `path`, then renames it, making directories as needed. A file that is
/// replaced keeps its mode, and a symbolic link its place. Throws OutputError.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Throws as write_file() would if the file could not be written; for what is written after a long simulation. Makes
/// the directories above it.
void require_writable(const std::filesystem::path& path);

/// Adds `text` to the end of a file, after `header` if that is new or empty, and on a line of its own. Programs that do
/// so at the same time take turns. Makes directories as needed. Throws OutputError; then nothing has been added.
void append_file(const std::filesystem::path& path, const std::string& header, const std::string& text);

/// Consumes text in pieces.
using Sink = std::function<void(std::string_view)>;

/// Does the same for text that is too large for memory: `produce` passes it to a sink. If it throws, no file is left.
void write_file(const std::filesystem::path& path, const std::function<void(const Sink&)>& produce);

/// Writes all of `text` to standard output, in a form that only shows (printable()). Throws OutputError.
void write_stdout(const std::string& text);

/// Writes all of `text` to standard output as it is: for formats without escapes that other programs read.
void write_data(const std::string& text);

/// Writes to standard error, in a form that only shows. Ignores failures, since messages do not affect results.
template <class... Args>
void say(fmt::format_string<Args...> form, Args&&... args) {
    const std::string text = printable(fmt::format(form, std::forward<Args>(args)...), "\n\t");
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

/// Replaces the last line of the terminal that is standard error.
void redraw(std::string_view line);

}  // namespace syncline
