#pragma once

#include <cstddef>
#include <vector>

/// The Pareto front of offers by time and cost.
namespace syncline::batch {

struct Offer {
    double time = 0, cost = 0;
};

/// Returns the offers that no other one dominates, by time. An offer dominates another if it is nowhere worse and
/// somewhere better. Equal offers all stay, in their order.
std::vector<std::size_t> pareto_front(const std::vector<Offer>& offers);

}  // namespace syncline::batch
