#include "sim/base/did_you_mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/diagnostics.hpp"

namespace syncline {

namespace {

// std::tolower depends on the locale, and the suggestions must not.
char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Counts the insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string
/// alignment).
std::size_t distance(std::string_view a, std::string_view b, bool ignore_case) {
    const auto same = [ignore_case](char x, char y) { return ignore_case ? lower(x) == lower(y) : x == y; };
    std::vector<std::size_t> before_last, last, row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row.back();
}

bool begins(std::string_view text, std::string_view word) {
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

constexpr std::size_t fewest = 3;  // letters that tell something

/// Returns the shortest candidate that begins with `word`: "h100-sxm" of "h100".
std::optional<std::string> begun(std::string_view word, const std::vector<std::string>& candidates) {
    std::optional<std::string> best;
    for (const std::string& candidate : candidates)
        if (word.size() >= fewest && begins(candidate, word) && (!best || candidate.size() < best->size()))
            best = candidate;
    return best;
}

/// Returns the candidate of which another part begins with `word`, if all others with one continue it: "dgx-h100" of
/// "h100", beside "dgx-h100-clos".
std::optional<std::string> containing(std::string_view word, const std::vector<std::string>& candidates) {
    std::vector<std::string> found;
    for (const std::string& candidate : candidates)
        for (std::size_t i = 1; i < candidate.size() && word.size() >= fewest; ++i)
            if (std::string_view("-_.").find(candidate[i - 1]) != std::string_view::npos &&
                begins(std::string_view(candidate).substr(i), word)) {
                found.push_back(candidate);
                break;
            }
    if (found.empty()) return {};
    const std::string& best = *std::ranges::min_element(found, {}, &std::string::size);
    const bool all = std::ranges::all_of(found, [&](const std::string& one) { return begins(one, best); });
    return all ? std::optional(best) : std::nullopt;
}

}  // namespace

std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates) {
    if (auto longer = begun(word, candidates)) return longer;
    std::optional<std::string> best;
    std::pair<std::size_t, std::size_t> best_distance;  // the second is case-sensitive and breaks ties
    for (const std::string& candidate : candidates) {
        const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
        // A third of the letters may differ, but not all of them: "k" is no suggestion for "s".
        const std::size_t allowed = std::max<std::size_t>(1, longer / 3);
        if (longer - shorter > allowed) continue;
        const std::size_t changes = distance(word, candidate, true);
        if (changes > allowed || (changes > 0 && changes >= shorter)) continue;
        const std::pair both{changes, distance(word, candidate, false)};
        if (best && both >= best_distance) continue;
        best = candidate;
        best_distance = both;
    }
    if (!best) return containing(word, candidates);
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates, std::string otherwise) {
    const auto near = closest(word, candidates);
    return near ? fmt::format("did you mean '{}'?", *near) : std::move(otherwise);
}

}  // namespace syncline
