#include "sim/explain/recorded.hpp"

#include <algorithm>

namespace syncline {

Recorded::Recorded(const ReplayedIteration& replayed)
    : replayed_(replayed),
      first_(replayed.measured + 1 - static_cast<std::uint32_t>(replayed.timeline.recorded.size())),
      update_(syncline::last_update(replayed.graph, replayed.timeline)),
      window_(window_of(replayed.timeline, update_, replayed.window)) {}

Interval Recorded::clipped(const Interval& interval) const {
    return {std::clamp(interval.start_s, window_.start_s, window_.end_s),
            std::clamp(interval.end_s, window_.start_s, window_.end_s)};
}

}  // namespace syncline
