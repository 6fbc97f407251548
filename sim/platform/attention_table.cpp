#include "sim/platform/attention_table.hpp"

#include <cmath>
#include <iterator>
#include <stdexcept>

namespace syncline {

namespace {

/// Returns the value at x: linear between two points, that of the nearest point outside of them.
template <class Points, class Value>
double between(const Points& points, double x, const Value& value) {
    const auto above = points.lower_bound(x);
    if (above == points.begin()) return value(above->second);
    const auto below = std::prev(above);
    if (above == points.end()) return value(below->second);
    const double part = (x - below->first) / (above->first - below->first);
    return value(below->second) * (1 - part) + value(above->second) * part;
}

}  // namespace

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
