#include "sim/report/report.hpp"

#include "sim/base/version.hpp"
#include "sim/report/html.hpp"
#include "sim/validation/validation_text.hpp"

namespace syncline {

std::string report_page(const validation::Points& points) {
    Json units = Json::object();
    for (const auto& [field, unit] : field_units()) units[field] = page_unit(unit);
    return html_page("Validation against measurements", {{"kind", "validation"},
                                                         {"program", std::string("Syncline ") + version},
                                                         {"units", std::move(units)},
                                                         {"report", Json::parse(to_json(points))}});
}

}  // namespace syncline
