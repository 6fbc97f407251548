#include "sim/output/field_units.hpp"

#include <fmt/format.h>

#include "sim/output/result_fields.hpp"

namespace syncline {

namespace {

constexpr std::size_t width = 100;  // of a line, after which a new one begins

/// The symbol of a unit, and the ending of the names of fields that have it.
struct UnitWords {
    const char* symbol = "";
    const char* ending = "";
};

const UnitWords& words_of(Unit unit) {
    static constexpr UnitWords in_order[] = {{},
                                             {},
                                             {},
                                             {},
                                             {"s", "_s"},
                                             {"B", "_bytes"},
                                             {"B/s", "_Bps"},
                                             {"samples/s", "_samples_per_s"},
                                             {"tokens/s", "_per_s"},
                                             {"Tflops"},
                                             {},
                                             {"J", "_J"},
                                             {"W", "_W"}};
    return in_order[static_cast<std::size_t>(unit)];
}

template <class T>
void add_units(std::map<std::string, Unit, std::less<>>& units) {
    for (const ResultField<T>& field : fields_of<T>()) units.emplace(field.name, field.unit);
}

/// Returns a table of the fields, and a line of those that mean the same as in an earlier table; all are kept in
/// `seen`.
template <class T>
std::string markdown(const char* heading, std::map<std::string, std::string>& seen) {
    std::string rows, as_above;
    for (const ResultField<T>& field : fields_of<T>()) {
        if (*field.doc == '\0') continue;
        const std::string unit = symbol(field.unit);
        const std::string row =
            fmt::format("| `{}` | {}{}| {} |\n", field.name, unit, unit.empty() ? "" : " ", field.doc);
        if (seen[field.name] != row) {
            rows += seen[field.name] = row;
        } else {
            const std::size_t line = as_above.rfind('\n') + 1;
            as_above += as_above.empty() ? "As above: " : as_above.size() - line > width ? ",\n" : ", ";
            as_above += fmt::format("`{}`", field.name);
        }
    }
    std::string text = fmt::format("### {}\n\n", heading);
    if (!rows.empty()) text += "| field | unit | meaning |\n|---|---|---|\n" + rows;
    if (!rows.empty() && !as_above.empty()) text += "\n";
    if (!as_above.empty()) text += as_above + ".\n";
    return text;
}

}  // namespace

const std::map<std::string, Unit, std::less<>>& field_units() {
    static const auto all = [] {
        std::map<std::string, Unit, std::less<>> units;
        add_units<Result>(units);
        add_units<CollectiveResult>(units);
        add_units<SweepResult>(units);
        add_units<SweepPoint>(units);
        return units;
    }();
    return all;
}

Unit unit_of(std::string_view name) {
    const auto found = field_units().find(name);
    return found == field_units().end() ? Unit::number : found->second;
}

const char* symbol(Unit unit) {
    return words_of(unit).symbol;
}

std::string without_unit(std::string name, Unit unit) {
    const std::string_view ending = words_of(unit).ending;
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    return name;
}

std::string fields_reference() {
    std::map<std::string, std::string> seen;
    std::string text = markdown<Result>("Results of a training", seen);
    text += "\n" + markdown<CollectiveResult>("Results of an exchange alone", seen);
    text += "\n" + markdown<SweepResult>("Sweeps", seen);
    return text + "\n" + markdown<SweepPoint>("Points of a sweep", seen);
}

}  // namespace syncline
