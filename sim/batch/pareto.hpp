#pragma once

#include <cstddef>
#include <vector>

/// Which offers a person would choose between who wants both little time and little cost.
namespace syncline::batch {

struct Offer {
    double time = 0, cost = 0;
};

/// The offers that no other dominates, by time: another one that is nowhere worse and somewhere better would be taken
/// in its place whatever time is worth. Of equal ones all stay, in their order.
std::vector<std::size_t> pareto_front(const std::vector<Offer>& offers);

}  // namespace syncline::batch
