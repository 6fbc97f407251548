#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/replay/chance.hpp"

/// Small random scenarios as a person would write them. Many are refused: what they combine is drawn without looking.
namespace syncline::test {

struct RandomScenario {
    explicit RandomScenario(std::uint64_t seed) : chance_(seed) {
        ranks = 1 + chance_.below(16);
        platform = random_platform();
        if (chance_.below(3) > 0)
            training = "platform: platform.yaml\n" + random_workload() + random_training();
        else
            exchange = random_exchange();
    }

    std::int64_t ranks = 1;
    std::uint32_t iterations = 1;  ///< of a training
    double port_Bps = 0;           ///< bandwidth of a node's only cable; 0: it has several, or several ranks
    std::string platform;
    std::string training;               ///< a scenario on platform.yaml; empty: a single exchange
    std::vector<std::string> exchange;  ///< options of `syncline collective`
    std::int64_t bytes = 0;             ///< of a single exchange

private:
    bool one_in(std::uint32_t times) { return chance_.below(times) == 0; }

    std::string fabric() {
        const std::vector<std::string> shapes{
            "topology: star",
            "topology: star",
            "topology: ring",
            "topology: full-mesh",
            "topology: hypercube",
            "topology: torus",
            "topology: torus, dimensions: [2, 3, 3]",
            "topology: exponential",
            "topology: tree, arity: 3",
            "topology: fat-tree, ports: 4",
            "topology: fat-tree, down: [4, 4], up: [1, 2], cables: [1, 1]",
            "topology: dragonfly, groups: 3, routers: 2, hosts_per_router: 3, global_links: 1",
            "topology: hierarchical, levels: [{pattern: full-mesh, size: 3}, {pattern: ring}]",
            "topology: graph, switches: [s], edges: [{from: s, to: a}, {from: s, to: b}, {from: a, to: c}]",
        };
        const std::string shape = chance_.of(shapes);
        const int gigabits = chance_.of<int>({1, 10, 100});
        if (shape == shapes.front()) port_Bps = gigabits * 1e9 / 8;
        return fmt::format("fabric: {{{}, bandwidth: {} Gbps, latency: {}}}\n", shape, gigabits,
                           chance_.of<std::string>({"none", "1 us", "50 us"}));
    }

    std::string random_platform() {
        std::string text = fabric();
        text += fmt::format("device: {{name: d, flops: {} Gflops, memory_bandwidth: 10 GBps, reduction_rate: {}}}\n",
                            chance_.of<int>({1, 10, 100}), chance_.of<std::string>({"unlimited", "1 GBps"}));
        text += "host: {reduction_rate: 10 GBps}\n";
        if (one_in(3)) {
            port_Bps = 0;
            text +=
                fmt::format("per_node: {{devices: {}, links: {{pattern: {}, bandwidth: 10 GBps, latency: 1 us}}}}\n",
                            2 + chance_.below(3), chance_.of<std::string>({"all-to-all", "ring", "switch"}));
        }
        if (one_in(3))
            text += fmt::format("routing: {{policy: {}}}\n",
                                chance_.of<std::string>({"ecmp", "first", "adaptive-at-start", "spray"}));
        if (one_in(3)) text += "network: {latency: blocking}\n";
        if (one_in(4))
            text += fmt::format("transport: {}\n",
                                chance_.of<std::string>({"grpc", "tcp", "horovod-mpi", "horovod-nccl", "nccl-a100"}));
        return text;
    }

    std::string random_workload() {
        std::string text = "workload:\n  name: random\n  input: [1, 1, 1]\n  layers:\n";
        const std::uint32_t layers = 1 + chance_.below(5);
        for (std::uint32_t layer = 0; layer < layers; ++layer) {
            const int size = chance_.of<int>({0, 1, 7, 1000, 46080, 100003});
            text += one_in(2) ? fmt::format(
                                    "    - {{name: l{}, kind: custom, parameters: {}, macs: {}, inputs: 48, "
                                    "activations: 48}}\n",
                                    layer, size, chance_.below(1'000'000))
                              : fmt::format("    - {{name: l{}, kind: dense, inputs: {}, outputs: {}}}\n", layer,
                                            48 * (1 + chance_.below(4)), 48 * (1 + chance_.below(4)));
        }
        return text;
    }

