#include "sim/query/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "sim/base/did_you_mean.hpp"
#include "sim/query/table.hpp"
#include "sim/store/store.hpp"

/// Queries of a Table, as SQL.
namespace syncline::batch {

namespace {

constexpr const char* main_figures[] = {"iteration_time_s",
                                        "throughput_samples_per_s",
                                        "tokens_per_s_per_device",
                                        "scaling_efficiency",
                                        "cost",
                                        "run_time_s",
                                        "run_cost",
                                        "energy_J",
                                        "run_energy_J",
                                        "run_elapsed_median_s",
                                        "run_goodput",
                                        "completion_time_s",
                                        "bus_bandwidth_Bps"};

std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
    return fmt::format("{}", fmt::join(parts, between));
}

/// Returns the SQL of `expression` or `expression desc`; missing values come last.
std::string order_of(const std::string& sort, const Database& database, const std::string& table,
                     const ColumnNames& names) {
    std::string expression = sort;
    const auto space = expression.find_last_of(" )");
    std::string word = space == std::string::npos ? "" : expression.substr(space + 1);
    for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    const bool descending = word == "desc";
    if (descending || word == "asc") expression.resize(space + (expression[space] == ')' ? 1 : 0));
    // SQL takes an integer for the position of a column.
    if (expression.find_first_of("0123456789") != std::string::npos &&
        expression.find_first_not_of("0123456789+-() ") == std::string::npos)
        throw SqlError(fmt::format("'{}' is a number, by which nothing can be sorted", expression),
                       "name a column, or an expression of columns", expression);
    return fmt::format("{} {} NULLS LAST", checked(database, table, names, expression), descending ? "DESC" : "ASC");
}

SqlError unknown(const std::string& name, const ColumnNames& names) {
    return SqlError(fmt::format("there is no column '{}'", name),
                    did_you_mean(name, names.all(),
                                 fmt::format("write texts in single quotes; columns are {}", joined(names.all()))),
                    name);
}

Rows all_of(Statement& statement) {
    Rows rows;
    for (int i = 0; i < statement.columns(); ++i) rows.columns.push_back(statement.name(i));
    while (statement.step()) {
        std::vector<Value>& row = rows.rows.emplace_back();
        for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.value(i));
    }
    return rows;
}

}  // namespace

std::string checked(const Database& database, const std::string& table, const ColumnNames& names,
                    const std::string& expression) {
    const std::string sql = names.quoted(expression);
    try {
        database.check(sql, table);
    } catch (const SqlError& error) {
        constexpr std::string_view begin = "no such column: ";
        const std::string message = error.what();
        if (message.starts_with(begin)) throw unknown(message.substr(begin.size()), names);
        throw;
    }
    return "(" + sql + ")";
}

std::string Table::filter(const Query& query) const {
    std::string sql = "1";
    for (const std::string& condition : query.where) sql += " AND " + checked(memory_, "points", names_, condition);
    return sql;
}

bool Table::is_setting(const std::string& column) const {
    return std::find(keys_.begin(), keys_.end(), column) != keys_.end();
}

/// Returns the name of a column of the result.
std::string Table::heading(const std::string& expression) const {
    const auto column = names_.find(expression);
    if (!column) return expression;
    const auto key = std::find(keys_.begin(), keys_.end(), *column);
    return key == keys_.end() ? *column : settings_[static_cast<std::size_t>(key - keys_.begin())];
}

Unit Table::unit(const std::string& expression) const {
    const auto column = names_.find(expression);
    return column && !is_setting(*column) ? unit_of(*column) : Unit::number;
}

/// Returns the settings that distinguish the points, their status, and the main figures.
std::vector<std::string> Table::default_columns(const Query& query) {
    const std::string among = filter(query);
    const auto counts = [&](const std::string& what) {
        return std::get<std::int64_t>(memory_.ask(fmt::format("SELECT {} FROM points WHERE {}", what, among)));
    };
    const auto varies = [&](const std::string& name) {
        return counts(fmt::format("count(DISTINCT {0}) + (count({0}) < count(*) AND count({0}) > 0)", sql_name(name))) >
               1;
    };
    std::vector<std::string> columns;
    if (query.group.empty()) {
        if (varies("study")) columns.push_back("study");
        for (const std::string& key : keys_)
            if (varies(key)) columns.push_back(key);
        for (const char* name : {"repeat", "seed"})
            if (varies(name)) columns.push_back(name);
        if (columns.empty()) columns.push_back("point");
        if (counts("count(*) > 0 AND count(CASE status WHEN 'done' THEN 1 END) < count(*)") > 0)
            columns.push_back("status");
    }
    const auto add = [&](const char* figure) {
        const auto name = names_.find(figure);
        if (name && counts(fmt::format("count({}) > 0 OR count(*) = 0", sql_name(*name))) > 0) columns.push_back(*name);
    };
    for (const char* figure : main_figures) add(figure);
    if (query.group.empty()) add("limited_by");  // a text has no mean
    if (query.group.empty() && counts("count(*) > 0 AND count(message) = count(*)") > 0) columns.push_back("message");
    return columns;
}

