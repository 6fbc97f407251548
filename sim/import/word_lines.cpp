#include "sim/import/word_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/number.hpp"

namespace syncline::config {

namespace {

/// Returns the beginning of a word, for messages.
std::string_view cut(std::string_view text) {
    constexpr std::size_t longest = 40;
    return text.substr(0, longest);
}

}  // namespace

WordLines::WordLines(const Mark& start, char comment) : rest_(start.source->text), mark_(start), comment_(comment) {}

std::vector<PlacedText> WordLines::next() {
    std::vector<PlacedText> words;
    while (words.empty() && !rest_.empty()) {
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        const std::string_view whole = rest_.substr(0, end), line = whole.substr(0, whole.find(comment_));
        words = words_of({line, mark_});
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++mark_.line;
    }
    return words;
}

std::optional<std::int64_t> whole_of(const PlacedText& word, const char* what, std::int64_t least, std::int64_t most,
                                     Findings& findings) {
    const auto number = number_in<std::int64_t>(word.text);
    if (number && *number >= least && *number <= most) return number;
    findings.fail(word.mark, number ? fmt::format("{} is {}, not from {} to {}", what, *number, least, most)
                                    : fmt::format("{}: '{}' is not a whole number", what, cut(word.text)));
    return std::nullopt;
}

std::optional<double> quantity_of(const PlacedText& word, Dimension dimension, Findings& findings) {
    Quantity read = parse_quantity(word.text, dimension);
    if (read.value && *read.value >= 0) return read.value;
    if (read.value) read.error = fmt::format("'{}' is negative", cut(word.text));
    findings.fail(word.mark, std::move(read.error), std::move(read.hint));
    return std::nullopt;
}

}  // namespace syncline::config
