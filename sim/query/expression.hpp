#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/query/sql_tokens.hpp"

/// Names and quantities in SQL expressions that users write. SQLite reads the rest: see Database::check().
namespace syncline::batch {

/// Returns the parts between commas outside of parentheses and quotes, without surrounding spaces. Throws SqlError.
std::vector<std::string> split_list(const std::string& text);

/// The columns that expressions may name, with their aliases.
class ColumnNames {
public:
    /// Adds a column. A name or alias that already exists keeps its meaning.
    void add(const std::string& column, const std::vector<std::string>& aliases = {}, Values values = Values::numbers);
    /// Returns the column that `name` means: by its own name, by an alias, or the first whose name continues `name`
    /// with `_`.
    std::optional<std::string> find(const std::string& name) const;
    /// Returns `expression` as SQL: columns in double quotes, and texts that are numbers or quantities as arguments of
    /// quantity(). A name is a run of letters, digits and `_.-` that begins with a letter or `_`; parts of it may be in
    /// double quotes. What is compared with a column of texts is a text as it is written, also `1e5`, `true` and
    /// `"1e5"`, which can be no name; with a setting, `true` and `0x10` are texts. Throws SqlError at unclosed quotes.
    std::string quoted(const std::string& expression) const;
    /// Returns how the values of the column that `name` means are compared; `numbers` if it is none.
    Values values(const std::string& name) const;
    /// Returns all names and aliases, each once.
    std::vector<std::string> all() const;

private:
    struct Name {
        std::string said;  ///< a name or alias
        std::string column;
        Values values;
    };
    const Name* named(const std::string& name) const;
    const Name* column_at(const std::string& text, std::size_t begin, std::size_t& end) const;
    std::vector<Token> tokens_of(const std::string& expression) const;
    std::string literal(const Token& token, Values values) const;

    std::vector<Name> names_;
};

/// Returns a name quoted for SQL.
std::string sql_name(const std::string& name);

}  // namespace syncline::batch
