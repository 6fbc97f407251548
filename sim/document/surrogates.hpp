#pragma once

#include <string>
#include <string_view>

/// Characters beyond U+FFFF as JSON writes them, a surrogate pair of escapes as in "\ud83d\ude00" (RFC 8259, section
/// 7), which yaml-cpp refuses: it sees other characters, which are replaced in the values that it returns.
namespace syncline::config {

/// Returns `text` without pairs, and as long, so that places in it stay the same. `text` must not contain control
/// characters other than spaces. A half without the other one stays, which yaml-cpp refuses.
std::string without_pairs(std::string text);

/// Returns a scalar of a text without pairs as it was meant: the character that a pair stands for or, in a scalar
/// without double quotes, the pair's letters.
std::string with_pairs(std::string scalar);

}  // namespace syncline::config
