#pragma once

#include <fmt/format.h>

#include "tests/replay/chance.hpp"
#include "tests/replay/split_worlds.hpp"

/// Worlds in which ranks and shards are alike.
namespace syncline {

/// Layers whose parameters, inputs and outputs `parts` divides. The longest takes `lengths` times as long as the
/// shortest.
inline Model even_layers(Chance& chance, std::size_t layers, std::int64_t parts, std::uint32_t lengths = 4) {
    Model model;
    model.name = "chain";
    model.sample_elements = parts;
    for (std::size_t i = 0; i < layers; ++i) {
        Dense shape;
        shape.inputs = parts;
        shape.outputs = parts;
        shape.bias = false;
        shape.positions = parts * (1 + chance.below(lengths));
        model.layers.push_back(dense(fmt::format("l{}", i), shape));
    }
    return model;
}

/// Nodes of `devices` with `nics` ports on one switch.
inline Cluster nodes_of(std::int64_t nodes, std::int64_t devices, std::int64_t nics, double bandwidth_Bps = 1e9) {
    Cluster cluster = star_cluster(nodes, bandwidth_Bps, 2e-6);
    cluster.device.flops_per_s = 2e9;
    cluster.device.memory_Bps = 1e30;
    cluster.node.devices = devices;
    cluster.node.nics = nics;
    cluster.node.link = {5e9, 1e-6};
    return cluster;
}

/// One iteration of replicas, each of them a pipeline with one rank on each stage.
inline Plan pipeline_of(std::int64_t stages, std::int64_t replicas, std::int64_t micro_batches) {
    Plan plan;
    plan.ranks = stages * replicas;
    plan.compute = ComputeKind::roofline;
    plan.iterations = 1;
    plan.algorithm.name = "ring";
    plan.parallelism.pipeline.stages = stages;
    plan.parallelism.pipeline.micro_batches = plan.batch_per_rank = micro_batches;
    return plan;
}

}  // namespace syncline
