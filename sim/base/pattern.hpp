#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace syncline {

/// Returns a name with an asterisk for each of its numbers: equal for "bucket 3 (layer2)" and "bucket 12 (layer5)".
inline std::string pattern_of(std::string_view name) {
    std::string pattern;
    for (const char letter : name) {
        const bool digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
        if (!digit)
            pattern += letter;
        else if (pattern.empty() || pattern.back() != '*')
            pattern += '*';
    }
    return pattern;
}

}  // namespace syncline
