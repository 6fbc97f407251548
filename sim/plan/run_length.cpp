#include "sim/plan/run_length.hpp"

#include <cmath>

#include "sim/workload/sample_tokens.hpp"

namespace syncline {

std::optional<double> run_iterations(const RunLength& run, const Model& model, double batch) {
    if (run.samples > 0) return std::ceil(run.samples / batch);
    const std::optional<double> tokens = tokens_per_sample(model);
    if (run.tokens == 0 || !tokens) return std::nullopt;
    return std::ceil(run.tokens / (*tokens * batch));
}

}  // namespace syncline
