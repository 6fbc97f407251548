#include <fmt/format.h>

#include <optional>
#include <vector>

#include "sim/config/resolved.hpp"
#include "sim/measured/measured_overrides.hpp"
#include "sim/measured/measured_parts.hpp"
#include "sim/measured/mechanisms.hpp"

// Alternatives to what a scenario assumes where its source is silent are predicted, too.

namespace syncline::config {

void MeasuredScenario::Parts::check_assumptions(const MeasuredKeys& keys) {
    std::vector<Alternative>& all = measurements.assumptions;
    if (all.empty()) return;
    read_changes(assembly, all, *list.find("assumptions"));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].series = find_series(item(list, "assumptions", i), keys.assumption_series[i]);
        check_alternative(assembly, measurements, all[i]);
    }
}

/// Reports an assumption that is invalid in all rows, which is then a mistake, and one that changes none.
void MeasuredScenario::Parts::check_effects() {
    std::vector<std::optional<double>> least;
    for (const MeasuredParameter& parameter : measurements.parameters) least.emplace_back(parameter.least);
    const auto text = [&](const MeasuredRow& row, const Alternative* assumption) {
        Document read = document(row, least, assumption);
        return resolve(std::move(read.node), read.files).text();
    };
    for (const Alternative& assumption : measurements.assumptions) {
        bool valid = false, effect = false;
        std::optional<ConfigError> error;
        for (auto row = measurements.rows.begin(); row != measurements.rows.end() && !effect; ++row) {
            if (!assumption.applies_to(row->series)) continue;
            try {
                effect = text(*row, &assumption) != text(*row, nullptr);
                valid = true;
            } catch (const ConfigError& refused) {
                if (!error) error = refused;
            }
        }
        if (error && !valid)
            assembly.attempt([&] { throw ConfigError(*error); });
        else if (valid && !effect)
            assembly.report(assumption.changes.mark, fmt::format("assumption '{}' changes no row", assumption.name),
                            "rows give these keys themselves, or the scenario has these values already");
    }
}

}  // namespace syncline::config