    std::string random_training() {
        // Some keys require that every rank has the whole model.
        const bool split = one_in(3);
        if (split) ranks = chance_.of<int>({2, 4, 6, 9, 12});
        const std::string exchange_kind =
            chance_.of<std::string>({"allreduce", "allreduce", "parameter-server", "gossip"});
        iterations = 1 + chance_.below(4);
        std::string text = fmt::format("training:\n  ranks: {}\n  batch_per_rank: {}\n  iterations: {}\n", ranks,
                                       split ? 6 : 1 + chance_.below(4), iterations);
        const auto sometimes = [&](std::uint32_t times, const char* key, const std::vector<std::string>& values) {
            const std::string value = chance_.of(values);
            if (one_in(times)) text += fmt::format("  {}: {}\n", key, value);
        };
        if (split || exchange_kind == "allreduce") {
            sometimes(2, "algorithm",
                      {"ring", "segmented-ring", "recursive-doubling", "rabenseifner", "binomial-tree",
                       "pipelined-tree", "double-binary-tree", "direct", "reduce-scatter-allgather"});
        } else {
            text += fmt::format("  exchange: {}\n", exchange_kind);
            sometimes(
                1, exchange_kind == "gossip" ? "overlay" : "servers",
                exchange_kind == "gossip"
                    ? std::vector<std::string>{"ring", "exponential", "{topology: torus}", "full-mesh"}
                    : std::vector<std::string>{"{count: 1}", "{count: 3, placement: sliced}", "{location: colocated}",
                                               "{count: 2, placement: greedy-bytes, pull: each}"});
        }
        if (split) {
            sometimes(1, "parallelism",
                      {"{model: 2}", "{model: 3, sharding: optimizer}", "{sharding: gradients}", "{pipeline: 2}",
                       "{pipeline: {stages: 2, micro_batches: 2, schedule: 1f1b}}", "{sharding: parameters}",
                       "{pipeline: {stages: 3, micro_batches: 3, schedule: gpipe}, model: 2}",
                       "{pipeline: {stages: 2, micro_batches: 2, schedule: interleaved, virtual_stages: 2}}"});
            sometimes(2, "overlap", {"none", "wait-free"});
        } else {
            sometimes(2, "overlap", {"none", "wait-free", "across-iterations"});
            sometimes(4, "partition", {"1 kB", "100 kB"});
            sometimes(3, "schedule", {"fifo", "priority", "random"});
            sometimes(4, "fusion", {"{threshold: 64 MiB, cycle: 1 ms}"});
        }
        if (text.find("fusion") == std::string::npos)
            sometimes(2, "fusion", {"{threshold: 4 B}", "{threshold: 100 kB}", "none"});
        sometimes(3, "jitter", {"0.05", "0.3"});
        sometimes(5, "stragglers", {"{ranks: 1, slowdown: 2}"});
        sometimes(3, "optimizer", {"sgd", "momentum", "adam"});
        sometimes(3, "input_copy", {"none", "blocking"});
        sometimes(3, "placement", {"round-robin", "random"});
        return text;
    }

    std::vector<std::string> random_exchange() {
        const std::string operation =
            chance_.of<std::string>({"allreduce", "allreduce", "reduce-scatter", "allgather", "broadcast", "reduce",
                                     "scatter", "gather", "all-to-all", "barrier", "neighbour-exchange"});
        std::vector<std::string> options{"--ranks", std::to_string(ranks), "--operation", operation};
        if (operation != "barrier") {
            bytes = chance_.of<std::int64_t>({0, 1, 4, 1003, 46080, 1000003});
            options.insert(options.end(), {"--bytes", fmt::format("{} B", bytes)});
        }
        if (one_in(2)) {
            const std::string algorithm = chance_.of<std::string>(
                {"ring", "segmented-ring", "recursive-doubling", "rabenseifner", "bruck", "pairwise", "binomial-tree",
                 "pipelined-tree", "double-binary-tree", "hierarchical", "direct", "padded-ring", "ring-broadcast",
                 "spread-doubling", "recursive-halving", "scatter-allgather"});
            options.insert(options.end(), {"--algorithm", algorithm});
        }
        if (one_in(4)) options.insert(options.end(), {"--placement", "random"});
        return options;
    }

    Chance chance_;
};

}  // namespace syncline::test
