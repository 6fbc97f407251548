#include "sim/document/read_text.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "sim/base/regular_file.hpp"
#include "sim/base/utf8.hpp"

namespace syncline::config {

namespace {

namespace fs = std::filesystem;

/// yaml-cpp holds all tokens of a bracketed list in memory, about 230 bytes for each bracket, before it returns the
/// first one. Characters that make tokens are therefore counted before it reads the text.
constexpr std::size_t most_separators = 500'000;

bool makes_token(char32_t character) {
    return std::u32string_view(U"[]{},:&*!\n").find(character) != std::u32string_view::npos;
}

/// Returns the name in the same directory that was probably meant.
std::string nearest(const fs::path& path) {
    constexpr int most_looked_at = 10'000;
    std::error_code error;
    const fs::path directory = path.parent_path();
    std::vector<std::string> names;
    fs::directory_iterator entry(directory.empty() ? "." : directory, error);
    for (int i = 0; !error && entry != fs::directory_iterator() && i < most_looked_at; ++i, entry.increment(error))
        names.push_back(entry->path().filename().string());
    const auto name = closest(path.filename().string(), names);
    return name ? fmt::format("did you mean '{}'?", (directory / *name).lexically_normal().string()) : "";
}

Text failure(const fs::path& path, const std::string& why, const std::string& hint = "") {
    return {std::nullopt, fmt::format("'{}' {}", path.lexically_normal().string(), why), hint};
}

}  // namespace

Text read_text(const fs::path& path, std::size_t most_bytes) {
    std::error_code error;
    if (path.filename().empty() && !fs::is_directory(path, error)) return {{}, "the name of the file is empty", ""};
    FileContent file = read_regular(path, most_bytes);
    switch (file.problem) {
        case FileContent::Problem::none:
            break;
        case FileContent::Problem::missing:
            return failure(path, "does not exist", nearest(path));
        case FileContent::Problem::directory:
            return failure(path, "is a directory", "name a file in it");
        case FileContent::Problem::special:
            return failure(path, "is not a regular file");
        case FileContent::Problem::too_large:
            return failure(path, "is too large", fmt::format("the maximum is {} MiB", most_bytes >> 20));
        case FileContent::Problem::unreadable:
            return failure(path, "cannot be read: " + file.reason);
    }
    if (file.text.starts_with("\xef\xbb\xbf")) file.text.erase(0, 3);
    return {std::move(file.text), "", ""};
}

void check_text(const Source& source) {
    Mark mark{&source, 1, 1};
    std::size_t separators = 0;
    const auto fail = [&](const std::string& message, const std::string& hint) {
        throw ConfigError({{locate(mark), message, hint}});
    };
    for (std::string_view rest = source.text; !rest.empty();) {
        const std::size_t before = rest.size();
        const auto character = take_character(rest);
        if (!character) fail("this byte is not UTF-8 text", "write it as UTF-8");
        const bool space = *character == '\n' || *character == '\r' || *character == '\t';
        if (is_control(*character) && !space)
            fail(fmt::format("this is control character U+{:04X}", static_cast<unsigned>(*character)), "remove it");
        if (makes_token(*character)) ++separators;
        if (separators > most_separators)
            fail("this file has too many tokens",
                 fmt::format("the maximum is {} lines, brackets, commas and other characters with a meaning in YAML",
                             most_separators));
        mark.column += static_cast<int>(before - rest.size());
        if (*character == '\n') mark = {&source, mark.line + 1, 1};
    }
}

}  // namespace syncline::config
