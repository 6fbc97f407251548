#include <utility>

#include "sim/base/version.hpp"
#include "sim/report/html.hpp"
#include "sim/report/report.hpp"

namespace syncline {

std::string plan_page(const std::string& title, Json answer, const std::vector<PlanFile>& files) {
    Json scenarios = Json::array();
    for (const PlanFile& file : files) scenarios.push_back({{"file", file.name}, {"text", file.text}});
    return html_page(title, {{"kind", "plan"},
                             {"program", std::string("Syncline ") + version},
                             {"name", title},
                             {"answer", std::move(answer)},
                             {"scenarios", std::move(scenarios)}});
}

}  // namespace syncline
