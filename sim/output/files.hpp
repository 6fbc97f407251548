#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Output to files and standard streams. Files are written completely or not at all.
namespace syncline {

/// Writing failed; what() names the path and the reason.
class OutputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Writes `text` to a temporary file beside `path`, then renames it, making directories as needed. Throws OutputError.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Consumes text in pieces.
using Sink = std::function<void(std::string_view)>;

/// Does the same for text that is too large for memory: `produce` passes it to a sink. If it throws, no file is left.
void write_file(const std::filesystem::path& path, const std::function<void(const Sink&)>& produce);

/// Writes all of `text` to standard output. Throws OutputError.
void write_stdout(const std::string& text);

/// Writes to standard error. Ignores failures, since messages do not affect results.
template <class... Args>
void say(fmt::format_string<Args...> form, Args&&... args) {
    const std::string text = fmt::format(form, std::forward<Args>(args)...);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace syncline
