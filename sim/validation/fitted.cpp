#include <fmt/format.h>

#include "sim/output/cells.hpp"
#include "sim/validation/tables.hpp"
#include "sim/validation/validation_text.hpp"

// The results of `syncline calibrate`, and what they share with those of `validate`.

namespace syncline::validation {

std::string word(Ending ending) {
    switch (ending) {
        case Ending::found:
            return "found";
        case Ending::at_least:
            return "at-least";
        case Ending::at_most:
            return "at-most";
        case Ending::plateau:
            return "plateau";
        case Ending::no_effect:
            return "no-effect";
        case Ending::not_told_apart:
            return "not-told-apart";
        case Ending::too_few:
            return "too-few-rows";
    }
    return "";
}

std::vector<std::string> assignments(const config::Measurements& measurements,
                                     const std::vector<std::optional<double>>& values) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const config::MeasuredParameter& parameter = measurements.parameters[i];
        // A factor of a row's own values is no assignment, and a parameter of some series holds for those alone.
        if (values[i] && !parameter.factor && parameter.series.empty())
            all.push_back(fmt::format("{}={}", parameter.key, parameter.text(*values[i])));
    }
    return all;
}

std::string to_table(const Fitted& fitted, const text::TableLayout& layout) {
    const Validation& one = fitted.validation;
    std::string text = head_of(one) + parameters_table(one, layout) + "\n" + rows_table(one, layout);
    for (const std::string& assignment : assignments(one.measurements, one.calibration.values()))
        text += fmt::format("{}--set '{}'", text.ends_with('\'') ? " " : "\n", assignment);
    return text.ends_with('\n') ? text : text + "\n";
}

std::string to_csv(const Fitted& fitted) {
    const Validation& one = fitted.validation;
    std::string text = text::line(
        {"key", "value", "unit", "ending", "percent_per_percent", "relative_standard_error", "least", "most"});
    for (std::size_t i = 0; i < one.measurements.parameters.size(); ++i) {
        const config::MeasuredParameter& parameter = one.measurements.parameters[i];
        const Solution& solution = one.calibration.parameters[i];
        text += text::line({text::quoted(parameter.key), text::field(solution.value), text::quoted(parameter.unit),
                            word(solution.ending), text::field(solution.percent_per_percent),
                            text::field(solution.relative_standard_error), text::field(parameter.least),
                            text::field(parameter.most)});
    }
    return text;
}

}  // namespace syncline::validation
