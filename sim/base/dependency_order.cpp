#include "sim/base/dependency_order.hpp"

#include <functional>
#include <queue>

namespace syncline {

std::vector<std::uint32_t> dependency_order(std::uint32_t count, const std::vector<Wait>& waits) {
    std::vector<std::uint32_t> open(count, 0), first_after(count + 1, 0);
    for (const Wait& wait : waits) {
        ++open[wait.number];
        ++first_after[wait.on + 1];
    }
    for (std::uint32_t i = 0; i < count; ++i) first_after[i + 1] += first_after[i];
    std::vector<std::uint32_t> after(waits.size()), next = first_after;
    for (const Wait& wait : waits) after[next[wait.on]++] = wait.number;

    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < count; ++i)
        if (open[i] == 0) ready.push(i);
    std::vector<std::uint32_t> order;
    order.reserve(count);
    while (!ready.empty()) {
        const std::uint32_t i = ready.top();
        ready.pop();
        order.push_back(i);
        for (std::uint32_t a = first_after[i]; a < first_after[i + 1]; ++a)
            if (--open[after[a]] == 0) ready.push(after[a]);
    }
    return order;
}

}  // namespace syncline
