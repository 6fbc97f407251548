#include "sim/measured/csv_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/config/scenario_file.hpp"
#include "sim/document/read_text.hpp"

namespace syncline::config {

namespace {

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

}  // namespace

CsvText read_csv(Assembly& assembly, const std::string& path, const Mark* reference) {
    CsvText csv;
    const Text file = read_text(path);
    if (!file.text) {
        assembly.report(reference ? *reference : assembly.library.cite(path, "", ""), file.error, file.hint);
        return csv;
    }
    csv.top = assembly.library.cite(path, *file.text, std::filesystem::path(path).parent_path());
    bool is_text = false;
    assembly.attempt([&] {
        check_text(*csv.top.source);
        is_text = true;
    });
    if (!is_text) return csv;
    csv.lines = read_lines(assembly, Cursor(csv.top.source, *file.text));
    csv.sound = true;
    return csv;
}

void refuse_repeated(Assembly& assembly, const std::vector<Node>& head) {
    for (auto column = head.begin(); column != head.end(); ++column)
        if (std::any_of(head.begin(), column, [&](const Node& other) { return other.scalar == column->scalar; }))
            assembly.report(column->mark, fmt::format("column '{}' is listed twice", column->scalar),
                            "remove one of them");
}

}  // namespace syncline::config
