#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a user did wrong, and where: `file:line:column: error: message`, the source line, a caret, a hint.
///
/// Users' errors are collected and thrown once, as ConfigError. Bugs of our own are std::logic_error.
namespace syncline {

/// A place in a text that the user wrote: a file, or an argument of the command line (then `file` is the option's name
/// or the argument itself). Lines and columns count from 1; a column counts characters (UTF-8), not bytes.
struct Location {
    std::string file;
    int line = 1;
    int column = 1;
    std::string source_line;
};

/// All of `--set` are line 1 of a file of that name: only their texts differ.
inline bool same_place(const Location& a, const Location& b) {
    return a.file == b.file && a.line == b.line && a.column == b.column && a.source_line == b.source_line;
}

struct Diagnostic {
    Location where;
    std::string message;
    std::string hint;  ///< may be empty
};

/// The lines of one diagnostic, each ended by a newline: message, source line, caret, hint. What is empty is left out.
/// A source line longer than a screen is cut to a window around the caret; control characters are shown as spaces.
std::string render(const Diagnostic& diagnostic);

/// One or several errors in what the user gave. `what()` is all of them, rendered; of very many, the first ones and how
/// many more there are.
class ConfigError : public std::exception {
public:
    explicit ConfigError(std::vector<Diagnostic> diagnostics);
    const char* what() const noexcept override { return text_.c_str(); }
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    std::vector<Diagnostic> diagnostics_;
    std::string text_;
};

/// The candidate nearest to `word` by edit distance (Damerau-Levenshtein, letter case ignored), if one is near enough
/// to be what was meant.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace syncline
