#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

/// Arithmetic of exam questions.
namespace syncline::lesson {

using Values = std::map<std::string, double, std::less<>>;

struct ArithmeticError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns the value of an expression of numbers, names of `values`, + - * · / and parentheses, max(a, b, …),
/// min(a, b, …) and lg(a), the logarithm to base 2. Throws ArithmeticError if it is anything else or its value is not
/// finite.
double value_of(std::string_view expression, const Values& values = {});

}  // namespace syncline::lesson
