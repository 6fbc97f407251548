#include "sim/measured/measured_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/config/scenario_file.hpp"
#include "sim/document/key_path.hpp"
#include "sim/document/text.hpp"
#include "sim/study/axis.hpp"

namespace syncline::config {

namespace {

void put(Node& mapping, const char* key, Node value) {
    const Mark mark = value.mark;
    mapping.entries.push_back({key, mark, std::move(value)});
}

/// Goes through a text from its start and tracks the Mark.
class Cursor {
public:
    Cursor(const Source* source, const std::string& text) : text_(text), mark_{source, 1, 1} {}

    bool done() const { return at_ == text_.size(); }
    char peek() const { return text_[at_]; }
    bool at_line_end() const { return done() || peek() == '\n' || text_.compare(at_, 2, "\r\n") == 0; }
    const Mark& mark() const { return mark_; }

    char next() {
        const char c = text_[at_++];
        ++mark_.column;
        if (c == '\n') mark_ = {mark_.source, mark_.line + 1, 1};
        return c;
    }
    void end_line() {
        while (!done() && next() != '\n') {
        }
    }

private:
    const std::string& text_;
    std::size_t at_ = 0;
    Mark mark_;
};

/// Reads a field, up to the comma or the end of the line.
Node read_field(Assembly& assembly, Cursor& cursor) {
    Node field = scalar_at(cursor.mark(), "");
    if (!cursor.at_line_end() && cursor.peek() == '"') {
        cursor.next();
        bool open = true;
        while (open && !cursor.done()) {
            const char c = cursor.next();
            if (c == '"' && (cursor.done() || cursor.peek() != '"'))
                open = false;
            else
                field.scalar += c == '"' ? cursor.next() : c;
        }
        if (open) assembly.report(field.mark, "this quote is not closed", "write a quote within quotes twice");
        if (!cursor.at_line_end() && cursor.peek() != ',')
            assembly.report(cursor.mark(), "missing comma or end of line after the quote");
    }
    while (!cursor.at_line_end() && cursor.peek() != ',') field.scalar += cursor.next();
    return field;
}

/// Reads the lines that are not empty.
std::vector<std::vector<Node>> read_lines(Assembly& assembly, Cursor cursor) {
    std::vector<std::vector<Node>> lines;
    while (!cursor.done()) {
        std::vector<Node> fields{read_field(assembly, cursor)};
        while (!cursor.at_line_end()) {
            cursor.next();
            fields.push_back(read_field(assembly, cursor));
        }
        cursor.end_line();
        if (fields.size() > 1 || !fields.front().scalar.empty()) lines.push_back(std::move(fields));
    }
    return lines;
}

bool is_variant(const Node& column) {
    return column.scalar == "variant";
}

/// Returns the series of the line's variant, which its first row creates.
Node& series_of(Node& list, const std::vector<Node>& head, const std::vector<Node>& line) {
    const auto column = std::find_if(head.begin(), head.end(), is_variant);
    const Node* name = column == head.end() ? nullptr : &line[static_cast<std::size_t>(column - head.begin())];
    for (Node& series : list.items)
        if (!name || series.find("variant")->scalar == name->scalar) return series;
    Node series = mapping_at(line.front().mark);
    Node over = empty_at(head.front().mark, Node::Kind::sequence);
    if (name) put(series, "variant", *name);
    std::remove_copy_if(head.begin(), head.end() - 1, std::back_inserter(over.items), is_variant);
    if (!over.items.empty()) put(series, "over", std::move(over));
    put(series, "rows", empty_at(line.front().mark, Node::Kind::sequence));
    return list.items.emplace_back(std::move(series));
}

Node row_of(const std::vector<Node>& head, const std::vector<Node>& line) {
    Node row = mapping_at(line.front().mark), at = empty_at(line.front().mark, Node::Kind::sequence);
    for (std::size_t i = 0; i + 1 < line.size(); ++i)
        if (!is_variant(head[i])) at.items.push_back(line[i]);
    if (!at.items.empty()) put(row, "at", std::move(at));
    put(row, "value", line.back());
    put(row, "calibrates", scalar_at(line.front().mark, "true"));
    return row;
}

}  // namespace

bool is_measured_table(const std::string& path) {
    return std::filesystem::path(path).extension() == ".csv";
}

Node measured_table(Assembly& assembly, const std::string& path) {
    const Text file = read_text(path);
    if (!file.text) {
        assembly.report(assembly.library.cite(path, "", ""), file.error, file.hint);
        return {};
    }
    const Mark top = assembly.library.cite(path, *file.text, std::filesystem::path(path).parent_path());
    bool is_text = false;
    assembly.attempt([&] {
        check_text(*top.source);
        is_text = true;
    });
    if (!is_text) return {};
    const std::vector<std::vector<Node>> lines = read_lines(assembly, Cursor(top.source, *file.text));
    if (lines.size() < 2) {
        assembly.report(
            top, "this table has no measurements",
            "write a line of names such as `training.ranks,throughput_samples_per_s`, then one line per measurement");
        return {};
    }
    const std::vector<Node>& head = lines.front();
    for (auto column = head.begin(); column != head.end(); ++column)
        if (std::any_of(head.begin(), column, [&](const Node& other) { return other.scalar == column->scalar; }))
            assembly.report(column->mark, fmt::format("column '{}' is listed twice", column->scalar),
                            "remove one of them");
    Node list = empty_at(lines[1].front().mark, Node::Kind::sequence);
    for (auto line = lines.begin() + 1; line != lines.end(); ++line) {
        if (line->size() == head.size())
            series_of(list, head, *line).find("rows")->items.push_back(row_of(head, *line));
        else
            assembly.report(line->front().mark,
                            fmt::format("this line has {} fields, but the first has {}", line->size(), head.size()));
    }
    Node measured = mapping_at(top);
    put(measured, "source", scalar_at(top, path));
    put(measured, "field", head.back());
    put(measured, "series", std::move(list));
    return measured;
}

void replace_parameters(Assembly& assembly, Node& measured, const std::vector<std::string>& texts) {
    if (measured.kind != Node::Kind::mapping) return;
    take(measured, "parameters");
    Node list = empty_at(measured.mark, Node::Kind::sequence);
    for (const std::string& text : texts) {
        const Mark start = assembly.library.cite("--fit", text, "");
        const auto place = [&](std::size_t at) { return Mark{start.source, 1, static_cast<int>(at) + 1}; };
        const std::size_t equals = end_of_path(text), dots = text.find("..", equals == std::string::npos ? 0 : equals);
        if (equals == 0 || equals == std::string::npos || dots == std::string::npos) {
            assembly.report(start, "this is not a parameter with a range",
                            "write for example platform.fabric.bandwidth='1..12.5 GBps'");
            continue;
        }
        const std::size_t unit = std::min(text.find(' ', dots), text.size());
        Node parameter = mapping_at(start);
        put(parameter, "key", scalar_at(start, text.substr(0, equals)));
        put(parameter, "least", scalar_at(place(equals + 1), text.substr(equals + 1, dots - equals - 1)));
        put(parameter, "most", scalar_at(place(dots + 2), text.substr(dots + 2, unit - dots - 2)));
        if (unit + 1 < text.size()) put(parameter, "unit", scalar_at(place(unit + 1), text.substr(unit + 1)));
        list.items.push_back(std::move(parameter));
    }
    put(measured, "parameters", std::move(list));
}

}  // namespace syncline::config
