#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/cases/case_file.hpp"
#include "tests/cli/program.hpp"

namespace syncline::test {

/// The files of a case, in a directory of their own, in which its commands run.
class Bench {
public:
    /// Writes the files. Throws std::runtime_error if a name has no text, or if a text cannot be changed.
    explicit Bench(const Case& one);

    const TempDir& directory() const { return directory_; }

    /// Returns the words of a command, with names replaced. Places are also sought in an argument with the row's text.
    std::vector<std::string> arguments(const Case& one, const Command& command);

    /// Returns the place of a text that is there once: in the row's text, in the last change or, without either, in
    /// any file. `file` takes precedence over the others. Throws std::runtime_error if there is none, or several.
    ExpectedPlace place_of(const std::string& text, const std::string& file) const;

    /// Throws std::runtime_error if the row's text is in no file and in no command.
    void require_row() const;

private:
    struct Text {
        std::string name, text;
        std::optional<std::size_t> row_at;
    };

    static ExpectedPlace place_in(const Text& one, std::size_t at);
    void change(const std::string& from, const std::string& to);

    TempDir directory_;
    std::vector<Text> texts_;         ///< files and arguments
    std::optional<std::string> row_;  ///< the text of a row, or the new one of the last change
};

}  // namespace syncline::test
