#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/did_you_mean.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/measured/csv_text.hpp"
#include "sim/measured/measured_texts.hpp"

namespace syncline::config {

namespace {

void add_entry(Node& mapping, const char* key, Node value) {
    const Mark mark = value.mark;
    mapping.entries.push_back({key, mark, std::move(value)});
}

/// Returns the field without blanks around it, in its place.
Node trimmed(Node field) {
    constexpr const char* blanks = " \t";
    const std::size_t first = std::min(field.scalar.find_first_not_of(blanks), field.scalar.size());
    field.scalar = field.scalar.substr(first, field.scalar.find_last_not_of(blanks) + 1 - first);
    field.mark.column += static_cast<int>(first);
    return field;
}

/// Makes series of a table's lines.
class TableSeries {
public:
    TableSeries(Assembly& assembly, const MeasuredTable& table, const Node& written, CsvText csv)
        : assembly_(assembly), table_(table), written_(written), csv_(std::move(csv)) {}

    std::vector<Node> make() {
        std::vector<Node> head;
        for (const Node& name : csv_.lines.front()) head.push_back(trimmed(name));
        refuse_repeated(assembly_, head);
        for (const Node& name : head) names_.push_back(name.scalar);
        const Node* columns = written_.find("columns");
        for (std::size_t i = 0; i < table_.columns.size(); ++i)
            at_.push_back(find(table_.columns[i].column, columns->items[i].find("column")));
        value_ = find(table_.value, written_.find("value"));
        if (!table_.variant.empty()) variant_ = find(table_.variant, written_.find("variant"));
        if (!table_.calibrates.empty()) calibrates_ = find(table_.calibrates, written_.find("calibrates"));
        if (!table_.row.empty()) row_ = find(table_.row, written_.find("row"));
        if (!table_.sweep.empty()) sweep_ = find(table_.sweep, written_.find("sweep"));
        for (std::size_t i = 0; i < table_.leave_out.size(); ++i)
            excluding_.push_back(find(table_.leave_out[i].column, written_.find("leave_out")->items[i].find("column")));
        check_words();
        if (!assembly_.sound()) return {};
        for (auto line = csv_.lines.begin() + 1; line != csv_.lines.end(); ++line) {
            if (line->size() == head.size()) {
                if (!leave_out(*line)) series_of(*line).entries.back().value.items.push_back(row_of(*line));
            } else
                assembly_.report(line->front().mark, fmt::format("this line has {} fields, but the first has {}",
                                                                 line->size(), head.size()));
        }
        check_exclusions();
        return std::move(all_);
    }

    std::vector<RowsLeftOut> left_out() const { return left_out_; }

private:
    /// Reports texts of `leave_out` that no line has, and a table of which no line is left.
    void check_exclusions() {
        if (!assembly_.sound()) return;
        for (std::size_t i = 0; i < excluding_.size(); ++i) {
            const MeasuredExclusion& one = table_.leave_out[i];
            std::vector<std::string> texts;
            for (auto line = csv_.lines.begin() + 1; line != csv_.lines.end(); ++line)
                if (std::string text = trimmed((*line)[excluding_[i]]).scalar;
                    !text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end())
                    texts.push_back(std::move(text));
            if (one.text.empty() || std::find(texts.begin(), texts.end(), one.text) != texts.end()) continue;
            assembly_.report(written_.find("leave_out")->items[i].find("text")->mark,
                             fmt::format("no row has the text '{}' in column '{}'", one.text, one.column),
                             did_you_mean(one.text, texts,
                                          texts.empty() ? "the column is empty; remove this item"
                                                        : fmt::format("it has '{}'", fmt::join(texts, "', '"))));
        }
        if (all_.empty() && assembly_.sound())
            assembly_.report(written_.find("leave_out")->mark, "every row of the table is left out",
                             "remove an item, so that some rows are predicted");
    }

    /// Reports words without a text.
    void check_words() {
        for (std::size_t i = 0; i < table_.columns.size(); ++i) {
            const Node* words = written_.find("columns")->items[i].find("words");
            if (!words) continue;
            if (words->entries.empty())
                assembly_.report(words->mark, "'words' has no words",
                                 "write the value of each text: `{selective (attention core): selective}`, or remove "
                                 "the key");
            for (const Entry& word : words->entries)
                if (word.value.kind != Node::Kind::scalar || word.value.scalar.empty())
                    assembly_.report(word.mark, fmt::format("the word '{}' has no text as its value", word.key),
                                     "write the key's value; a cell without text leaves the key as it is");
        }
    }

    /// Returns whether the line is left out, and counts it by the first reason.
    bool leave_out(const std::vector<Node>& line) {
        for (std::size_t i = 0; i < excluding_.size(); ++i) {
            const MeasuredExclusion& one = table_.leave_out[i];
            const std::string text = trimmed(line[excluding_[i]]).scalar;
            if (one.text.empty() ? text.empty() : text != one.text) continue;
            const std::string reason = fmt::format("{}: {}", one.column, text);
            const auto known = std::find_if(left_out_.begin(), left_out_.end(),
                                            [&](const RowsLeftOut& other) { return other.reason == reason; });
            if (known == left_out_.end())
                left_out_.push_back({reason, 1});
            else
                ++known->rows;
            return true;
        }
        return false;
    }

