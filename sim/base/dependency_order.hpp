#pragma once

#include <cstdint>
#include <vector>

namespace syncline {

/// `number` comes after `on`.
struct Wait {
    std::uint32_t number = 0, on = 0;
};

/// Returns the numbers below `count`, each after those that it waits for, and otherwise in their order: of several that
/// could be next, the lowest (A. B. Kahn, "Topological sorting of large networks", CACM 5(11), 1962). Numbers on a
/// cycle are left out, and those that wait for them.
std::vector<std::uint32_t> dependency_order(std::uint32_t count, const std::vector<Wait>& waits);

}  // namespace syncline
