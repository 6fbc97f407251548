#include "sim/analysis/slowest.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <map>
#include <utility>

#include "sim/taskgraph/pace.hpp"

namespace syncline {

namespace {

/// Number of ranks of a node by the logarithm of their planned time, in units of the longest of the node.
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
    /// `longest`: logarithm of their longest planned time, in units of that of all nodes.
    NodeMaximum(double longest, const RankCounts& ranks, double count, double sigma, double node_sigma)
        : longest_(longest), ranks_(ranks), count_(count), sigma_(sigma), node_sigma_(node_sigma) {
        if (node_sigma == 0) return;
        // The integral runs over the wider of the two distributions by the narrower one's density, so that the step
        // resolves both. With fixed ranks there is nothing to integrate over.
        if (sigma == 0) return;
        over_nodes_ = node_sigma <= sigma;
        // The maximum of the ranks is not below the longest one, so that its density is that near this one.
        const double width = over_nodes_ ? node_sigma : sigma, mean = -width * width / 2;
        constexpr int points = static_cast<int>(2 * farthest / grid_step);
        for (int i = 0; i <= points; ++i) {
            const double z = -farthest + i * grid_step, log = mean + z * width;
            const double weight = grid_step * (over_nodes_ ? normal_density(z) : density(log) * width);
            if (weight > 0) grid_.push_back({log, weight});
        }
    }

    /// Returns the logarithm of the probability that no rank of these nodes takes longer than exp(log).
    double log_below(double log) const {
        log -= longest_;
        double below = 0;
        if (node_sigma_ == 0)
            below = ranks_below(log);
        else if (sigma_ == 0)
            below = normal_below(log / node_sigma_ + node_sigma_ / 2);
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

    double longest_ = 0;
    RankCounts ranks_;
    double count_ = 1, sigma_ = 0, node_sigma_ = 0;
    std::vector<GridPoint> grid_ = {};
    bool over_nodes_ = false;
};

}  // namespace

double expected_slowest_s(const std::vector<RankTime>& ranks, double jitter, double node_jitter) {
    const double sigma = lognormal_sigma(jitter), node_sigma = lognormal_sigma(node_jitter);
    const auto node_of = [&](const RankTime& rank) { return node_sigma > 0 ? rank.node : 0; };
    double longest_s = 0;
    std::map<std::uint32_t, double> longest_of;
    for (const RankTime& rank : ranks) {
        longest_s = std::max(longest_s, rank.seconds);
        double& of_node = longest_of[node_of(rank)];
        of_node = std::max(of_node, rank.seconds);
    }
    if (longest_s == 0 || (sigma == 0 && node_sigma == 0)) return longest_s;
    // All logarithms are relative to planned times, so that they resolve even the smallest deviation from these.
    std::map<std::uint32_t, RankCounts> by_node;
    for (const RankTime& rank : ranks)  // ranks that compute nothing are never the slowest
        if (rank.seconds > 0) ++by_node[node_of(rank)][std::log(rank.seconds / longest_of[node_of(rank)])];
    std::map<std::pair<double, RankCounts>, double> alike;
    for (const auto& [node, counts] : by_node) ++alike[{std::log(longest_of[node] / longest_s), counts}];
    std::vector<NodeMaximum> nodes;
    for (const auto& [node, count] : alike) nodes.emplace_back(node.first, node.second, count, sigma, node_sigma);
    const auto above = [&](double log) {
        double log_below = 0;
        for (const NodeMaximum& node : nodes) log_below += node.log_below(log);
        return -std::expm1(log_below);
    };
    // In units of the longest planned time: E[max] = x0 + ∫ 1 - P(x) dx from x0, below which P vanishes, and dx = x du.
    const double spread = std::hypot(sigma, node_sigma), mean = -spread * spread / 2;
    const double first = mean - farthest * spread, last = mean + farthest * spread;
    double sum = std::exp(first);
    // A fixed rule on pieces of one standard deviation: the integrand is smooth on that scale, and an adaptive one
    // would look for relative accuracy where there is nothing.
    constexpr int pieces = 19;
    for (int i = 0; i < pieces; ++i) {
        const double from = first + (last - first) * i / pieces, to = first + (last - first) * (i + 1) / pieces;
        sum += boost::math::quadrature::gauss_kronrod<double, 31>::integrate(
            [&](double log) { return above(log) * std::exp(log); }, from, to, 0);
    }
    return sum * longest_s;
}

}  // namespace syncline
