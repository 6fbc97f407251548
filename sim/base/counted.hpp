#pragma once

#include <fmt/format.h>

#include <string>

namespace syncline {

/// Returns "1 rank", "2 ranks".
template <class Number>
std::string counted(Number number, const char* noun) {
    return fmt::format("{} {}{}", number, noun, number == Number{1} ? "" : "s");
}

}  // namespace syncline
