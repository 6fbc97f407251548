#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Names and quantities in SQL expressions that users write. SQLite reads the rest: see Database::check().
namespace syncline::batch {

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
    /// quantity(). A name is a run of letters, digits and `_.-` that begins with a letter or `_`; parts of it may be in
    /// double quotes. Throws SqlError at unclosed quotes.
    std::string quoted(const std::string& expression) const;
    /// Returns all names and aliases, each once.
    std::vector<std::string> all() const;

private:
    std::optional<std::string> column_at(const std::string& text, std::size_t begin, std::size_t& end) const;

    std::vector<std::pair<std::string, std::string>> names_;  ///< a name or alias, and its column
};

/// Returns a name quoted for SQL.
std::string sql_name(const std::string& name);

}  // namespace syncline::batch
