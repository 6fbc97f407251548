#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// How a model is split between ranks, and products of these ways.
///
/// The ranks are `pipeline.stages` groups of equally many, and a stage holds some layers. Within a stage the layers'
/// ranks form a grid of `rows` × `columns`: a column is one replica of the stage, which computes on its own part of the
/// batch (data parallelism), and its ranks hold 1/rows of every weight each (model or tensor parallelism). With domain
/// parallelism a replica is cut further into `height` × `width` cells, each of which has its part of every image and
/// all weights. A. Gholami et al., "Integrated model, batch and domain parallelism in training neural networks",
/// SPAA 2018; A. Castelló et al., "Analysis of model parallelism for distributed neural networks", EuroMPI 2019.
///
/// Rank r is in stage r / G of G ranks; in it, i = r mod G is row i mod rows of cell (i / rows) mod (height·width),
/// which is cell y·width + x, of column i / (rows·height·width). Rows are next to each other, as in Megatron-LM.
namespace syncline {

struct Layout {
    std::int64_t rows = 1;
    std::int64_t height = 1, width = 1;

    std::int64_t cells() const { return height * width; }
    /// Ranks that work on the same samples.
    std::int64_t replica() const { return rows * cells(); }
    bool operator==(const Layout&) const = default;
};

/// What carries out the exchanges of activations and of their gradients.
struct ActivationAlgorithms {
    std::string allgather = "ring";
    std::string reduce_scatter = "ring";
    std::string allreduce = "ring";
    std::string all_to_all = "direct";
    /// Where a layer has fewer parts than there are rows: who has none contributes nothing, and receives all the same.
    std::string uneven_allgather = "ring";
    std::string uneven_allreduce = "reduce-scatter-allgather";
};

/// Layers that follow each other and are laid out in another way than the others.
struct LayerRange {
    std::string first, last;  ///< names of layers; the last one is in it
    std::optional<Layout> layout;
    std::optional<ActivationAlgorithms> algorithms;
};

/// In which order a stage takes its micro-batches. `gpipe`: all forward, then all backward (Y. Huang et al., "GPipe",
/// NeurIPS 2019). `one_f_one_b`: as soon as it can, one backward after each forward, so that stage s of p holds p - s
/// micro-batches at most (D. Narayanan et al., "PipeDream", SOSP 2019; here with a flush, as in Megatron-LM).
/// `interleaved`: the same with `chunks` parts of the model on each stage (D. Narayanan et al., "Efficient large-scale
/// language model training on GPU clusters using Megatron-LM", SC 2021).
enum class PipelineSchedule { gpipe, one_f_one_b, interleaved };

struct Pipeline {
    std::int64_t stages = 1;
    std::int64_t micro_batches = 1;  ///< into which a replica's batch is cut, also without stages
    std::int64_t chunks = 1;         ///< of layers on each stage: chunk c of stage s is part c·stages + s of the model
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    /// How many layers each part of the model has, stages·chunks of them in forward order. Empty: such that the slowest
    /// part is as fast as can be.
    std::vector<std::int64_t> layers;
};

/// What the ranks that hold the same weights share out between them, in place of each having all of it. `optimizer`:
/// the optimiser's state (ZeRO-1); `gradients`: and the gradients (ZeRO-2): reduced by a reduce-scatter, after which an
/// allgather collects the updated weights. `parameters`: and the weights (ZeRO-3, FSDP), which are gathered before a
/// layer's forward and backward pass. S. Rajbhandari et al., "ZeRO", SC 2020.
enum class Sharding { none, optimizer, gradients, parameters };

struct Parallelism {
    Layout layout;
    std::vector<LayerRange> ranges;
    ActivationAlgorithms algorithms;
    Pipeline pipeline;
    /// Between the halves of a transformer's layers each row holds 1/rows of the positions: all-reduces become
    /// reduce-scatters and allgathers (V. Korthikanti et al., "Reducing activation recomputation in large transformer
    /// models", MLSys 2023).
    bool sequence = false;
    Sharding sharding = Sharding::none;

    /// What collects sharded weights, and what adds up the gradients that go with them.
    AlgorithmSpec weight_gathering() const { return {.operation = "allgather", .name = algorithms.allgather}; }
    AlgorithmSpec gradient_scattering() const {
        return {.operation = "reduce-scatter", .name = algorithms.reduce_scatter};
    }

    /// Whether every rank has the whole model, and does nothing with others but exchange whole gradients.
    bool data_only() const;
};

}  // namespace syncline
