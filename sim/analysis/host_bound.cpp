#include "sim/analysis/host_bound.hpp"

#include <fmt/format.h>

namespace syncline {

std::string host_bound_note(const Lowered& training) {
    constexpr double least = 0.01;
    double waiting_s = 0, passes_s = 0;
    for (const PlacedLayer& layer : training.arrangement.layers) {
        waiting_s += layer.time.host_bound_s;
        passes_s += layer.time.forward_s + layer.time.backward_s();
    }
    if (waiting_s <= least * passes_s) return "";
    return fmt::format(
        "host-bound: for {:.0f} % of its layers' passes the device waits for launches of kernels (`launches: graph` "
        "has no such waits)",
        100 * waiting_s / passes_s);
}

}  // namespace syncline
