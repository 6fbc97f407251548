#include "sim/measured/measured_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/config/axis.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/document/key_path.hpp"
#include "sim/measured/csv_text.hpp"

namespace syncline::config {

namespace {

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

void put(Node& mapping, const char* key, Node value) {
    const Mark mark = value.mark;
    mapping.entries.push_back({key, mark, std::move(value)});
}

bool is_measured_table(const std::string& path) {
    return std::filesystem::path(path).extension() == ".csv";
}

Node measured_table(Assembly& assembly, const std::string& path) {
    const CsvText csv = read_csv(assembly, path);
    if (!csv.sound) return {};
    const Mark& top = csv.top;
    const std::vector<std::vector<Node>>& lines = csv.lines;
    if (lines.size() < 2) {
        assembly.report(
            top, "this table has no measurements",
            "write a line of names such as `training.ranks,throughput_samples_per_s`, then one line per measurement");
        return {};
    }
    const std::vector<Node>& head = lines.front();
    refuse_repeated(assembly, head);
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
