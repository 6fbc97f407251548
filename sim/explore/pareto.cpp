#include "sim/explore/pareto.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace syncline::batch {

std::vector<std::size_t> pareto_front(const std::vector<Offer>& offers) {
    std::vector<std::size_t> by_time(offers.size());
    std::iota(by_time.begin(), by_time.end(), 0);
    std::sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(offers[a].time, offers[a].cost, a) < std::tie(offers[b].time, offers[b].cost, b);
    });
    std::vector<std::size_t> front;
    for (const std::size_t one : by_time) {
        // All earlier offers are at least as fast, so only the cheapest of them matters, which is the last one taken.
        const bool first = front.empty();
        const bool cheaper = !first && offers[one].cost < offers[front.back()].cost;
        const bool equal =
            !first && offers[one].cost == offers[front.back()].cost && offers[one].time == offers[front.back()].time;
        if (first || cheaper || equal) front.push_back(one);
    }
    return front;
}

}  // namespace syncline::batch
