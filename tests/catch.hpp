#pragma once

// Catch2 2 (Debian 12) and Catch2 3 name their headers and some matchers differently; tests use the names of version 3.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#include <string>
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) {
    return Contains(text);
}
}  // namespace Catch::Matchers
#endif
