#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Writing, without ever leaving half a file behind.
namespace syncline {

/// The file system or a pipe said no; what() says which path and why.
class OutputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Writes `text` to a temporary file beside `path`, then renames it, making directories as needed. Throws OutputError.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Takes text, piece by piece.
using Sink = std::function<void(std::string_view)>;

/// The same for what is too large to be held: `produce` gives it to a sink. What it throws leaves no file.
void write_file(const std::filesystem::path& path, const std::function<void(const Sink&)>& produce);

/// Writes to standard output, all of it. Throws OutputError.
void write_stdout(const std::string& text);

/// Writes to standard error, or not at all if that takes nothing: what is said there changes no result.
template <class... Args>
void say(fmt::format_string<Args...> form, Args&&... args) {
    const std::string text = fmt::format(form, std::forward<Args>(args)...);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace syncline
