#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// Ways of splitting a model between ranks, and their combinations. The ranks form `pipeline.stages` groups of equal
/// size. Within a stage they form a grid of `rows` × `columns`: a column is one replica of the stage (data
/// parallelism), and each of its ranks holds 1/rows of every weight (tensor parallelism). A replica is cut further into
/// `height` × `width` cells, each with its part of every image and all weights (domain parallelism), or of a sequence
/// (context.hpp). A. Gholami et al., "Integrated model, batch and domain parallelism in training neural networks", SPAA
/// 2018; A. Castelló et al., "Analysis of model parallelism for distributed neural networks", EuroMPI 2019.
///
/// Rank r is in stage r / G of G ranks; in it, i = r mod G is row i mod rows of cell (i / rows) mod (height·width),
/// which is cell y·width + x, of column i / (rows·height·width): rows are adjacent, as in Megatron-LM, then cells.
namespace syncline {

struct Layout {
    std::int64_t rows = 1;
    std::int64_t height = 1, width = 1;
    std::int64_t context = 1;  ///< parts of a sequence, of a model without images

    std::int64_t cells() const { return height * width * context; }
    /// Returns the number of ranks that work on the same samples.
    std::int64_t replica() const { return rows * cells(); }
    bool operator==(const Layout&) const = default;
};

/// Algorithms for the exchanges of activations and of their gradients.
struct ActivationAlgorithms {
    std::string allgather = "ring";
    std::string reduce_scatter = "ring";
    std::string allreduce = "ring";
    std::string all_to_all = "direct";
    /// For layers with fewer parts than rows: ranks without a part contribute nothing, but receive.
    std::string uneven_allgather = "ring";
    std::string uneven_allreduce = "reduce-scatter-allgather";
};

/// Consecutive layers with another layout than the others.
struct LayerRange {
    std::string first, last;  ///< names of layers, both included
    std::optional<Layout> layout;
    std::optional<ActivationAlgorithms> algorithms;
};

/// Order in which a stage processes its microbatches. `gpipe`: all forward, then all backward (Y. Huang et al.,
/// "GPipe", NeurIPS 2019). `one_f_one_b`: one backward pass after each forward pass, so that stage s of p holds at most
/// p - s microbatches (D. Narayanan et al., "PipeDream", SOSP 2019; with a flush, as in Megatron-LM). `interleaved`:
/// the same with several virtual stages on each stage (D. Narayanan et al., "Efficient large-scale language model
/// training on GPU clusters using Megatron-LM", SC 2021). `zero_bubble_h1`: as one_f_one_b, but gradients of weights
/// are computed apart, to fill part of the bubble (P. Qi et al., "Zero bubble pipeline parallelism", ICLR 2024,
/// schedule ZB-H1). `zero_bubble_v` and `dualpipe_v` have two virtual stages on each stage, which microbatches pass
/// through like a V, down the stages and back (P. Qi et al., "Pipeline parallelism with controllable memory", NeurIPS
/// 2024; deepseek-ai/DualPipe). `dualpipe`, whose microbatches enter at both ends, is only written: it becomes
/// dualpipe_v (settle() in sim/lowering/open_plan.hpp).
enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_v, dualpipe_v, dualpipe };

/// Transfers between stages: the next pass overlaps them, or waits (`blocking`). `as_schedule`: blocking with
/// one_f_one_b, else overlapped, as in Megatron-LM (`overlap_p2p_comm` in megatron/training/arguments.py; before 2023
/// it always waited). DeepSpeed (runtime/pipe/p2p.py: dist.send) and nanotron (P2P.send_tensors) wait, too; PyTorch's
/// ScheduleGPipe waits at the end (torch/distributed/pipelining/schedules.py).
enum class Transfers { as_schedule, blocking, overlapped };

