#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/batch/database.hpp"
#include "sim/batch/expression.hpp"
#include "sim/config/study.hpp"

/// Points as a table that SQL expressions range over: the language of `include`, `exclude`, `--where`, `--sort` and
/// `--objective`.
///
/// Columns: study, point, repeat, seed, run_id, status, message; each setting's key (`training.ranks`), and its last
/// part (`ranks`) where no other setting has the same; then every number, text and flag of the results, by path
/// (`closed_form.iteration_time_s`, `_` for `.` will do), except those that have a setting's name. `throughput`,
/// `cost`, … are short for the first column that begins so and goes on with `_`.
///
/// Values with units are numbers in their base units, whether settings or texts in expressions: `bandwidth > '9 Gbps'`,
/// `iteration_time_s < '10 ms'`. As a column alone such a setting is shown as it is written.
namespace syncline::batch {

class Store;

struct Rows {
    std::vector<std::string> columns;
    std::vector<std::vector<Value>> rows;
};

/// What a query gives: see `syncline results --help`.
struct Query {
    std::vector<std::string> where;  ///< all must hold
    std::vector<std::string> sort;   ///< expressions, each optionally with `desc`
    /// Columns: then there is one row for each group, with the number of its points and, of each of `columns` that is a
    /// number, mean, least, most and sample standard deviation (`ranks_mean`, `_least`, `_most`, `_deviation`).
    std::vector<std::string> group;
    std::vector<std::string> columns;  ///< expressions; empty: the settings that vary, status and the main figures
};

class Table {
public:
    /// Of settings alone, for conditions: one row, which set() replaces.
    explicit Table(const std::vector<std::string>& keys);
    /// Of all points of a store (of one study, if given).
    explicit Table(Store& store, const std::string& study = "");

    void set(const std::vector<config::Setting>& settings);
    /// Whether `condition` holds for the row of set(). Throws SqlError, with what was meant where a name is misspelt.
    bool holds(const std::string& condition);

    /// Throws SqlError.
    Rows select(const Query& query);

    /// Columns of settings, and of everything, by the name that they are shown by.
    const std::vector<std::string>& settings() const { return settings_; }
    const std::vector<std::string>& columns() const { return columns_; }

    /// `expression` with every name of a column quoted as SQL wants it, short names made long.
    std::string quoted(const std::string& expression) const { return names_.quoted(expression); }

private:
    using Settings = std::map<std::string, std::string>;
    void make(const std::vector<std::string>& keys, const std::vector<std::string>& figures);
    void insert(const std::vector<Value>& point, const Settings& settings, const std::map<std::string, Value>& result);
    bool is_setting(const std::string& column) const;
    std::string heading(const std::string& expression) const;
    std::string filter(const Query& query) const;
    std::vector<std::string> default_columns(const Query& query);
    Rows plain(const Query& query, const std::vector<std::string>& columns);
    Rows grouped(const Query& query, const std::vector<std::string>& columns);

    Database memory_;
    Names names_;
    std::vector<std::string> keys_, settings_, figures_, columns_;
    std::map<std::string, Value> numbers_;  ///< what settings are compared as
    std::map<std::string, Statement> conditions_;
    std::optional<Statement> insert_;
};

/// Of a setting's key: `ranks` of `training.ranks`.
std::string last_part(const std::string& key);

/// What `value` stands for: a number, a quantity in its base unit (`25 Gbps`: bytes per second), else nothing.
std::optional<double> number_of(const Value& value);

/// What to throw where a person wrote an expression at `where`: its column moves to what is wrong.
ConfigError located(const SqlError& error, Location where);

}  // namespace syncline::batch
