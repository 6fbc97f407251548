#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "sim/base/did_you_mean.hpp"
#include "sim/config/axis.hpp"
#include "sim/document/key_path.hpp"
#include "sim/document/override.hpp"
#include "sim/measured/measured_parts.hpp"

// The parameters: which rows and series they belong to, and how they change a scenario.

namespace syncline::config {

namespace {

const Mark& place_of(const Node& parameter) {
    return mark_of(parameter, parameter.find("factor_of") ? "factor_of" : "key");
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

/// Returns whether two parameters apply to the same series.
bool meet(const MeasuredParameter& a, const MeasuredParameter& b, std::size_t series) {
    for (std::size_t number = 0; number < series; ++number)
        if (a.applies_to(number) && b.applies_to(number)) return true;
    return false;
}

const Node* value_at(const Node& document, const std::string& path) {
    const Node* node = &document;
    for (const PathPart& part : parse_path(path).parts) {
        node = node->find(part.key);
        if (!node) return nullptr;
    }
    return node;
}

/// Returns a number with its unit times `factor`; empty if the text does not begin with a number.
std::string times(const std::string& text, double factor) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc() ? fmt::format("{}{}", number * factor, std::string(stop, end)) : "";
}

}  // namespace

const Node& item(const Node& mapping, std::string_view list, std::size_t number) {
    return mapping.find(list)->items[number];
}

const Mark& mark_of(const Node& mapping, std::string_view entry) {
    const Node* node = mapping.find(entry);
    return node ? node->mark : mapping.mark;
}

std::string meant(const std::string& word, const std::vector<std::string>& known) {
    return did_you_mean(word, known, known.empty() ? "" : fmt::format("there are '{}'", fmt::join(known, "', '")));
}

void MeasuredScenario::Parts::check_parameters(const MeasuredKeys& keys) {
    for (std::size_t i = 0; i < measurements.parameters.size(); ++i) {
        MeasuredParameter& parameter = measurements.parameters[i];
        const Node& node = item(list, "parameters", i);
        parameter.at = locate(place_of(node));
        parameter.series = find_series(node, keys.parameter_series[i]);
        for (auto key = parameter.keys.begin(); key != parameter.keys.end(); ++key)
            if (std::find(parameter.keys.begin(), key, *key) != key)
                assembly.report(place_of(node), fmt::format("'{}' is listed twice", *key), "remove one of them");
        for (std::size_t j = 0; j < i; ++j)
            for (const std::string& key : parameter.keys)
                if (meet(parameter, measurements.parameters[j], measurements.series.size()) &&
                    contains(measurements.parameters[j].keys, key))
                    assembly.report(place_of(node), fmt::format("'{}' is listed twice", key), "remove one of them");
        find_rows(parameter, node, keys.parameter_rows[i]);
    }
    if (assembly.sound()) check_uses();
}

void MeasuredScenario::Parts::find_rows(MeasuredParameter& parameter, const Node& node,
                                        const std::vector<std::string>& named) {
    std::vector<std::string> names;
    for (const MeasuredRow& row : measurements.rows) names.push_back(row.name);
    for (std::size_t i = 0; i < named.size(); ++i) {
        const Mark& mark = item(node, "rows", i).mark;
        const auto found = std::find(names.begin(), names.end(), named[i]);
        if (found == names.end()) {
            assembly.report(mark, fmt::format("there is no row '{}'", named[i]), meant(named[i], names));
            continue;
        }
        const auto number = static_cast<std::size_t>(found - names.begin());
        if (!measurements.rows[number].calibrates)
            assembly.report(mark,
                            fmt::format("row '{}' is a predicted row, so no parameter can be fitted to it", *found),
                            "write `calibrates: true` in the row, or remove it here");
        if (!parameter.applies_to(measurements.rows[number].series))
            assembly.report(mark,
                            fmt::format("row '{}' is in series '{}', to which the parameter does not apply", *found,
                                        measurements.series[measurements.rows[number].series].name),
                            "add the series to 'series', or remove the row here");
        parameter.rows.push_back(number);
    }
    if (named.empty())
        for (std::size_t i = 0; i < names.size(); ++i)
            if (measurements.rows[i].calibrates && parameter.applies_to(measurements.rows[i].series))
                parameter.rows.push_back(i);
    if (parameter.rows.empty() && named.empty())
        assembly.report(place_of(node), fmt::format("there is no calibration row for '{}'", parameter.key),
                        "write `calibrates: true` in some rows");
    std::sort(parameter.rows.begin(), parameter.rows.end());
    const auto repeated = std::unique(parameter.rows.begin(), parameter.rows.end());
    parameter.rows.erase(repeated, parameter.rows.end());
}

void MeasuredScenario::Parts::check_uses() {
    std::vector<bool> used(measurements.rows.size());
    for (const MeasuredParameter& parameter : measurements.parameters)
        for (const std::size_t row : parameter.rows) used[row] = true;
    for (std::size_t i = 0; i < used.size(); ++i) {
        const MeasuredRow& row = measurements.rows[i];
        if (!row.calibrates || used[i]) continue;
        if (measurements.parameters.empty())
            return assembly.report(node(row).mark, "there are calibration rows, but no parameters",
                                   "list them in 'parameters', or write `syncline calibrate --fit "
                                   "platform.fabric.bandwidth='1..12.5 GBps'`");
        assembly.report(
            node(row).mark, fmt::format("no parameter uses calibration row '{}'", row.name),
            "it would only be excluded from the score; remove `calibrates: true`, or list the row in a parameter");
    }
}

std::vector<std::size_t> MeasuredScenario::Parts::find_series(const Node& node, const std::vector<std::string>& named) {
    std::vector<std::string> names;
    std::vector<std::size_t> found;
    for (const MeasuredSeries& series : measurements.series) names.push_back(series.name);
    for (std::size_t i = 0; i < named.size(); ++i) {
        if (!contains(names, named[i]))
            assembly.report(item(node, "series", i).mark, fmt::format("there is no series '{}'", named[i]),
                            meant(named[i], names));
        for (std::size_t number = 0; number < names.size(); ++number)
            if (names[number] == named[i]) found.push_back(number);
    }
    return found;
}

void MeasuredScenario::Parts::apply(Node& document, std::size_t number, double value) {
    const MeasuredParameter& parameter = measurements.parameters[number];
    const Mark& mark = place_of(item(list, "parameters", parameter_places[number]));
    for (const std::string& key : parameter.keys) {
        std::string text = parameter.text(value);
        if (parameter.factor) {
            const Node* own = value_at(document, key);
            text = own && own->kind == Node::Kind::scalar ? times(own->scalar, value) : "";
            if (text.empty()) {
                assembly.report(mark, fmt::format("'{}' has no number that a factor could multiply", key),
                                "give the key a value in the scenario, or in the platform's file");
                continue;
            }
        }
        Node changes = document_of(key, mark, scalar_at(mark, text));
        split_paths(changes);
        change(assembly, document, changes);
    }
}

}  // namespace syncline::config
