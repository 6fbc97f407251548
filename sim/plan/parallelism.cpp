#include "sim/plan/parallelism.hpp"

#include <algorithm>

namespace syncline {

bool Parallelism::whole_model() const {
    const bool whole = std::all_of(ranges.begin(), ranges.end(), [](const LayerRange& range) {
        return !range.layout || range.layout->replica() == 1;
    });
    return whole && layout.replica() == 1 && pipeline.stages == 1 && experts.ranks == 1 &&
           experts.rows_of(layout.rows) == layout.rows && sharding == Sharding::none;
}

}  // namespace syncline
