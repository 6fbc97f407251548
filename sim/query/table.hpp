#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/output/field_units.hpp"
#include "sim/query/expression.hpp"
#include "sim/store/database.hpp"
#include "sim/study/study.hpp"

/// Points as a table for SQL expressions: the language of `include`, `exclude`, `--where`, `--sort` and `--objective`.
///
/// Columns: study, point, repeat, seed, run_id, status, message; each setting's key (`training.ranks`), and its last
/// part (`ranks`) if no other setting has the same; then every number, text and flag of the results, by path
/// (`closed_form.iteration_time_s`, also with `_` in place of `.`). `throughput`, `cost`, … are short for the first
/// column whose name continues them with `_`. Values with units are numbers in their base units: `bandwidth > '9
/// Gbps'`. Names of studies and variants, and texts of results, are texts even if they look like numbers.
namespace syncline::batch {

class Store;

struct Rows {
    std::vector<std::string> columns;
    std::vector<std::vector<Value>> rows;
    std::vector<Unit> units = {};  ///< of the columns; those of results have one, and what is computed for a group

    Unit unit(std::size_t column) const { return column < units.size() ? units[column] : Unit::number; }
};

/// A query: see `syncline results --help`.
struct Query {
    std::vector<std::string> where;  ///< conditions, all of which must be true
    std::vector<std::string> sort;   ///< expressions, each optionally with `desc`
    /// Columns by which points are grouped: one row per group, with the number of its points and, for each of `columns`
    /// that is a number, `_mean`, `_least`, `_most` and `_deviation` (of the sample).
    std::vector<std::string> group;
    std::vector<std::string> columns;  ///< expressions; empty: the settings that vary, status and the main figures
};

class Table {
public:
    /// Creates a table of settings only, for conditions: one row, which set() replaces.
    explicit Table(const std::vector<std::string>& keys);
    /// Creates a table of all points of a store (of one study, if given).
    explicit Table(Store& store, const std::string& study = "");

    void set(const std::vector<config::Setting>& settings);
    /// Returns whether `condition` is true for the row of set(). Throws SqlError, with a suggestion for a misspelt
    /// name.
    bool holds(const std::string& condition);

    /// Runs a query. Throws SqlError.
    Rows select(const Query& query);

    /// Return the columns of settings, and all columns, by the name that is shown.
    const std::vector<std::string>& settings() const { return settings_; }
    const std::vector<std::string>& columns() const { return columns_; }

    /// Returns the unit of the result that `expression` names; `number` for settings and everything else.
    Unit unit(const std::string& expression) const;

    /// Returns whether `expression` names a column of texts, which are no numbers whatever they look like.
    bool holds_texts(const std::string& expression) const { return names_.values(expression) == Values::texts; }

    /// Returns `expression` with all names of columns quoted for SQL and short names expanded.
    std::string quoted(const std::string& expression) const { return names_.quoted(expression); }

private:
    using Settings = std::map<std::string, std::string>;
    struct Figure {
        std::string name;
        Values values;
    };
    void make(const std::vector<std::string>& keys, const std::vector<Figure>& figures);
    void insert(const std::vector<Value>& point, const Settings& settings, const std::map<std::string, Value>& result);
    bool is_setting(const std::string& column) const;
    std::string heading(const std::string& expression) const;
    std::string filter(const Query& query) const;
    std::vector<std::string> default_columns(const Query& query);
    Rows plain(const Query& query, const std::vector<std::string>& columns);
    Rows grouped(const Query& query, const std::vector<std::string>& columns);

    Database memory_;
    ColumnNames names_;
    std::vector<std::string> keys_, settings_, figures_, columns_;
    std::map<std::string, Value> numbers_;  ///< the values by which settings are compared
    std::map<std::string, Statement> conditions_;
    std::optional<Statement> insert_;
    std::int64_t points_ = 0;
};

/// Returns the last part of a setting's key: `ranks` of `training.ranks`.
std::string last_part(const std::string& key);

/// Returns `value` as a number: a plain number, or a quantity in its base unit (`25 Gbps`: bytes per second); else
/// nothing.
std::optional<double> number_of(const Value& value);

/// Returns the error to throw for an expression that a user wrote at `where`; the column moves to the part that is
/// wrong.
ConfigError located(const SqlError& error, Location where);

}  // namespace syncline::batch