    std::size_t find(const std::string& column, const Node* named) {
        const auto found = std::find(names_.begin(), names_.end(), column);
        if (found == names_.end() && named)
            assembly_.report(named->mark, fmt::format("the table has no column '{}'", column),
                             did_you_mean(column, names_, fmt::format("there are '{}'", fmt::join(names_, "', '"))));
        return static_cast<std::size_t>(found - names_.begin());
    }

    /// Returns the series of the line's variant, whose last entry are its rows.
    Node& series_of(const std::vector<Node>& line) {
        const Node variant = variant_ ? trimmed(line[*variant_]) : Node{};
        for (Node& series : all_)
            if (!variant_ || series.find("variant")->scalar == variant.scalar) return series;
        Node series = mapping_at(line.front().mark);
        if (variant_) add_entry(series, "variant", variant);
        for (const char* key : {"name", "field", "unit", "set"})
            if (const Node* given = written_.find(key)) add_entry(series, key, *given);
        Node over = empty_at(written_.mark, Node::Kind::sequence);
        for (std::size_t i = 0; i < table_.columns.size(); ++i)
            over.items.push_back(
                scalar_at(written_.find("columns")->items[i].find("key")->mark, table_.columns[i].key));
        if (!over.items.empty()) add_entry(series, "over", std::move(over));
        add_entry(series, "rows", empty_at(line.front().mark, Node::Kind::sequence));
        return all_.emplace_back(std::move(series));
    }

    /// Returns the value that a cell gives to its key; kept_key if the cell is empty.
    Node value_of(std::size_t column, const Node& cell) const {
        Node value = trimmed(cell);
        if (value.scalar.empty()) return scalar_at(value.mark, kept_key);
        if (value.scalar == kept_key)
            assembly_.report(value.mark, fmt::format("'{}' is not a value", kept_key),
                             "an empty cell leaves the key as the scenario has it; to remove it, leave out the row or "
                             "write the default");
        if (const Node* words = written_.find("columns")->items[column].find("words")) {
            const Node* meant = words->find(value.scalar);
            if (meant) {
                value.scalar = meant->scalar;
                value.quoted = meant->quoted;
                return value;
            }
            std::vector<std::string> known;
            for (const Entry& word : words->entries) known.push_back(word.key);
            const std::string near = did_you_mean(value.scalar, known);
            assembly_.report(
                value.mark, fmt::format("'words' has no value for '{}'", value.scalar),
                fmt::format("{}{}it has those of '{}'", near, near.empty() ? "" : " ", fmt::join(known, "', '")));
            return value;
        }
        if (!table_.columns[column].unit.empty()) value.scalar += " " + table_.columns[column].unit;
        return value;
    }

    Node row_of(const std::vector<Node>& line) const {
        Node row = mapping_at(line.front().mark), at = empty_at(line.front().mark, Node::Kind::sequence);
        for (std::size_t i = 0; i < at_.size(); ++i) at.items.push_back(value_of(i, line[at_[i]]));
        if (row_) add_entry(row, "name", trimmed(line[*row_]));
        if (sweep_ && !trimmed(line[*sweep_]).scalar.empty()) add_entry(row, "sweep", trimmed(line[*sweep_]));
        if (!at.items.empty()) add_entry(row, "at", std::move(at));
        add_entry(row, "value", trimmed(line[value_]));
        if (calibrates_) add_entry(row, "calibrates", calibrating(trimmed(line[*calibrates_])));
        return row;
    }

    /// Returns `true` or `false` for the text of a cell. With no other text for calibration rows, only these two are
    /// texts.
    Node calibrating(Node cell) const {
        if (written_.find("calibrates_if")) cell.scalar = cell.scalar == table_.calibrates_if ? "true" : "false";
        return cell;
    }

    Assembly& assembly_;
    const MeasuredTable& table_;
    const Node& written_;
    CsvText csv_;
    std::vector<std::string> names_ = {};
    std::vector<std::size_t> at_ = {};
    std::size_t value_ = 0;
    std::optional<std::size_t> variant_ = {}, calibrates_ = {}, row_ = {}, sweep_ = {};
    std::vector<std::size_t> excluding_ = {};
    std::vector<RowsLeftOut> left_out_ = {};
    std::vector<Node> all_ = {};
};

}  // namespace

std::vector<RowsLeftOut> expand_table(Assembly& assembly, Node& measured) {
    if (measured.kind != Node::Kind::mapping || !measured.find("table")) return {};
    const Node written = *measured.find("table");
    MeasuredTable table;
    assembly.read(written, "table", [&](Fields& fields) { describe(fields, table); });
    if (!assembly.sound()) return {};
    const Node& file = *written.find("file");
    CsvText csv = read_csv(assembly, shown(referred_file(file)), &file.mark);
    if (!csv.sound) return {};
    if (csv.lines.size() < 2) {
        assembly.report(csv.top, "this table has no measurements",
                        "write a line with the names of the columns, then one line per measurement");
        return {};
    }
    TableSeries lines(assembly, table, written, std::move(csv));
    std::vector<Node> made = lines.make();
    take(measured, "table");
    if (!measured.find("series")) add_entry(measured, "series", empty_at(written.mark, Node::Kind::sequence));
    Node& list = *measured.find("series");
    if (list.kind == Node::Kind::sequence) std::move(made.begin(), made.end(), std::back_inserter(list.items));
    return lines.left_out();
}

}  // namespace syncline::config
