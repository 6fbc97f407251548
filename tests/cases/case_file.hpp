#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Test cases in files: `tests/cases/*.cases`. tests/cases/README.md describes the format.
namespace syncline::test {

/// An expected text: a part of the one found; after `=`, all of it; after `~`, a regular expression for all of it.
struct ExpectedText {
    enum class Match { part, whole, pattern };

    std::string text;
    Match match = Match::part;

    bool matches(const std::string& found) const;
};

/// A place in a file or an argument. Either line and column are given, or the text that begins there.
struct ExpectedPlace {
    std::string file;  ///< empty: the file that the command names
    int line = 0;
    int column = 0;
    std::string text;
};

/// `expect error at 3:5 "message" hint "hint"`
struct ExpectedError {
    int line;  ///< of the `.cases` file
    std::optional<ExpectedPlace> place;
    ExpectedText message, hint;
    bool excerpt = true;  ///< false: `without excerpt`, of a place that has no text
};

/// `expect output "…"`, `expect no message "…"`
struct ExpectedStream {
    int line;
    bool error_stream;
    bool absent;
    ExpectedText text;
};

/// `expect results.0.ranks = 4`, `expect results.ring.iteration_time_s = 6 * (2e-6 + 1e6/3e9) +- 1e-9`
struct ExpectedField {
    int line;
    std::string path;
    std::string value;              ///< arithmetic, a text in quotes, `true`, `false` or `null`
    std::optional<double> within;   ///< the tolerance, in the field's unit
    std::optional<double> percent;  ///< the tolerance, of the value
};

/// `expect file NAME`, `expect no file NAME`
struct ExpectedFile {
    int line;
    bool absent;
    std::string name;
};

struct Command {
    int line;
    bool in_process;  ///< `read:` calls the library, `run:` the program
    std::vector<std::string> words;
};

struct Case {
    std::filesystem::path source;
    int line = 0;
    std::string title;
    std::vector<std::string> folders;
    std::vector<std::pair<std::string, std::string>> files, texts;  ///< by name; `texts` replace `$name`
    std::vector<std::pair<std::string, std::string>> changes;       ///< a text in one of the files, and its new one
    std::vector<Command> commands;
    std::vector<ExpectedError> errors;
    std::optional<std::size_t> error_count;  ///< `expect 4 errors`: the listed ones are among them
    std::optional<int> exit_code;
    std::vector<ExpectedStream> streams;
    std::vector<ExpectedField> fields;
    std::vector<ExpectedFile> written;
};

/// Reads the cases of a file; each row of a table is one. Throws std::runtime_error, with file and line, if something
/// is not of the format, or if a case expects nothing.
std::vector<Case> read_cases(const std::filesystem::path& file);

/// Returns the value of `name` among `pairs`, or null.
const std::string* find(const std::vector<std::pair<std::string, std::string>>& pairs, const std::string& name);

/// Replaces each `$name` by its text, in which names are replaced, too; `$$` is `$`. `row_at` becomes the offset of
/// `$row`'s text, if it occurs. Throws std::runtime_error if a name has no text.
std::string expand(const Case& one, const std::string& text, std::optional<std::size_t>& row_at);

}  // namespace syncline::test
