#include "sim/lowering/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/units.hpp"
#include "sim/lowering/rule_table.hpp"

namespace syncline {

namespace {

/// Subject of the rules. Without a model and a cluster, only rules about a plan alone are asked.
struct Asked {
    const Plan& plan;
    const OpenPlan& open;
    const Model* model = nullptr;
    const Cluster* cluster = nullptr;
};

template <class Answer>
bool of_plan_alone(const Question<Answer>& question) {
    return question.index() <= 1;
}

template <class Answer>
Answer answer(const Question<Answer>& question, const Asked& asked) {
    switch (question.index()) {
        case 0:
            return std::get<0>(question)(asked.plan);
        case 1:
            return std::get<1>(question)(asked.plan, asked.open);
        case 2:
            return std::get<2>(question)(asked.plan, *asked.model);
        case 3:
            return std::get<3>(question)(*asked.cluster);
        default:
            return std::get<4>(question)(asked.plan, *asked.model, *asked.cluster);
    }
}

/// A word in braces in a rule's text, and its value.
struct Word {
    std::string_view name;
    Question<std::string> value;
};

std::string in_bytes(double bytes) {
    return format_quantity(bytes, Dimension::bytes);
}

const std::vector<Word>& words() {
    static const std::vector<Word> all{
        {"{ranks}", [](const Plan& plan) { return std::to_string(plan.ranks); }},
        {"{servers}", [](const Plan& plan) { return std::to_string(plan.servers.count); }},
        {"{virtual_stages}", [](const Plan& plan) { return std::to_string(plan.parallelism.pipeline.virtual_stages); }},
        {"{micro_batches}", [](const Plan& plan) { return std::to_string(plan.parallelism.pipeline.micro_batches); }},
        {"{recomputed}",
         [](const Plan& plan) -> std::string {
             return plan.recomputation == Recomputation::operators ? "products" : "scores";
         }},
        {"{rank}", [](const Plan& plan) { return std::to_string(plan.compression.rank); }},
        {"{ratio}",
         [](const Plan& plan, const Model& model) {
             const double element = gradient_element(model);
             return fmt::format("{:.2g}", element / (element + plan.compression.index_bytes));
         }},
        {"{gradients}", [](const Plan&, const Model& model) { return in_bytes(gradient_element(model)); }},
        {"{weights}", [](const Plan&, const Model& model) { return in_bytes(weight_element(model)); }},
        {"{master}", [](const Plan&, const Model& model) { return in_bytes(master_element(model)); }},
        {"{factors}", [](const Plan& plan) -> std::string { return name_of(*plan.precision.products); }},
        {"{factors_rate}", [](const Plan& plan) -> std::string { return rate_key(*plan.precision.products); }},
        {"{factors_word}", [](const Plan& plan) -> std::string { return word_of(*plan.precision.products); }},
        {"{experts}",
         [](const Plan&, const Model& model) {
             return std::ranges::find_if(
                        model.layers, [](const Layer& layer) { return std::holds_alternative<Experts>(layer.shape); })
                 ->name;
         }},
        {"{workload}", [](const Plan&, const Model& model) { return model.name; }},
        {"{device}", [](const Cluster& cluster) { return cluster.device.name; }},
        {"{platform}", [](const Cluster& cluster) { return cluster.name; }},
    };
    return all;
}

void replace(std::string& text, std::string_view from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Returns how a message names a setting: by its value, or by the last part of its key.
std::string short_name(const Setting& setting) {
    return std::string(setting.value.empty() ? setting.key.substr(setting.key.rfind('.') + 1) : setting.value);
}

std::string filled(std::string_view text, const Rule& rule, const Setting& setting, const Asked& asked) {
    std::string result(text);
    replace(result, "{setting}", short_name(setting));
    replace(result, "{other}", short_name(rule.other));
    for (const Word& word : words())
        if (result.find(word.name) != std::string::npos) replace(result, word.name, answer(word.value, asked));
    return result;
}

bool of_plan_alone(const Setting& setting) {
    return !setting.holds || of_plan_alone(*setting.holds);
}

bool holds(const Setting& setting, const Asked& asked) {
    return setting.holds ? answer(*setting.holds, asked) : std::ranges::count(asked.open.written, setting.key) > 0;
}

/// Returns a complaint for each broken rule about a plan alone or, with a cluster, for each other one.
Complaints broken(const Asked& asked) {
    Complaints complaints;
    for (const Rule& rule : rule_table())
        for (const Setting& setting : rule.settings)
            if ((of_plan_alone(setting) && of_plan_alone(rule.other)) == (asked.cluster == nullptr) &&
                holds(setting, asked) && holds(rule.other, asked) == (rule.relation == Rule::Relation::excludes))
                complaints.push_back({std::string(setting.key), filled(rule.why, rule, setting, asked),
                                      filled(rule.write, rule, setting, asked),
                                      rule.otherwise == nullptr ? "" : (asked.open.*rule.otherwise)()});
    return complaints;
}

/// Returns the training without computation that has the exchange.
Plan as_training(const CollectivePlan& plan) {
    Plan training;
    training.ranks = plan.ranks;
    training.placement = plan.placement;
    training.exchange = plan.served() ? ExchangeKind::parameter_server : ExchangeKind::allreduce;
    training.algorithm = plan.algorithm;
    training.selection = plan.selection;
    training.fidelity = plan.fidelity;
    return training;
}

std::string in_markdown(const Setting& setting) {
    if (setting.key.empty()) return std::string(setting.value);
    return setting.value.empty() ? fmt::format("`{}`", setting.key)
                                 : fmt::format("`{}: {}`", setting.key, setting.value);
}

/// Returns a rule's text as it is for any value.
std::string without_values(std::string_view text) {
    std::string result(text);
    replace(result, "'{setting}'", "it");
    for (const Word& word : words()) replace(result, word.name, "…");
    return result;
}

}  // namespace

Complaints broken_rules(const Plan& plan, const OpenPlan& open) {
    return broken({plan, open});
}

Complaints broken_rules(const Plan& plan, const OpenPlan& open, const Model& model, const Cluster& cluster) {
    return broken({plan, open, &model, &cluster});
}

Complaints broken_rules(const CollectivePlan& plan, const OpenPlan& open) {
    return broken_rules(as_training(plan), open);
}

Complaints broken_rules(const CollectivePlan& plan, const Cluster& cluster) {
    return broken_rules(as_training(plan), {}, {}, cluster);
}

std::vector<std::string> keys_asked() {
    std::vector<std::string> keys;
    const auto add = [&](const Setting& setting) {
        if (!setting.holds) keys.emplace_back(setting.key);
    };
    for (const Rule& rule : rule_table()) {
        std::ranges::for_each(rule.settings, add);
        add(rule.other);
    }
    return keys;
}

std::string rules_reference() {
    std::string text;
    for (const Rule& rule : rule_table()) {
        std::vector<std::string> names;
        for (const Setting& setting : rule.settings) names.push_back(in_markdown(setting));
        const bool both = rule.why.find("{other}") != std::string_view::npos;  // which is said already
        text += fmt::format("- {}{} {} {}: {}{}.\n", names.size() > 1 ? "each of " : "", fmt::join(names, ", "),
                            rule.relation == Rule::Relation::needs ? "needs" : "excludes", in_markdown(rule.other),
                            both ? "" : without_values(rule.why) + "; ", without_values(rule.write));
    }
    return text;
}

}  // namespace syncline
