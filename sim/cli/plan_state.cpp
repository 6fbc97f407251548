#include "sim/cli/plan_state.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>
#include <utility>

#include "sim/base/version.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/written_files.hpp"
#include "sim/planning/axes.hpp"

namespace syncline::cli {

namespace {

std::optional<double> number_of(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json json_of(const planning::FoundPlan& plan) {
    const Memory& memory = plan.memory;
    return {{"choice", plan.choice},
            {"estimated_s", plan.estimated_s},
            {"least_s", plan.least_s},
            {"simulated_s", number_or_null(plan.simulated_s)},
            {"memory",
             {memory.weights_bytes, memory.gradients_bytes, memory.optimizer_bytes, memory.activations_bytes,
              number_or_null(memory.host_bytes), number_or_null(memory.device_bytes)}},
            {"passed_over", plan.passed_over},
            {"layers", plan.layers},
            {"undivided_s", plan.undivided_s}};
}

planning::FoundPlan plan_of(const Json& json, const Plan& base) {
    planning::FoundPlan plan;
    plan.choice = json.at("choice").get<planning::Choice>();
    if (plan.choice.size() != planning::axes().size()) throw std::out_of_range("another number of axes");
    plan.layers = json.at("layers").get<std::vector<std::int64_t>>();
    plan.undivided_s = json.at("undivided_s");
    plan.text = planning::text_of(plan.choice, base, plan.layers);
    plan.recomputation = planning::recomputation_of(plan.choice, base);
    plan.estimated_s = json.at("estimated_s");
    plan.least_s = json.at("least_s");
    plan.simulated_s = number_of(json.at("simulated_s"));
    const Json& memory = json.at("memory");
    plan.memory = {memory.at(0),           memory.at(1), memory.at(2), memory.at(3), number_of(memory.at(4)),
                   number_of(memory.at(5))};
    plan.passed_over = json.at("passed_over");
    return plan;
}

}  // namespace

PlanState::PlanState(std::filesystem::path path) : path_(std::move(path)) {
    std::ifstream file(path_);
    if (path_.empty() || !file) return;
    const Json json = Json::parse(file, nullptr, false);
    if (!json.is_object() || json.value("syncline", "") != version) return;
    try {
        for (const auto& [question, search] : json.at("searches").items()) searches_[question] = one_line(search);
        for (const auto& [question, plans] : json.at("simulated").items())
            for (const auto& [plan, simulated] : plans.items())
                simulated_[question][plan] = {simulated.at(0), simulated.at(1)};
    } catch (const Json::exception&) {
        searches_.clear();
        simulated_.clear();
    }
}

std::optional<planning::Found> PlanState::found(const std::string& question, const Plan& base) const {
    const auto search = searches_.find(question);
    if (search == searches_.end()) return std::nullopt;
    try {
        const Json json = Json::parse(search->second);
        planning::Found found;
        for (const Json& plan : json.at("plans")) found.plans.push_back(plan_of(plan, base));
        found.remedies = json.at("remedies").get<std::vector<std::string>>();
        return found;
    } catch (const std::exception&) {  // a damaged file: the search begins again
        return std::nullopt;
    }
}

void PlanState::keep(const std::string& question, const planning::Found& found) {
    Json json{{"plans", Json::array()}, {"remedies", found.remedies}};
    for (const planning::FoundPlan& plan : found.plans) json["plans"].push_back(json_of(plan));
    searches_[question] = one_line(json);
}

void PlanState::write() const {
    if (path_.empty()) return;
    Json json{{"syncline", version}, {"searches", Json::object()}, {"simulated", Json::object()}};
    for (const auto& [question, plans] : simulated_)
        for (const auto& [plan, simulated] : plans)
            json["simulated"][question][plan] = {simulated.iteration_s, simulated.messages};
    for (const auto& [question, search] : searches_) json["searches"][question] = Json::parse(search);
    write_file(path_, one_line(json) + "\n");
}

void PlanState::remove() const {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
}

}  // namespace syncline::cli
