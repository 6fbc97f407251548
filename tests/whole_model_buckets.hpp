#pragma once

#include <vector>

#include "sim/lowering/buckets.hpp"

namespace syncline {

/// Returns the buckets of a model that every rank has in full, whose layers take these times.
inline std::vector<Bucket> make_buckets(const Model& model, const std::vector<LayerTime>& times, double start_s,
                                        const Plan& plan) {
    const std::vector<double> ready_s = ready_times(times, start_s, 1, plan.overlap);
    std::vector<Gradient> gradients;
    for (std::size_t i = model.layers.size(); i-- > 0;)
        gradients.push_back({.layer = static_cast<std::uint32_t>(i),
                             .bytes = gradient_bytes(model, model.layers[i]),
                             .ready_s = ready_s[i],
                             .replicas = {static_cast<std::uint32_t>(plan.ranks), 1},
                             .weight_bytes = weight_bytes(model, model.layers[i])});
    return make_buckets(gradients, plan);
}

}  // namespace syncline
