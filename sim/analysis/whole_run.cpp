#include "sim/analysis/whole_run.hpp"

namespace syncline {

std::optional<WholeRun> whole_run(const Lowered& training, double iteration_s, const Cost& cost) {
    const auto batch = static_cast<double>(training.plan.global_batch());
    const std::optional<double> iterations = run_iterations(training.plan.run, training.model, batch);
    if (!iterations) return std::nullopt;
    WholeRun run{*iterations, *iterations * iteration_s, {}};
    if (cost.cost) run.cost = *iterations * *cost.cost;
    return run;
}

}  // namespace syncline