struct Pipeline {
    std::int64_t stages = 1;
    std::int64_t micro_batches = 1;   ///< parts of a replica's batch, also without stages
    std::int64_t virtual_stages = 1;  ///< on each stage: see virtual_stage_of()
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    /// Number of layers in each virtual stage, stages·virtual_stages of them in forward order. Empty: see
    /// sim/lowering/stage_division.hpp.
    std::vector<std::int64_t> layers;
    Transfers transfers = Transfers::as_schedule;
    /// Each row sends a share of what all rows have, which the receiving rows gather, without sequence parallelism:
    /// section 4.1 of the same paper; megatron/p2p_communication.py: scatter_gather_tensors_in_pipeline (not
    /// Megatron-Core); DeepSpeed, runtime/pipe/engine.py: pipe_partitioned, grad_partitioned. Not between layers with
    /// different layouts.
    bool scatter_gather = true;
    /// A forward pass runs together with the backward pass of another microbatch, so that the exchanges of one overlap
    /// with the computation of the other: with interleaved stages, or 1F1B on one stage (Megatron-Core's
    /// `overlap_moe_expert_parallel_comm`, megatron/core/pipeline_parallel/combined_1f1b.py). dualpipe_v always does.
    bool pairs = false;

    /// Returns whether microbatches turn after the last stage, and come back.
    bool turns() const {
        return schedule == PipelineSchedule::zero_bubble_v || schedule == PipelineSchedule::dualpipe_v;
    }
    /// Returns whether gradients of weights are computed in passes of their own, if there are several stages.
    bool computes_weights_apart() const {
        return (schedule == PipelineSchedule::zero_bubble_h1 || turns()) && stages > 1;
    }
    /// Returns the virtual stage of the model that is the `rank`-th of a stage: rank·stages + stage, or on the way back
    /// from the last stage rank·stages + (stages-1-stage).
    std::uint32_t virtual_stage_of(std::uint32_t rank, std::uint32_t stage) const {
        const auto all = static_cast<std::uint32_t>(stages);
        return rank * all + (turns() && rank % 2 == 1 ? all - 1 - stage : stage);
    }
    /// Returns the stage that a virtual stage is on.
    std::uint32_t stage_of(std::uint32_t virtual_stage) const {
        const auto all = static_cast<std::uint32_t>(stages);
        const std::uint32_t way = virtual_stage % all;
        return turns() && virtual_stage / all % 2 == 1 ? all - 1 - way : way;
    }

    /// Returns the smallest number of microbatches that the schedule has an order for.
    std::int64_t fewest_micro_batches() const {
        if (schedule == PipelineSchedule::interleaved) return stages;
        return schedule == PipelineSchedule::dualpipe_v ? 2 * stages : 1;
    }

    /// Returns true if a stage's next pass waits until what it sends has arrived.
    bool blocks() const {
        if (transfers != Transfers::as_schedule) return transfers == Transfers::blocking;
        return schedule == PipelineSchedule::one_f_one_b;
    }
};

/// Overlap of the exchanges of a layer's input gradients with the computation of its weight gradients (Megatron-LM's
/// LinearWithGradAccumulationAndAsyncCommunication), or none. `as_gradients`: as Plan::overlap says.
enum class ModelOverlap { as_gradients, none, weight_gradients };

/// State that ranks with the same weights shard. `optimizer`: the optimizer's state (ZeRO-1). `gradients`: also the
/// gradients (ZeRO-2), by a reduce-scatter, after which an allgather collects the updated weights. `parameters`: also
/// the weights (ZeRO-3, FSDP), gathered before a layer's forward and backward pass. S. Rajbhandari et al., "ZeRO", SC
/// 2020. With Parallelism::shard_ranks groups of neighbours shard it, each group has all of it, and shards of gradients
/// are all-reduced across groups (HSDP; Y. Zhao et al., "PyTorch FSDP", VLDB 2023, section 3.2.2).
enum class Sharding { none, optimizer, gradients, parameters };

/// Returns true if ranks have all weights, but update a share of them each, which are then gathered.
constexpr bool divides_updates(Sharding sharding) {
    return sharding == Sharding::optimizer || sharding == Sharding::gradients;
}

/// Time of the all-gather of updated weights. `after_update`: at the end of the iteration (ZeRO's optimizer in
/// DeepSpeed, Megatron-LM's distributed one). `before_forward`: at the start of each, bucket by bucket, as the forward
/// pass needs them (Megatron-Core's `--overlap-param-gather`, NeMo's `overlap_param_sync`). Left out: Megatron-Core
/// issues a gathering only when the forward pass reaches the bucket before it.
enum class Gather { after_update, before_forward };

