#include "sim/replay/middle.hpp"

#include <algorithm>
#include <iterator>

namespace syncline {

void Middle::add(const std::vector<std::uint32_t>& route) {
    const auto in_fabric = [this](std::uint32_t link) { return wires_.in_fabric(link); };
    const auto first = std::ranges::find_if(route, in_fabric);
    if (first == route.end()) return;
    const auto last = std::prev(std::find_if(route.rbegin(), route.rend(), in_fabric).base());
    ends_[*first] = ends_[*last] = true;
    for (auto link = first; link < last; ++link) {
        if (link == first) continue;
        neighbours_[*link].before.insert(*std::prev(link));
        neighbours_[*link].after.insert(*std::next(link));
    }
}

bool Middle::restricts_nothing() {
    Known before, after;
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link)
        if (!held_back(link, &Neighbours::before, before) && !held_back(link, &Neighbours::after, after)) return false;
    return true;
}

std::vector<bool> Middle::links() const {
    std::vector<bool> result(neighbours_.size());
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link) result[link] = contains(link);
    return result;
}

/// Returns true if the link is not in the middle, or if those on that side, as far as the ends, hold back what passes
/// it.
bool Middle::held_back(std::uint32_t link, Side side, Known& known) const {
    if (!contains(link)) return true;
    const auto [entry, added] = known.try_emplace(link, false);
    if (!added) return entry->second;  // routes in a circle, which come back to this link, show nothing
    constexpr double rounding = 1e-9;
    double sum_Bps = 0;
    bool held = true;
    for (const std::uint32_t other : neighbours_[link].*side) {
        sum_Bps += wires_.bandwidth_Bps(other);
        held = held && held_back(other, side, known);
    }
    return entry->second = held && sum_Bps <= (1 + rounding) * wires_.bandwidth_Bps(link);
}

}  // namespace syncline
