#include "sim/lowering/expert_loads.hpp"

#include <algorithm>

#include "sim/taskgraph/pace.hpp"

namespace syncline {

std::vector<double> expert_loads(std::int64_t experts, std::int64_t top_k, double imbalance, std::uint64_t seed,
                                 std::uint32_t layer) {
    // Counters of iterations have 32 bits, so this one collides with none: see pace.cpp.
    constexpr std::uint64_t of_experts = std::uint64_t{1} << 33;
    const auto all = static_cast<double>(experts), most = all / static_cast<double>(top_k);
    std::vector<double> loads;
    for (std::int64_t expert = 0; expert < experts; ++expert)
        loads.push_back(
            lognormal_factor(imbalance, random_bits(seed, static_cast<std::uint64_t>(expert), of_experts + layer)));
    // Each turn finds at least one more expert that is full, or none.
    double rest = all;
    std::vector<bool> full(loads.size(), false);
    for (bool found = true; found;) {
        double drawn = 0;
        for (std::size_t i = 0; i < loads.size(); ++i)
            if (!full[i]) drawn += loads[i];
        found = false;
        const double factor = drawn > 0 ? rest / drawn : 1;
        for (std::size_t i = 0; i < loads.size(); ++i) {
            if (full[i]) continue;
            loads[i] *= factor;
            if (loads[i] <= most) continue;
            loads[i] = most;
            full[i] = found = true;
        }
        if (!found) break;
        rest = all - most * static_cast<double>(std::count(full.begin(), full.end(), true));
    }
    return loads;
}

}  // namespace syncline