/// Microbatches after whose backward pass gradients are exchanged: the last one, each one, or each one if gradients
/// are sharded, there is no pipeline, and microbatches take turns (`automatic`). See gradient_sync.hpp.
enum class GradientSync { automatic, last_micro_batch, each_micro_batch };

/// Queues through which a device takes the kernels of all streams. With `one` (CUDA_DEVICE_MAX_CONNECTIONS=1, which
/// Megatron-LM demands with sequence parallelism before Blackwell: megatron/training/arguments.py) they begin in the
/// order of their issue: a gathering of sharded weights that waits for gradients issued before it holds up the
/// computation behind it (Megatron-Core, docs/source/api-guide/custom_fsdp.md). Left out: other kernels that wait.
enum class DeviceQueues { several, one };

/// Value of Parallelism::shard_ranks: those of a node.
inline constexpr std::int64_t ranks_of_node = 0;

/// How the ranks of a context group, which divide a sequence's positions, compute attention: see context.hpp.
enum class ContextExchange { ring, ulysses };

/// How tokens reach their experts: each copy by itself, or once per node and rank. See expert_parallelism.hpp.
enum class ExpertExchange { copies, deduplicated };

/// Groups of ranks that divide the experts of every layer that has some: see experts.hpp.
struct ExpertGroups {
    std::int64_t ranks = 1;
    /// Number of neighbours that divide the hidden units of each expert, its expert rows; 0: those that divide the rest
    /// of the layer.
    std::int64_t model = 0;
    double imbalance = 0;  ///< coefficient of variation of the experts' tokens: see expert_loads.hpp
    ExpertExchange exchange = ExpertExchange::copies;
    std::int64_t token_nodes = 0;  ///< maximum number of nodes that have a token's experts; 0: any
    bool fp8_dispatch = false;     ///< tokens, and gradients of results, are sent in FP8 with scales

    /// Returns the number of expert rows in a layer with `rows` rows.
    std::int64_t rows_of(std::int64_t rows) const { return model == 0 ? rows : model; }
};

struct Parallelism {
    Layout layout;
    ContextExchange context_exchange = ContextExchange::ring;
    ExpertGroups experts;
    std::vector<LayerRange> ranges;
    ActivationAlgorithms algorithms;
    Pipeline pipeline;
    /// Sequence parallelism: between the halves of a transformer's layers each row holds 1/rows of the positions (V.
    /// Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023).
    bool sequence = false;
    ModelOverlap model_overlap = ModelOverlap::as_gradients;
    std::int64_t model_chunks = 1;  ///< of products and their exchanges among rows: see chunked_products.hpp
    Sharding sharding = Sharding::none;
    /// Number of ranks that divide the state among them; nothing: all that have the same weights.
    std::optional<std::int64_t> shard_ranks = {};
    Gather gather = Gather::after_update;  ///< of weights, if only their updates are divided
    GradientSync gradient_sync = GradientSync::automatic;
    DeviceQueues device_queues = DeviceQueues::several;  ///< `one` only with Sharding::parameters

    /// Return the algorithms that collect sharded weights and add up their gradients.
    AlgorithmSpec weight_gathering() const { return {.operation = "allgather", .name = algorithms.allgather}; }
    AlgorithmSpec gradient_scattering() const {
        return {.operation = "reduce-scatter", .name = algorithms.reduce_scatter};
    }

    /// Returns true if a rank's microbatches follow each other, the backward pass of one before the next one's
    /// forward.
    bool takes_turns() const {
        return pipeline.stages == 1 && pipeline.schedule == PipelineSchedule::one_f_one_b && !pipeline.pairs;
    }
    bool syncs_each_micro_batch() const {
        if (gradient_sync != GradientSync::automatic) return gradient_sync == GradientSync::each_micro_batch;
        return sharding >= Sharding::gradients && takes_turns();
    }
    /// Returns true if every rank has the whole model, and exchanges only whole gradients with others.
    bool whole_model() const;
};

}  // namespace syncline
