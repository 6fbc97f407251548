#include "sim/platform/attention_table.hpp"

#include <cmath>
#include <stdexcept>

#include "sim/platform/between.hpp"

namespace syncline {

AttentionTable::AttentionTable(const std::vector<Row>& rows) {
    for (const Row& row : rows)
        all_[row.work.backward][row.work.causal][std::log(row.work.head_size)][std::log(row.work.sequence)] =
            std::log(row.flops_per_s);
    for (std::array<Curves, 2>& masks : all_) {
        if (masks[0].empty() && masks[1].empty())
            throw std::invalid_argument(&masks == &all_[0] ? "the forward pass has no rate"
                                                           : "the backward pass has no rate");
        // Each head size that only one of the masks has.
        masks[0].insert(masks[1].begin(), masks[1].end());
        masks[1].insert(masks[0].begin(), masks[0].end());
    }
}

double AttentionTable::rate(const AttentionWork& work) const {
    const double sequence = std::log(work.sequence);
    return std::exp(between(all_[work.backward][work.causal], std::log(work.head_size), [&](const Curve& curve) {
        return between(curve, sequence, [](double rate) { return rate; });
    }));
}

}  // namespace syncline
