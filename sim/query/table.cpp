#include "sim/query/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/abbreviations.hpp"
#include "sim/base/number.hpp"
#include "sim/base/units.hpp"
#include "sim/document/key_path.hpp"
#include "sim/output/written_files.hpp"
#include "sim/query/query.hpp"
#include "sim/store/scalars.hpp"
#include "sim/store/store.hpp"
#include "sim/study/study_parts.hpp"

namespace syncline::batch {

namespace {

constexpr std::size_t most_columns = 2000;  // SQLite's limit

const std::vector<std::string> fixed{"study", "point", "repeat", "seed", "run_id", "status", "message"};

std::string underlined(std::string path) {
    std::replace(path.begin(), path.end(), '.', '_');
    return path;
}

/// Returns `text` as a number, if all of it is one.
Value plain_number(const std::string& text) {
    if (const auto whole = number_in<std::int64_t>(text)) return *whole;
    if (const auto number = number_in<double>(text)) return *number;
    return {};
}

bool may_be_number(const std::string& text) {
    return !text.empty() && text.find_first_of("0123456789") <= 2;
}

/// Returns the value by which a setting is compared.
Value number_or_text(const std::string& text) {
    if (Value plain = plain_number(text); plain.index() != 0) return plain;
    const auto number = number_of(text);
    return number ? Value(*number) : Value(text);
}

}  // namespace

std::string last_part(const std::string& key) {
    const config::KeyPath path = config::parse_path(key);
    return path.error.empty() ? path.parts.back().key : key;
}

std::optional<double> number_of(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || !may_be_number(*text)) return {};
    if (const Value number = plain_number(*text); number.index() != 0) return number_of(number);
    for (const Dimension dimension : dimensions_with_units)
        if (const Quantity quantity = parse_quantity(*text, dimension); quantity.value) return quantity.value;
    return {};
}

ConfigError located(const SqlError& error, Location where) {
    const auto begins = [](char c) { return (c & 0xc0) != 0x80; };  // a UTF-8 character
    const std::string& line = where.source_line;
    std::size_t from = 0;
    for (int column = 1; from < line.size() && column < where.column; ++from)
        if (from + 1 == line.size() || begins(line[from + 1])) ++column;
    const auto place = error.word().empty() ? std::string::npos : line.find(error.word(), from);
    if (place != std::string::npos)
        where.column += static_cast<int>(std::count_if(line.begin() + static_cast<std::ptrdiff_t>(from),
                                                       line.begin() + static_cast<std::ptrdiff_t>(place), begins));
    return ConfigError({{where, error.what(), error.hint()}});
}

namespace {

/// Returns the heading that the tables of `syncline run` have for a figure, where it is another word.
std::string heading_of_runs(const std::string& figure) {
    if (figure == "workload") return "model";
    if (figure == "scaling_efficiency") return "efficiency";
    return figure;
}

}  // namespace

Table::Table(const std::vector<std::string>& keys) {
    make(keys, {});
}

void Table::make(const std::vector<std::string>& keys, const std::vector<Figure>& figures) {
    keys_ = keys;
    // Settings have NUMERIC affinity, so that texts that are numbers are compared as numbers (`ranks = '4'`).
    std::vector<std::string> declared{"study TEXT",  "point INTEGER", "repeat INTEGER", "seed",
                                      "run_id TEXT", "status TEXT",   "message TEXT"};
    std::set<std::string> taken(fixed.begin(), fixed.end());
    for (const std::string& name : fixed) {
        const bool number = name == "point" || name == "repeat" || name == "seed";
        names_.add(name, {}, number ? Values::numbers : Values::texts);
    }
    columns_ = fixed;
    std::map<std::string, int> uses;
    for (const std::string& key : keys) ++uses[last_part(key)];
    for (const std::string& key : keys) {
        const std::string last = last_part(key);
        const bool unique = uses[last] == 1 && taken.count(last) == 0;
        settings_.push_back(unique ? last : key);
        columns_.push_back(settings_.back());
        taken.insert({key, settings_.back()});
        // The name of a variant stays a text, as in "007" and "1e400".
        const bool text = key == config::variant_key;
        names_.add(key, unique ? std::vector{last} : std::vector<std::string>{},
                   text ? Values::texts : Values::settings);
        declared.push_back(sql_name(key) + (text ? " TEXT" : " NUMERIC"));
        declared.push_back(sql_name(written(key)));
    }
    for (const auto& [figure, values] : figures) {
        if (!taken.insert(figure).second) continue;
        columns_.push_back(figure);
        std::vector<std::string> aliases{underlined(figure), heading_of_runs(figure)};
        for (const Abbreviation& one : abbreviations)
            if (one.field == figure) aliases.emplace_back(one.name);
        names_.add(figure, aliases, values);
        declared.push_back(sql_name(figure) + (values == Values::texts ? "" : " NUMERIC"));
    }
    figures_.assign(columns_.begin() + static_cast<std::ptrdiff_t>(fixed.size() + keys.size()), columns_.end());
    if (declared.size() > most_columns)
        throw OutputError(fmt::format("error: the points have more than {} settings and results", most_columns));
    memory_.define("quantity", [](const std::vector<Value>& values) -> Value {
        const auto* text = values.size() == 1 ? std::get_if<std::string>(&values[0]) : nullptr;
        return text != nullptr ? number_or_text(*text) : values.empty() ? Value{} : values[0];
    });
    memory_.define("root", [](const std::vector<Value>& values) -> Value {
        const auto number = values.size() == 1 ? number_of(values[0]) : std::nullopt;
        return number ? Value(std::sqrt(*number)) : Value{};
    });
    memory_.run(fmt::format("CREATE TABLE points({})", fmt::join(declared, ", ")));
    const std::vector<std::string> places(declared.size(), "?");
    insert_.emplace(memory_.prepare(fmt::format("INSERT INTO points VALUES ({})", fmt::join(places, ", "))));
}

