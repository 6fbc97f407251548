#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

/// The lines of test cases in files, piece by piece.
namespace syncline::test {

/// A line is not of the format.
struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns the text without spaces at its ends.
std::string trimmed(const std::string& text);

/// Returns a text as written or, if it is in double quotes, with its escapes replaced. Throws Wrong.
std::string unquoted(const std::string& written);

/// Splits a command as a shell does: at spaces, except in single or double quotes. Throws Wrong.
std::vector<std::string> split(const std::string& command);

/// The rest of a line, taken piece by piece. Pieces are followed by spaces. What is missing throws Wrong.
class Pieces {
public:
    explicit Pieces(const std::string& rest) : rest_(trimmed(rest)) {}

    bool empty() const { return rest_.empty(); }
    /// Returns whether `begin` is next, which may be a part of a word.
    bool at(const std::string& begin) const { return rest_.rfind(begin, 0) == 0; }
    bool at_number() const { return !empty() && rest_.front() >= '0' && rest_.front() <= '9'; }

    /// Takes the word if it is next.
    bool take(const std::string& word);
    std::string word();
    /// Takes a text in double quotes, with the escapes of C.
    std::string quoted();
    std::string all();
    /// Throws if something is left.
    void finish() const;

    template <class Number>
    Number number() {
        return number_of<Number>(word());
    }

    template <class Number>
    static Number number_of(const std::string& text) {
        Number result{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
        if (error != std::errc{} || end != text.data() + text.size()) throw Wrong("'" + text + "' is not a number");
        return result;
    }

private:
    std::string rest_;
};

}  // namespace syncline::test
