#include <algorithm>

#include "sim/report/parts.hpp"

namespace syncline {

Json page_failing_run(const Result& result) {
    if (!result.run || !result.run->failing || !result.run->failing->goodput) return nullptr;
    const std::vector<double>& all_s = result.run->failing->goodput->all_s;
    constexpr std::size_t bars = 24;
    const double from_s = all_s.front(), step_s = (all_s.back() - from_s) / bars;
    std::vector<std::size_t> counts(step_s > 0 ? bars : 1, 0);
    for (const double elapsed_s : all_s) {
        const auto bar = step_s > 0 ? static_cast<std::size_t>((elapsed_s - from_s) / step_s) : 0;
        ++counts[std::min(bar, counts.size() - 1)];
    }
    return {{"from_s", from_s}, {"step_s", step_s}, {"runs", counts}};
}

}  // namespace syncline