void Table::insert(const std::vector<Value>& point, const Settings& settings,
                   const std::map<std::string, Value>& result) {
    std::vector<Value> row = point;
    for (const std::string& key : keys_) {
        const auto setting = settings.find(key);
        if (setting == settings.end()) {
            row.resize(row.size() + 2);
            continue;
        }
        if (key == config::variant_key) {
            row.insert(row.end(), {setting->second, Value{}});
            continue;
        }
        const auto [known, is_new] = numbers_.try_emplace(setting->second);
        if (is_new) known->second = number_or_text(setting->second);
        row.push_back(known->second);
        const bool quantity = known->second.index() == 2 && plain_number(setting->second).index() == 0;
        row.push_back(quantity ? Value(setting->second) : Value{});
    }
    for (const std::string& figure : figures_) {
        const auto found = result.find(figure);
        row.push_back(found == result.end() ? Value{} : found->second);
    }
    insert_->bind(row).step();
    ++points_;
}

void Table::set(const std::vector<config::Setting>& settings) {
    memory_.run("DELETE FROM points");
    points_ = 0;
    memory_.allow(100);
    Settings by_key;
    for (const config::Setting& setting : settings) by_key.emplace(setting.key, setting.value);
    insert(std::vector<Value>(fixed.size()), by_key, {});
}

bool Table::holds(const std::string& condition) {
    auto known = conditions_.find(condition);
    if (known == conditions_.end()) {
        const std::string sql = "SELECT 1 FROM points WHERE " + checked(memory_, "points", names_, condition);
        known = conditions_.emplace(condition, memory_.prepare(sql)).first;
    }
    const bool held = known->second.bind({}).step();
    known->second.bind({});
    return held;
}

Table::Table(Store& store, const std::string& study) {
    struct Point {
        std::vector<Value> fixed;
        Settings settings;
        std::map<std::string, Value> result;
    };
    std::vector<Point> points;
    std::vector<std::string> keys;
    std::vector<Figure> figures;
    std::set<std::string> known_keys;
    std::map<std::string, std::size_t> known_figures;
    Statement rows = store.database().prepare(
        "SELECT study, number, repeat, seed, run_id, status, message, settings, result FROM points JOIN runs USING "
        "(run_id) WHERE ?1 = '' OR study = ?1 ORDER BY study, number, repeat");
    rows.bind({study});
    while (rows.step()) {
        Point& point = points.emplace_back();
        for (int i = 0; i < static_cast<int>(fixed.size()); ++i) point.fixed.push_back(rows.value(i));
        for (const config::Setting& setting : settings_of(store, rows.text(7))) {
            if (known_keys.insert(setting.key).second) keys.push_back(setting.key);
            point.settings.emplace(setting.key, setting.value);
        }
        if (rows.value(8).index() == 0) continue;
        try {
            each_scalar(rows.text(8), [&](const std::string& path, Value value) {
                const auto [known, is_new] = known_figures.emplace(path, figures.size());
                if (is_new) figures.push_back({path, Values::numbers});
                // Names in results stay texts, too.
                if (std::holds_alternative<std::string>(value)) figures[known->second].values = Values::texts;
                point.result.emplace(path, std::move(value));
            });
        } catch (const std::invalid_argument& error) {
            throw damage(store.file(), fmt::format("run {}: {}", rows.text(4), error.what()));
        }
    }
    try {
        make(keys, figures);
        Transaction transaction(memory_);
        for (const Point& point : points) insert(point.fixed, point.settings, point.result);
        transaction.commit();
    } catch (const SqlError& error) {  // a forged row may have names and values that no table has
        throw damage(store.file(), error.what());
    }
}

}  // namespace syncline::batch
