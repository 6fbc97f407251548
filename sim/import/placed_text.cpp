#include "sim/import/placed_text.hpp"

#include <algorithm>

namespace syncline::config {

std::vector<PlacedText> words_of(const PlacedText& line) {
    constexpr std::string_view spaces = " \t\r";
    std::vector<PlacedText> words;
    for (std::size_t at = line.text.find_first_not_of(spaces); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.text.find_first_of(spaces, at), line.text.size());
        words.push_back({line.text.substr(at, end - at), line.mark});
        words.back().mark.column += static_cast<int>(at);
        at = line.text.find_first_not_of(spaces, end);
    }
    return words;
}

}  // namespace syncline::config
