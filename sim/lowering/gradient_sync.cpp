#include "sim/lowering/gradient_sync.hpp"

#include <algorithm>

namespace syncline {

std::uint32_t gradient_syncs(const Plan& plan, const Arrangement& arrangement) {
    const bool exchanged = std::ranges::any_of(arrangement.layers, [](const PlacedLayer& layer) {
        return (layer.replicas.size > 1 && layer.bytes > 0) ||
               (layer.experts && layer.experts->replicas.size > 1 && layer.experts->bytes > 0);
    });
    return exchanged && plan.parallelism.syncs_each_micro_batch() ? arrangement.micro_batches : 1;
}

}  // namespace syncline
