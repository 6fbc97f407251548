#include "sim/plan/run_length.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/workload/tokens.hpp"

namespace syncline {

std::optional<double> run_iterations(const RunLength& run, const Model& model, double batch) {
    if (run.samples > 0) return std::ceil(run.samples / batch);
    const std::optional<double> tokens = tokens_per_sample(model);
    if (run.tokens == 0 || !tokens) return std::nullopt;
    return std::ceil(run.tokens / (*tokens * batch));
}

void judge_run(const RunLength& run, const Model& model, Complaints& complaints) {
    if (run.tokens > 0 && !tokens_per_sample(model))
        complaints.push_back({"run.tokens",
                              fmt::format("workload '{}' has no tokens, because it has no embedding", model.name),
                              "write the length in `samples`"});
}

}  // namespace syncline
