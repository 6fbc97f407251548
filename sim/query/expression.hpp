#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Lexical analysis of SQL expressions that users write: enough of the grammar to find names, texts and commas.
namespace syncline::batch {

struct Token {
    enum class Kind { name, text, other };
    Kind kind = Kind::other;
    std::string written;
    bool called = false;  ///< a name followed by '(': a function
};

/// Splits an expression into tokens; joined in order they are the expression. A name is a run of letters, digits and
/// `_.-` that begins with a letter or `_`; a text includes its single quotes. Throws SqlError at unclosed quotes or
/// parentheses, `;` and comments.
std::vector<Token> tokens_of(const std::string& expression);

/// Returns the parts between commas outside of parentheses and quotes, without surrounding spaces. Throws SqlError.
std::vector<std::string> split_list(const std::string& text);

/// The columns that expressions may name, with their aliases.
class ColumnNames {
public:
    /// Adds a column. A name or alias that already exists keeps its meaning.
    void add(const std::string& column, const std::vector<std::string>& aliases = {});
    /// Returns the column that `name` means: by its own name, by an alias, or the first whose name continues `name`
    /// with `_`.
    std::optional<std::string> find(const std::string& name) const;
    /// Returns `expression` as SQL: columns in double quotes, and texts that are numbers or quantities as arguments of
    /// quantity(). Throws SqlError.
    std::string quoted(const std::string& expression) const;
    /// Returns all names and aliases, each once.
    std::vector<std::string> all() const;

private:
    std::string columns_in(const Token& run) const;

    std::vector<std::pair<std::string, std::string>> names_;  ///< a name or alias, and its column
};

/// Returns a name quoted for SQL.
std::string sql_name(const std::string& name);

}  // namespace syncline::batch
