#include "sim/lesson/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace syncline::lesson {

namespace {

constexpr int deepest = 100;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class Reader {
public:
    Reader(std::string_view text, const Values& values) : text_(text), rest_(text), values_(values) {}

    double all() {
        const double value = sum();
        skip_blanks();
        if (!rest_.empty()) fail();
        if (!std::isfinite(value)) throw ArithmeticError(fmt::format("'{}' is not finite", text_));
        return value;
    }

private:
    double sum() {
        double value = product();
        while (true) {
            if (take("+"))
                value += product();
            else if (take("-"))
                value -= product();
            else
                return value;
        }
    }

    double product() {
        double value = factor();
        while (true) {
            if (take("*") || take("·"))
                value *= factor();
            else if (take("/"))
                value /= factor();
            else
                return value;
        }
    }

    double factor() {
        if (++depth_ > deepest) fail();
        const double value = unsigned_factor();
        --depth_;
        return value;
    }

    double unsigned_factor() {
        if (take("-")) return -factor();
        if (take("(")) {
            const double value = sum();
            if (!take(")")) fail();
            return value;
        }
        skip_blanks();
        if (!rest_.empty() && is_letter(rest_.front())) return named();
        double value = 0;
        if (rest_.empty() || !is_digit(rest_.front())) fail();
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) fail();
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }

    double named() {
        const auto end =
            std::find_if_not(rest_.begin(), rest_.end(), [](char c) { return is_letter(c) || is_digit(c); });
        const std::string_view name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
        rest_.remove_prefix(name.size());
        if (take("(")) return function(name, arguments());
        const auto found = values_.find(name);
        if (found == values_.end()) throw ArithmeticError(fmt::format("there is no number '{}'", name));
        return found->second;
    }

    std::vector<double> arguments() {
        std::vector<double> all{sum()};
        while (take(",")) all.push_back(sum());
        if (!take(")")) fail();
        return all;
    }

    double function(std::string_view name, const std::vector<double>& of) {
        if (name == "max") return *std::ranges::max_element(of);
        if (name == "min") return *std::ranges::min_element(of);
        if (name == "lg" && of.size() == 1) return std::log2(of.front());
        throw ArithmeticError(fmt::format("there is no function '{}' of {} numbers", name, of.size()));
    }

    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

    bool take(std::string_view sign) {
        skip_blanks();
        if (!rest_.starts_with(sign)) return false;
        rest_.remove_prefix(sign.size());
        return true;
    }

    [[noreturn]] void fail() const { throw ArithmeticError(fmt::format("'{}' is no arithmetic", text_)); }

    std::string_view text_, rest_;
    const Values& values_;
    int depth_ = 0;
};

}  // namespace

double value_of(std::string_view expression, const Values& values) {
    return Reader(expression, values).all();
}

}  // namespace syncline::lesson
