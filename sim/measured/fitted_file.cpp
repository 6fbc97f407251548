#include "sim/measured/fitted_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/utf8.hpp"
#include "sim/document/yaml_text.hpp"

namespace syncline::config {

std::string fitted_part(const Measurements& measurements) {
    for (const char* const part : {"transport", "device"}) {
        const std::string prefix = fmt::format("platform.{}.", part);
        const bool all =
            std::all_of(measurements.parameters.begin(), measurements.parameters.end(), [&](const auto& one) {
                return one.series.empty() && std::all_of(one.keys.begin(), one.keys.end(), [&](const std::string& key) {
                           return key.starts_with(prefix);
                       });
            });
        if (all) return part;
    }
    return "";
}

std::string fitted_file(const MeasuredScenario& scenario, const std::vector<std::optional<double>>& values,
                        const std::string& part) {
    const Measurements& all = scenario.measurements();
    Library library;
    const Node document = library.parse("platform", scenario.resolved(all.rows.front(), values).text(), "");
    Node file = *document.find("platform")->find(part);
    std::stable_partition(file.entries.begin(), file.entries.end(),
                          [](const Entry& entry) { return entry.key == "name"; });
    std::string source = printable(all.source);
    std::replace(source.begin(), source.end(), '\n', ' ');
    return fmt::format("# Written by `syncline calibrate` from\n# {}\n", source) + readable_text(file);
}

}  // namespace syncline::config
