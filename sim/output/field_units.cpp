#include "sim/output/field_units.hpp"

#include <fmt/format.h>

#include "sim/output/result_fields.hpp"

namespace syncline {

namespace {

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
                                             {"Tflops"}};
    return in_order[static_cast<std::size_t>(unit)];
}

template <class T>
void add_units(std::map<std::string, Unit, std::less<>>& units) {
    for (const ResultField<T>& field : fields_of<T>()) units.emplace(field.name, field.unit);
}

template <class T>
std::string markdown(const char* heading) {
    std::string text = fmt::format("### {}\n\n| field | unit | meaning |\n|---|---|---|\n", heading);
    for (const ResultField<T>& field : fields_of<T>()) {
        if (*field.doc == '\0') continue;
        const std::string unit = symbol(field.unit);
        text += fmt::format("| `{}` | {}{}| {} |\n", field.name, unit, unit.empty() ? "" : " ", field.doc);
    }
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
    return markdown<Result>("Results of a training") + "\n" +
           markdown<CollectiveResult>("Results of an exchange alone") + "\n" + markdown<SweepResult>("Sweeps") + "\n" +
           markdown<SweepPoint>("Points of a sweep");
}

}  // namespace syncline
