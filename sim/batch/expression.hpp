#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// SQL expressions that people write, in words: as much of the grammar as it takes to find names, texts and commas.
namespace syncline::batch {

struct Token {
    enum class Kind { name, text, other };
    Kind kind = Kind::other;
    std::string written;
    bool called = false;  ///< a name that '(' follows: a function
};

/// In order; joined they are the expression. A name is a run of letters, digits and `_.-` that begins with a letter or
/// `_`; a text is in single quotes, they included. Throws SqlError where quotes or parentheses are not closed, and at
/// `;` and comments.
std::vector<Token> tokens_of(const std::string& expression);

/// The parts between commas that are in no parentheses or quotes, without spaces around them. Throws SqlError.
std::vector<std::string> split_list(const std::string& text);

/// The columns that expressions may name, and how else they may be called.
class Names {
public:
    /// The first to claim a name keeps it.
    void add(const std::string& column, const std::vector<std::string>& aliases = {});
    /// The column that `name` means: its own name, an alias, or the first that begins with it and goes on with `_`.
    std::optional<std::string> find(const std::string& name) const;
    /// `expression` as SQL: columns in double quotes, texts that are numbers or quantities as what
    /// quantity() makes of them. Throws SqlError.
    std::string quoted(const std::string& expression) const;
    /// All that may be said, each once.
    std::vector<std::string> all() const;

private:
    std::string columns_in(const Token& run) const;

    std::vector<std::pair<std::string, std::string>> names_;  ///< what is said, what it means
};

/// A name as SQL takes any.
std::string sql_name(const std::string& name);

}  // namespace syncline::batch
