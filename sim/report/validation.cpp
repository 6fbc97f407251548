#include "sim/report/validation.hpp"

#include "sim/base/version.hpp"
#include "sim/report/html.hpp"

namespace syncline {

std::string report_page(const validation::Points& points) {
    return html_page("Validation against measurements", {{"kind", "validation"},
                                                         {"program", std::string("Syncline ") + version},
                                                         {"report", Json::parse(to_json(points))}});
}

}  // namespace syncline
