#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/plan/compression.hpp"
#include "sim/plan/documents.hpp"
#include "sim/plan/fidelity.hpp"
#include "sim/plan/gradient_plan.hpp"
#include "sim/plan/loading.hpp"
#include "sim/plan/noise.hpp"
#include "sim/plan/parallelism.hpp"
#include "sim/plan/placement.hpp"
#include "sim/plan/run_length.hpp"
#include "sim/plan/servers.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/kept.hpp"

/// Training plan: number of ranks, the computation of each, and the exchange of gradients.
namespace syncline {

/// Copy of the next input batch to the device: none, during the computation (prefetched), or before it.
enum class InputCopy { none, overlapped, blocking };

/// Optimizer state per parameter, in addition to weight and gradient: nothing, a momentum, or two moments (Adam).
/// `none`: weights are not updated, as in a measurement of forward and backward passes.
enum class Optimizer { none, sgd, momentum, adam };

/// Returns the number of values that the optimizer keeps for each weight.
constexpr double kept_values(Optimizer optimizer) {
    return optimizer == Optimizer::adam ? 2 : optimizer == Optimizer::momentum ? 1 : 0;
}

/// Part of a layer's forward pass that is computed again before its backward pass: nothing, attention's core, every
/// second product of a transformer's block, or all of it. See recomputed_spans.hpp.
enum class Recomputation { none, selective, operators, full };

/// Addition of the gradients of several microbatches: see accumulation.hpp.
enum class Accumulation { separate, fused };

/// State of the training that is in the host's memory: see offload.hpp.
enum class Offload { none, optimizer, gradients };

/// Batch size that stays constant when the number of ranks changes. `weak`: that of a replica (`batch_per_rank`);
/// `strong`: that of all ranks together (`batch`).
enum class Scaling { weak, strong };

/// Division of the batch among replicas on different kinds of nodes: equal, or in proportion to their speeds.
enum class BatchShares { equal, speed };

struct Plan {
    std::int64_t ranks = 1;
    RankPlacement placement;
    std::int64_t batch_per_rank = 32;  ///< samples of one replica of the model: of a rank, if it has the whole model
    Scaling scaling = Scaling::weak;
    BatchShares batch_shares = BatchShares::equal;  ///< of replicas on different kinds of nodes: see batch_shares.hpp
    /// Number of iterations. The last one is measured, with jitter all except the first, and one more is replayed after
    /// it; 1: only that one, from a cold start.
    std::int64_t iterations = 4;
    RunLength run = {};                       ///< of the whole training
    std::optional<Documents> documents = {};  ///< nothing: each sample is one document
    std::optional<Loading> loading = {};      ///< nothing: input is there
    Noise noise;
    Parallelism parallelism;
    Recomputation recomputation = Recomputation::none;
    Saved saved;
    ComputeKind compute = ComputeKind::calibrated;
    std::vector<std::string> free_layers;  ///< names of layers whose computation takes no time
    Launches launches = Launches::eager;
    Elementwise elementwise = Elementwise::fused;
    /// Kernel of fused attention, by its name among the device's measured ones; empty: the device's own choice.
    std::string attention_kernel = {};
    Accumulation accumulation = Accumulation::separate;
    Optimizer optimizer = Optimizer::momentum;
    bool clipping = true;  ///< of gradients to their norm, before the optimizer's step
    Offload offload = Offload::none;
    Precision precision = {};  ///< replaces the model's
    ExchangeKind exchange = ExchangeKind::allreduce;
    /// For the all-reduce or the gossip; with Compression::Kind::top_k the allgather in place of the all-reduce.
    AlgorithmSpec algorithm;
    /// For the all-reduce: chooses an algorithm for each bucket, in place of `algorithm`.
    std::optional<Selection> selection = {};
    std::optional<std::int64_t> channels = {};  ///< of collectives; 0: automatic; nothing: the transport's
    Overlap overlap = Overlap::wait_free;
    InputCopy input_copy = InputCopy::overlapped;
    Fusion fusion;
    Compression compression = {};  ///< of an all-reduce; limits of buckets apply to compressed gradients
    double partition_bytes = 0;    ///< maximum size of the pieces in which buckets are exchanged; 0: whole
    Schedule schedule = Schedule::fifo;
    Servers servers;
    /// Iterations after which replicas exchange, 1: in each (local SGD, DiLoCo: A. Douillard et al., "DiLoCo:
    /// distributed low-communication training of language models", arXiv:2311.08105). See every_rounds.hpp.
    std::int64_t local_steps = 1;
    /// Iterations by which the results of an exchange may be late: the update of iteration i waits for the exchange of
    /// iteration i - delay. With local steps the exchange overlaps with so many of them (S. Zhou et al., "DaSGD:
    /// squeezing SGD parallelization performance in distributed training using delayed averaging", 2020,
    /// arXiv:2006.00441; Streaming DiLoCo, arXiv:2501.18512), with gossip peers' weights are so old.
    std::int64_t exchange_delay = 0;
    Fidelity fidelity = Fidelity::message;
    std::vector<std::string> inherited = {};  ///< keys whose values are those of a framework's preset: inherited.hpp

    /// Sets the seed of all random draws.
    void set_seed(std::uint64_t seed) { placement.seed = noise.seed = seed; }
    /// Returns whether results depend on the seed.
    bool draws() const {
        return noise.varies() || (documents && documents->drawn()) || noise.stragglers.count > 0 ||
               placement.order == RankPlacement::Order::random || schedule == Schedule::random ||
               parallelism.experts.imbalance > 0;
    }
    /// Returns whether gradients of inputs are exchanged while those of weights are computed.
    bool hides_input_gradients() const {
        if (parallelism.model_overlap == ModelOverlap::as_gradients) return overlap != Overlap::none;
        return parallelism.model_overlap == ModelOverlap::weight_gradients;
    }
    /// Returns what the framework keeps: an activation function of its own keeps its result.
    Saved kept() const {
        Saved all = saved;
        all.gate = saved.gate.value_or(elementwise == Elementwise::separate);
        return all;
    }
    std::int64_t stage_ranks() const { return ranks / parallelism.pipeline.stages; }
    std::int64_t replicas() const { return stage_ranks() / parallelism.layout.replica(); }
    std::int64_t global_batch() const { return batch_per_rank * replicas(); }
    bool served() const { return exchange == ExchangeKind::parameter_server; }
    /// Returns whether each worker's gradients are an update of their own, so that workers may go at different speeds.
    bool independent_updates() const { return served() && servers.independent(); }
    /// Returns whether some rank need not wait for all others in each iteration.
    bool relaxed() const {
        return local_steps > 1 || exchange_delay > 0 ||
               (served() && (servers.independent() || servers.backup_workers > 0));
    }
    /// Returns the samples that updates use: of `global_batch()`, those of backup workers are lost.
    std::int64_t used_batch() const {
        return served() ? batch_per_rank * (replicas() - servers.backup_workers) : global_batch();
    }
    /// Returns the samples of one update.
    double update_batch() const { return static_cast<double>(independent_updates() ? batch_per_rank : used_batch()); }
    /// Returns the number of servers that have nodes of their own.
    std::int64_t server_nodes() const {
        return exchange == ExchangeKind::parameter_server && !servers.colocated() ? servers.count : 0;
    }
};

}  // namespace syncline