Rows Table::plain(const Query& query, const std::vector<std::string>& columns) {
    std::vector<std::string> shown, order;
    for (const std::string& expression : columns) {
        const auto column = names_.find(expression);
        shown.push_back(column && is_setting(*column)
                            ? fmt::format("coalesce({}, {})", sql_name(written(*column)), sql_name(*column))
                        : column ? sql_name(*column)
                                 : checked(memory_, "points", names_, expression));
    }
    for (const std::string& sort : query.sort) order.push_back(order_of(sort, memory_, "points", names_));
    for (const char* last : {"study", "point", "repeat"}) order.push_back(fmt::format("points.{}", last));
    Statement statement = memory_.prepare(
        fmt::format("SELECT {} FROM points WHERE {} ORDER BY {}", joined(shown), filter(query), joined(order)));
    Rows rows = all_of(statement);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        rows.columns[i] = heading(columns[i]);
        rows.units.push_back(unit(columns[i]));
    }
    return rows;
}

Rows Table::grouped(const Query& query, const std::vector<std::string>& columns) {
    // Deviations from the mean are squared, not values, since the difference of large sums would lose all digits.
    std::vector<std::string> inner, outer, groups;
    ColumnNames results;
    std::vector<Unit> units;
    for (std::size_t i = 0; i < query.group.size(); ++i) {
        const auto column = names_.find(query.group[i]);
        if (!column) throw unknown(query.group[i], names_);
        const std::string name = heading(query.group[i]);
        inner.push_back(fmt::format("{} AS g{}, {} AS w{}", sql_name(*column), i,
                                    sql_name(is_setting(*column) ? written(*column) : *column), i));
        groups.push_back(fmt::format("g{}", i));
        outer.push_back(fmt::format("coalesce(min(w{0}), g{0}) AS {1}", i, sql_name(name)));
        results.add(name, {*column});
        units.push_back(unit(*column));
    }
    results.add("points");
    units.push_back(Unit::number);
    outer.push_back("count(*) AS points");
    const std::string by = joined(groups);
    std::vector<std::string> middle;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string name = heading(columns[i]);
        inner.push_back(fmt::format("CASE WHEN typeof({0}) IN ('integer', 'real') THEN {0} END AS x{1}",
                                    checked(memory_, "points", names_, columns[i]), i));
        middle.push_back(fmt::format("avg(x{0}) OVER (PARTITION BY {1}) AS m{0}", i, by));
        const std::pair<const char*, std::string> parts[] = {
            {"mean", "avg(x{0})"},
            {"least", "min(x{0})"},
            {"most", "max(x{0})"},
            {"deviation", "root(sum((x{0} - m{0}) * (x{0} - m{0})) / nullif(count(x{0}) - 1, 0))"}};
        for (const auto& [part, sql] : parts) {
            const std::string result = fmt::format("{}_{}", name, part);
            outer.push_back(fmt::format(fmt::runtime(sql), i) + " AS " + sql_name(result));
            results.add(result);
            units.push_back(unit(columns[i]));
        }
    }
    middle.push_back("*");
    memory_.run("DROP TABLE IF EXISTS groups");
    memory_.run(fmt::format(
        "CREATE TABLE groups AS SELECT {}, {} FROM (SELECT {} FROM (SELECT {} FROM points WHERE {})) GROUP BY {}",
        joined(outer), by, joined(middle), joined(inner), filter(query), by));
    std::vector<std::string> order;
    for (const std::string& sort : query.sort) order.push_back(order_of(sort, memory_, "groups", results));
    for (const std::string& group : groups) order.push_back(group + " NULLS LAST");
    Statement statement = memory_.prepare("SELECT * FROM groups ORDER BY " + joined(order));
    Rows rows = all_of(statement);
    const std::size_t width = rows.columns.size() - groups.size();
    rows.columns.resize(width);
    rows.units = std::move(units);
    for (std::vector<Value>& row : rows.rows) row.resize(width);
    return rows;
}

Rows Table::select(const Query& query) {
    // A query of all columns of a point takes a few hundred steps, and sorting them a few more.
    memory_.allow(100 + points_ / 100);
    const std::vector<std::string> columns = query.columns.empty() ? default_columns(query) : query.columns;
    return query.group.empty() ? plain(query, columns) : grouped(query, columns);
}

}  // namespace syncline::batch
