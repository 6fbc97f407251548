#include "sim/output/reasons.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

namespace syncline {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the end of the number that begins at `i`, including its unit.
std::size_t end_of_number(std::string_view text, std::size_t i) {
    static const std::set<std::string_view> units{"B",  "kB",  "KiB", "MB", "MiB", "GB", "GiB",
                                                  "TB", "TiB", "s",   "ms", "us",  "ns"};
    const auto at = [&](std::size_t place) { return place < text.size() ? text[place] : ' '; };
    while (is_digit(at(i)) || ((at(i) == '.' || at(i) == ',') && is_digit(at(i + 1)))) ++i;
    if (at(i) == 'x' && is_digit(at(i + 1))) return end_of_number(text, i + 1);
    const std::size_t unit = at(i) == ' ' ? i + 1 : i;
    std::size_t end = unit;
    while (is_letter(at(end))) ++end;
    return units.contains(text.substr(std::min(unit, text.size()), end - unit)) ? end : i;
}

/// Replaces numbers by '#' and runs of spaces by one: the indentation of a caret depends on the length of numbers.
std::string without_numbers(std::string_view sentence) {
    std::string text;
    for (std::size_t i = 0; i < sentence.size();) {
        if (sentence[i] == ' ' && text.ends_with(' ')) {
            ++i;
            continue;
        }
        const bool number = is_digit(sentence[i]);
        text += number ? '#' : sentence[i];
        i = number ? end_of_number(sentence, i) : i + 1;
    }
    return text;
}

}  // namespace

void Reasons::add(const std::string& sentence, const std::string& of, std::int64_t count) {
    const auto [at, is_new] = known_.emplace(without_numbers(sentence), reasons_.size());
    if (is_new) reasons_.push_back({sentence, {}, 0, false});
    Reason& reason = reasons_[at->second];
    if (!of.empty() && reason.of.size() < few) reason.of.push_back(of);
    reason.count += count;
    reason.varies = reason.varies || reason.example != sentence;
}

std::vector<Reasons::Reason> Reasons::all() const {
    std::vector<Reason> sorted = reasons_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Reason& a, const Reason& b) { return a.count > b.count; });
    return sorted;
}

std::int64_t Reasons::total() const {
    return std::accumulate(reasons_.begin(), reasons_.end(), std::int64_t{0},
                           [](std::int64_t sum, const Reason& reason) { return sum + reason.count; });
}

}  // namespace syncline
