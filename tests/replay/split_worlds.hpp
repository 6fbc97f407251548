#pragma once

#include <fmt/format.h>

#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// Models with given times for each layer, and exchange times on a star, for iterations worked out by hand.
namespace syncline {

inline Layer plain_layer(std::size_t number, std::int64_t parameters, std::int64_t elements) {
    return {fmt::format("l{}", number), parameters, 1, elements, elements};
}

inline Model plain_model(std::size_t layers, std::int64_t parameters, std::int64_t elements) {
    Model model;
    model.name = "chain";
    for (std::size_t i = 0; i < layers; ++i) model.layers.push_back(plain_layer(i, parameters, elements));
    return model;
}

/// Layer i takes `forward_s[i]` and `backward_s[i]` for one sample.
inline Cluster timed_star(std::int64_t ranks, double bandwidth_Bps, double latency_s, const Model& model,
                          const std::vector<double>& forward_s, const std::vector<double>& backward_s) {
    Cluster cluster = star_cluster(ranks, bandwidth_Bps, latency_s);
    MeasuredLayers times;
    times.workload = model.name;
    for (std::size_t i = 0; i < model.layers.size(); ++i)
        times.layers.push_back({model.layers[i].name, forward_s[i], backward_s[i]});
    cluster.device.layer_times = {times};
    return cluster;
}

/// A star with one rank on each of its nodes.
struct Star {
    double bandwidth_Bps, latency_s;

    double message_s(double bytes) const { return 2 * latency_s + bytes / bandwidth_Bps; }
    /// Returns the time of an allgather or a reduce-scatter by a ring, of `bytes` in all.
    double ring_s(double ranks, double bytes) const { return (ranks - 1) * message_s(bytes / ranks); }
};

}  // namespace syncline
