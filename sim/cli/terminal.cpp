#include "sim/cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "sim/base/utf8.hpp"
#include "sim/output/columns.hpp"
#include "sim/output/time_bars.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

std::size_t width_of(int descriptor) {
    constexpr std::size_t usual = 80, narrowest = 20;
    if (isatty(descriptor) != 1) return usual;
    std::size_t width = 0;
    winsize size{};
    if (const char* const set = std::getenv("COLUMNS")) {
        const std::string_view text = set;
        std::from_chars(text.data(), text.data() + text.size(), width);
    }
    if (width == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    return width < narrowest ? usual : width;
}

bool shows_bars() {
    if (isatty(STDOUT_FILENO) != 1) return false;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const locale = std::getenv(name);
        if (locale == nullptr || *locale == '\0') continue;
        std::string text = locale;  // the first that is set counts
        std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return text.find("utf-8") != text.npos || text.find("utf8") != text.npos;
    }
    return false;
}

namespace {

/// Returns the line with a colour for each part of its bar.
std::string coloured_bar(std::string line) {
    constexpr std::array colours{"34", "33", "31", "90"};  // blue, yellow, red, grey
    for (std::size_t i = 0; i < colours.size(); ++i) {
        const std::string_view block = text::bar_parts[i].block;
        for (std::size_t begin = 0; (begin = line.find(block, begin)) != line.npos;) {
            std::size_t end = begin;
            while (line.compare(end, block.size(), block) == 0) end += block.size();
            const std::string part = fmt::format("\x1b[{}m{}\x1b[0m", colours[i], line.substr(begin, end - begin));
            line.replace(begin, end - begin, part);
            begin += part.size();
        }
    }
    return line;
}

}  // namespace

void write_table(const std::string& table) {
    if (isatty(STDOUT_FILENO) != 1) return write_stdout(table);
    const std::string text = printable(table, "\n\t");
    const char *const no_colour = std::getenv("NO_COLOR"), *const kind = std::getenv("TERM");
    const bool plain =
        (no_colour != nullptr && *no_colour != '\0') || (kind != nullptr && std::string_view(kind) == "dumb");
    const auto with = [plain](const char* style, std::string_view part) {
        return plain ? std::string(part) : fmt::format("\x1b[{}m{}\x1b[0m", style, part);
    };
    constexpr const char *bold = "1", *yellow = "33";
    constexpr std::string_view note = "note";
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        if (line.starts_with(note)) {
            const std::string all = fmt::format("{}", fmt::join(text::broken(line, width_of(STDOUT_FILENO)), "\n"));
            out += with(yellow, note) + all.substr(note.size());
        } else {
            const bool best = line.find(" * ") != std::string::npos || line.ends_with(" *");
            out += begin == 0 || best ? with(bold, line) : plain ? line : coloured_bar(line);
        }
        if (end < text.size()) out += '\n';
        begin = end + 1;
    }
    write_data(out);
}

}  // namespace syncline::cli
