#include "tests/cases/arithmetic.hpp"

#include <charconv>
#include <stdexcept>

namespace syncline::test {

namespace {

class Parser {
public:
    explicit Parser(const std::string& text) : text_(text) {}

    double all() {
        const double value = sum();
        if (peek() != '\0') fail();
        return value;
    }

private:
    double sum() {
        double value = product();
        while (peek() == '+' || peek() == '-') value += take() == '+' ? product() : -product();
        return value;
    }

    double product() {
        double value = factor();
        while (peek() == '*' || peek() == '/') {
            if (take() == '*')
                value *= factor();
            else
                value /= factor();
        }
        return value;
    }

    double factor() {
        if (peek() == '-') return take(), -factor();
        if (peek() == '(') {
            take();
            const double value = sum();
            if (peek() != ')') fail();
            return take(), value;
        }
        double value = 0;
        const char* const begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{}) fail();
        at_ += static_cast<std::size_t>(end - begin);
        return value;
    }

    char peek() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    char take() { return text_[at_++]; }

    [[noreturn]] void fail() const { throw std::runtime_error("'" + text_ + "' is no arithmetic"); }

    const std::string& text_;
    std::size_t at_ = 0;
};

}  // namespace

double value_of(const std::string& arithmetic) {
    return Parser(arithmetic).all();
}

}  // namespace syncline::test
