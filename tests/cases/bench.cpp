#include "tests/cases/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace syncline::test {

namespace {

int characters(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Bench::Bench(const Case& one) {
    for (const std::string& folder : one.folders) fs::copy(one.source.parent_path() / folder, directory_.path());
    if (const std::string* const row = find(one.texts, "row")) row_ = *row;
    for (const auto& [name, text] : one.files) {
        std::optional<std::size_t> row_at;
        const std::string content = expand(one, text, row_at);
        texts_.push_back({name, content, row_at});
    }
    for (const auto& [from, to] : one.changes) {
        std::optional<std::size_t> unused;
        change(expand(one, from, unused), expand(one, to, unused));
    }
    for (const Text& text : texts_) directory_.write(text.name, text.text);
}

void Bench::change(const std::string& from, const std::string& to) {
    std::size_t count = 0;
    for (Text& one : texts_) {
        one.row_at.reset();
        for (std::size_t at = one.text.find(from); at != std::string::npos; at = one.text.find(from, at + 1)) {
            one.row_at = at;
            ++count;
        }
        if (one.row_at && count == 1) one.text.replace(*one.row_at, from.size(), to);
    }
    if (count != 1)
        throw std::runtime_error(fmt::format("'{}' is there {} times, so it cannot be changed", from, count));
    row_ = to;
}

std::vector<std::string> Bench::arguments(const Case& one, const Command& command) {
    std::vector<std::string> words;
    for (const std::string& word : command.words) {
        std::optional<std::size_t> row_at;
        words.push_back(expand(one, word, row_at));
        // Errors in the value of an option name the option.
        if (row_at) texts_.push_back({words.size() > 1 ? words[words.size() - 2] : "", words.back(), row_at});
    }
    return words;
}

ExpectedPlace Bench::place_in(const Text& one, std::size_t at) {
    const std::string_view before = std::string_view(one.text).substr(0, at);
    const std::size_t line = before.rfind('\n') + 1;  // 0 if there is none
    return {one.name, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            characters(before.substr(line)) + 1, ""};
}

ExpectedPlace Bench::place_of(const std::string& text, const std::string& file) const {
    std::vector<ExpectedPlace> found, elsewhere;
    for (const Text& one : texts_) {
        if (row_ && !one.row_at) continue;
        const std::size_t begin = row_ ? *one.row_at : 0;
        const std::size_t end = row_ ? begin + row_->size() : one.text.size();
        for (std::size_t at = one.text.find(text, begin); at < end; at = one.text.find(text, at + 1))
            (one.name == file ? found : elsewhere).push_back(place_in(one, at));
    }
    if (found.empty()) found = elsewhere;
    if (found.size() != 1)
        throw std::runtime_error(fmt::format("'{}' is there {} times, so it is no place", text, found.size()));
    return found.front();
}

void Bench::require_row() const {
    if (row_ && std::none_of(texts_.begin(), texts_.end(), [](const Text& one) { return one.row_at.has_value(); }))
        throw std::runtime_error("the row's text is not used: $row is in no file and in no command");
}

}  // namespace syncline::test
