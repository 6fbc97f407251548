#include "sim/analysis/checkpoint_interval.hpp"

#include <algorithm>
#include <cmath>

namespace syncline {

double young_interval_s(double checkpoint_s, double mtbf_s) {
    return checkpoint_s > 0 ? std::sqrt(2 * checkpoint_s * mtbf_s) : 0;
}

double daly_interval_s(double checkpoint_s, double mtbf_s) {
    if (checkpoint_s >= 2 * mtbf_s) return mtbf_s;
    const double part = checkpoint_s / (2 * mtbf_s);
    return young_interval_s(checkpoint_s, mtbf_s) * (1 + std::sqrt(part) / 3 + part / 9) - checkpoint_s;
}

double erlang_loss(std::int64_t spares, double load) {
    double loss = 1;
    for (std::int64_t n = 1; n <= spares + 1; ++n) loss = load * loss / (static_cast<double>(n) + load * loss);
    return loss;
}

double expected_elapsed_s(const Interrupted& run) {
    const double intervals = run.useful_s / run.interval_s;
    const double cycle_s = std::max(run.interval_s, run.background_s) + run.checkpoint_s;
    if (std::isinf(run.mtbf_s)) return intervals * cycle_s;
    const double first_s = run.interval_s + run.checkpoint_s + run.background_s;
    return run.mtbf_s * std::exp((run.restart_s + first_s) / run.mtbf_s) * -std::expm1(-cycle_s / run.mtbf_s) *
           intervals;
}

}  // namespace syncline
