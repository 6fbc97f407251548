#pragma once

#include <string>

namespace syncline::test {

/// Returns the value of numbers with + - * / and parentheses, so that a case shows how its value comes about. Throws
/// std::runtime_error if the text is anything else.
double value_of(const std::string& arithmetic);

}  // namespace syncline::test
