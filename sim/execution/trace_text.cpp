#include "sim/execution/trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"

namespace syncline {

void refuse(const TraceFile& file, std::size_t byte, const std::string& message, const std::string& hint) {
    const std::string_view text = file.bytes;
    byte = std::min(byte, text.size());
    const std::string_view before = text.substr(0, byte);
    const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::size_t end = std::min(text.find('\n', byte), text.size());
    // A line of a hostile file may be the whole of it.
    constexpr std::size_t most_shown = 4096;
    const std::size_t from = byte - std::min(byte - begin, most_shown);
    Location where{file.name, 1 + static_cast<int>(std::ranges::count(before, '\n')),
                   1 + static_cast<int>(count_characters(text.substr(from, byte - from))),
                   std::string(text.substr(from, std::min(end, byte + most_shown) - from))};
    if (where.source_line.ends_with('\r')) where.source_line.pop_back();
    throw ConfigError({{where, message, hint}});
}

namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

}  // namespace

bool TraceWords::next_line() {
    const std::string_view text = file_.bytes;
    while (true) {
        if (begun_ && line_end_ >= text.size()) return false;
        next_ = begun_ ? line_end_ + 1 : 0;
        begun_ = true;
        if (next_ > text.size()) return false;
        line_end_ = std::min(text.find('\n', next_), text.size());
        last_ = next_;
        if (has_word()) return true;
    }
}

bool TraceWords::has_word() {
    const std::string_view text = file_.bytes;
    while (next_ < line_end_ && is_space(text[next_])) ++next_;
    if (comment_ != '\0' && next_ < line_end_ && text[next_] == comment_) next_ = line_end_;
    return next_ < line_end_;
}

std::string_view TraceWords::peek() {
    if (!has_word()) return {};
    std::size_t end = next_;
    while (end < line_end_ && !is_space(file_.bytes[end])) ++end;
    return std::string_view(file_.bytes).substr(next_, end - next_);
}

std::string_view TraceWords::word(std::string_view what) {
    if (!has_word()) {
        last_ = line_end_;
        refuse(fmt::format("{} is missing", what));
    }
    const std::string_view found = peek();
    last_ = next_;
    next_ += found.size();
    return found;
}

std::uint64_t TraceWords::whole(std::string_view what, std::uint64_t most) {
    const std::string_view text = word(what);
    const auto number = number_in<std::uint64_t>(text);
    if (!number) refuse(fmt::format("{} must be a whole number, not '{}'", what, printable(text.substr(0, 40))));
    if (*number > most) refuse(fmt::format("{} must be at most {}", what, most));
    return *number;
}

double TraceWords::number(std::string_view what) {
    const std::string_view text = word(what);
    const auto number = number_in<double>(text);
    if (!number || !std::isfinite(*number) || *number < 0)
        refuse(fmt::format("{} must be a number that is not negative, not '{}'", what, printable(text.substr(0, 40))));
    return *number;
}

void TraceWords::refuse(const std::string& message, const std::string& hint) const {
    syncline::refuse(file_, last_, message, hint);
}

}  // namespace syncline
