#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Text of another program: words of lines, and errors with the line and a caret.
namespace syncline {

/// A file that was read, inflated if it was a text in gzip.
struct TraceFile {
    std::string name;
    std::string bytes;
};

/// Throws ConfigError at a byte of the text.
[[noreturn]] void refuse(const TraceFile& file, std::size_t byte, const std::string& message,
                         const std::string& hint = "");

/// Takes the words of a text, line by line. Words are separated by spaces and tabs.
class TraceWords {
public:
    /// `file` must outlive the words. From a `comment` on, a line is empty; '\0': there are no comments.
    explicit TraceWords(const TraceFile& file, char comment = '\0') : file_(file), comment_(comment) {}

    /// Goes to the next line with words, and returns false if there is none.
    bool next_line();

    /// Returns whether the line has more words.
    bool has_word();

    /// Takes the next word of the line. `what` says in the error what is missing: "the number of layers".
    std::string_view word(std::string_view what);

    /// Takes a whole number, or a finite number that is not negative.
    std::uint64_t whole(std::string_view what, std::uint64_t most = ~std::uint64_t{0});
    double number(std::string_view what);

    /// Returns the word that comes next without taking it, empty if there is none.
    std::string_view peek();

    /// Throws ConfigError at the word that was taken last, or at the line's beginning.
    [[noreturn]] void refuse(const std::string& message, const std::string& hint = "") const;

private:
    const TraceFile& file_;
    char comment_;
    std::size_t line_end_ = 0, next_ = 0;  ///< of the present line; its next byte
    std::size_t last_ = 0;                 ///< of the word that was taken last
    bool begun_ = false;
};

}  // namespace syncline
