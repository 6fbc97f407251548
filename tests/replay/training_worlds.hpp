#pragma once

#include <random>

#include "sim/analysis/experiment.hpp"
#include "sim/workload/compute_model.hpp"

/// Small trainings whose events a test can predict exactly.
namespace syncline::test {

/// Returns nodes at one switch, with messages of `alpha_s` and 1/`bandwidth_Bps`. A device computes a million
/// multiply-accumulates in a microsecond, and nothing else takes time.
inline Cluster plain_star(double bandwidth_Bps, double alpha_s) {
    Cluster cluster;
    cluster.nodes = 64;
    cluster.device.flops_per_s = 2e12;
    cluster.device.memory_Bps = 1e30;
    cluster.fabric.topology.bandwidth_Bps = {bandwidth_Bps};
    cluster.fabric.topology.latency_s = {alpha_s / 2};
    return cluster;
}

/// Returns a layer of this size whose forward pass takes this time, and each of its gradients the same.
inline Layer layer_of(std::int64_t bytes, std::int64_t microseconds) {
    return {"layer", bytes / 4, microseconds * 1'000'000, 0, 0};
}

/// Returns layers, some without parameters, whose bytes are multiples of `unit`.
inline Model random_layers(std::mt19937& random, std::size_t count, std::int64_t unit, std::uint32_t most_units) {
    Model model;
    model.name = "random";
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t units = random() % 4 == 0 ? 0 : 1 + static_cast<std::int64_t>(random() % most_units);
        model.layers.push_back(layer_of(units * unit, 1 + static_cast<std::int64_t>(random() % 1000)));
    }
    model.layers.push_back(layer_of(unit, 100));
    return model;
}

}  // namespace syncline::test
