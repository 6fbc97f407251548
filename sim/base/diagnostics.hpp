#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Errors in the user's input: `file:line:column: error: message`, the source line, a caret, a hint. They are collected
/// and thrown together as one ConfigError. Bugs of the program are std::logic_error.
namespace syncline {

/// A position in text that the user wrote: a file, or a command-line argument (then `file` is the option's name or the
/// argument itself). Lines and columns count from 1; a column counts characters (UTF-8), not bytes.
struct Location {
    std::string file;
    int line = 1;
    int column = 1;
    std::string source_line;
};

/// Compares the source lines too, because every `--set` is line 1 of a file of that name.
inline bool same_place(const Location& a, const Location& b) {
    return a.file == b.file && a.line == b.line && a.column == b.column && a.source_line == b.source_line;
}

struct Diagnostic {
    Location where;
    std::string message;
    std::string hint;  ///< may be empty
};

/// Returns the lines of one diagnostic, each ended by a newline: message, source line, caret, hint. Empty parts are
/// left out. A source line longer than a screen is cut to a window around the caret; control characters become spaces.
std::string render(const Diagnostic& diagnostic);

/// Prints a warning on standard error, `file:line:column: warning: …`, in the format of render(). Each warning is
/// printed once per process, however often the place is read. It has no other effect.
void warn(const Diagnostic& diagnostic);

/// One or several errors in the user's input. `what()` is all of them, rendered; of a long list, the first ones and the
/// number of the others.
class ConfigError : public std::exception {
public:
    explicit ConfigError(std::vector<Diagnostic> diagnostics);
    const char* what() const noexcept override { return text_.c_str(); }
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    std::vector<Diagnostic> diagnostics_;
    std::string text_;
};

/// Returns the candidate nearest to `word` by edit distance (Damerau-Levenshtein, ignoring letter case), if one is near
/// enough to be a plausible suggestion.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace syncline
