#include "sim/training/slowest.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <map>

#include "sim/taskgraph/pace.hpp"

namespace syncline {

namespace {

/// Number of ranks of a node by the logarithm of their planned time.
using RankCounts = std::map<double, double>;

constexpr double farthest = 9.5;  // in standard deviations: the normal's tail beyond is 1e-21
constexpr double grid_step = 1.0 / 8;

double normal_density(double z) {
    static const double scale = 1 / std::sqrt(2 * std::acos(-1.0));
    return scale * std::exp(-z * z / 2);
}
double normal_below(double z) {
    return std::erfc(-z / std::sqrt(2.0)) / 2;
}

/// A value of the logarithm of one factor, and its weight in the integral over it.
struct GridPoint {
    double log = 0, weight = 0;
};

/// The ranks of one node, and the number of nodes that are alike.
class NodeMaximum {
public:
    NodeMaximum(const RankCounts& ranks, double count, double sigma, double node_sigma)
        : ranks_(ranks), count_(count), sigma_(sigma), node_sigma_(node_sigma) {
        if (node_sigma == 0) return;
        // The integral runs over the wider of the two distributions by the narrower one's density, so that the step
        // resolves both. With fixed ranks there is nothing to integrate over.
        if (sigma == 0) return;
        const bool over_nodes = node_sigma <= sigma;
        const double least = over_nodes ? 0 : ranks.begin()->first, most = over_nodes ? 0 : ranks.rbegin()->first;
        const double width = over_nodes ? node_sigma : sigma, step = grid_step * width;
        const double mean = -width * width / 2;
        for (double log = least + mean - farthest * width; log < most + mean + farthest * width; log += step) {
            const double weight = over_nodes ? normal_density((log - mean) / width) * grid_step : density(log) * step;
            if (weight > 0) grid_.push_back({log, weight});
        }
        over_nodes_ = over_nodes;
    }

    /// Returns the logarithm of the probability that no rank of these nodes takes longer than exp(log).
    double log_below(double log) const {
        double below = 0;
        if (node_sigma_ == 0)
            below = ranks_below(log);
        else if (sigma_ == 0)
            below = normal_below((log - ranks_.rbegin()->first) / node_sigma_ + node_sigma_ / 2);
        else
            for (const GridPoint& point : grid_)
                below += point.weight * (over_nodes_ ? ranks_below(log - point.log)
                                                     : normal_below((log - point.log) / node_sigma_ + node_sigma_ / 2));
        return count_ * std::log(std::min(below, 1.0));
    }

private:
    /// Returns the probability that t_i X_i is at most exp(log) for all ranks of a node.
    double ranks_below(double log) const {
        double log_product = 0;
        for (const auto& [planned, count] : ranks_) {
            if (sigma_ == 0 && log < planned) return 0;
            if (sigma_ > 0) log_product += count * std::log(normal_below((log - planned) / sigma_ + sigma_ / 2));
        }
        return std::exp(log_product);
    }
    /// Returns the derivative of ranks_below().
    double density(double log) const {
        double sum = 0;
        for (const auto& [planned, count] : ranks_) {
            const double z = (log - planned) / sigma_ + sigma_ / 2;
            const double below = normal_below(z);
            if (below > 0) sum += count * normal_density(z) / sigma_ / below;
        }
        return sum > 0 ? sum * ranks_below(log) : 0;
    }

    RankCounts ranks_;
    double count_ = 1, sigma_ = 0, node_sigma_ = 0;
    std::vector<GridPoint> grid_ = {};
    bool over_nodes_ = false;
};

}  // namespace

double expected_slowest_s(const std::vector<RankTime>& ranks, double jitter, double node_jitter) {
    const double sigma = lognormal_sigma(jitter), node_sigma = lognormal_sigma(node_jitter);
    std::map<std::uint32_t, RankCounts> by_node;
    for (const RankTime& rank : ranks)  // ranks that compute nothing are never the slowest
        if (rank.seconds > 0) ++by_node[node_sigma > 0 ? rank.node : 0][std::log(rank.seconds)];
    if (by_node.empty()) return 0;
    std::map<RankCounts, double> alike;
    double longest = by_node.begin()->second.begin()->first;
    for (const auto& [node, counts] : by_node) {
        ++alike[counts];
        longest = std::max(longest, counts.rbegin()->first);
    }
    if (sigma == 0 && node_sigma == 0) return std::exp(longest);
    std::vector<NodeMaximum> nodes;
    for (const auto& [counts, count] : alike) nodes.emplace_back(counts, count, sigma, node_sigma);
    const auto above = [&](double log) {
        double log_below = 0;
        for (const NodeMaximum& node : nodes) log_below += node.log_below(log);
        return -std::expm1(log_below);
    };
    // In units of the longest planned time: E[max] = x0 + ∫ 1 - P(x) dx from x0, below which P vanishes, and dx = x du.
    const double spread = std::hypot(sigma, node_sigma), mean = -spread * spread / 2;
    const double first = longest + mean - farthest * spread, last = longest + mean + farthest * spread;
    double sum = std::exp(first - longest);
    // A fixed rule on pieces of one standard deviation: the integrand is smooth on that scale, and an adaptive one
    // would look for relative accuracy where there is nothing.
    constexpr int pieces = 19;
    for (int i = 0; i < pieces; ++i) {
        const double from = first + (last - first) * i / pieces, to = first + (last - first) * (i + 1) / pieces;
        sum += boost::math::quadrature::gauss_kronrod<double, 31>::integrate(
            [&](double log) { return above(log) * std::exp(log - longest); }, from, to, 0);
    }
    return sum * std::exp(longest);
}

}  // namespace syncline
