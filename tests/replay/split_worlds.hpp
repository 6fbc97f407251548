#pragma once

#include <fmt/format.h>

#include <random>
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

/// A model whose layers take times of their own for one sample, on the ranks of a star.
struct TimedWorld {
    Model model;
    Cluster cluster;
    std::vector<double> forward_s, backward_s;  ///< by layer
};

/// The parameters of a layer are a multiple of `unit`. `scale` is that of the times of its passes.
inline TimedWorld timed_world(std::mt19937& random, const Star& star, std::int64_t ranks, std::size_t layers,
                              std::int64_t unit, std::int64_t elements, double scale = 1) {
    TimedWorld world;
    world.model = plain_model(layers, 0, elements);
    std::uniform_real_distribution<double> seconds(1e-4, 4e-3);
    for (Layer& layer : world.model.layers) {
        layer.parameters = unit * static_cast<std::int64_t>(random() % (1'000'000 / static_cast<unsigned>(unit)) + 1);
        world.forward_s.push_back(scale * seconds(random));
        world.backward_s.push_back(scale * seconds(random));
    }
    world.cluster =
        timed_star(ranks, star.bandwidth_Bps, star.latency_s, world.model, world.forward_s, world.backward_s);
    return world;
}

}  // namespace syncline
