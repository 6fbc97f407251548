#include "sim/explore/objective.hpp"

#include <algorithm>
#include <array>

namespace syncline::batch {

namespace {

bool is_name(const std::string& text) {
    return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
           std::string::npos;
}

bool rather_large(const std::string& text) {
    constexpr std::array large{"throughput",        "scaling_efficiency", "tokens_per_s",
                               "tflops_per_device", "model_flops",        "hardware_flops"};
    const bool known =
        std::any_of(large.begin(), large.end(), [&](const char* name) { return text.starts_with(name); });
    return is_name(text) && (known || text.find("_bandwidth") != std::string::npos);
}

}  // namespace

Objective parse_objective(const config::Condition& text) {
    Objective objective{text, rather_large(text.text)};
    std::string& expression = objective.expression.text;
    for (const auto& [prefix, most] : {std::pair{"max:", true}, std::pair{"min:", false}}) {
        if (!expression.starts_with(prefix)) continue;
        objective.most = most;
        expression.erase(0, 4);
        break;
    }
    expression.erase(0, expression.find_first_not_of(" \t\n"));
    if (expression.empty())
        throw ConfigError(
            {{text.at, "the objective is empty",
              "write for example iteration_time_s, throughput, cost, or an expression over columns of results"}});
    return objective;
}

}  // namespace syncline::batch
