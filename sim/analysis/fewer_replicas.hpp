#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "sim/analysis/goodput.hpp"
#include "sim/lowering/lowered.hpp"

/// Elastic training: the pace of a training that goes on without some of its nodes, as TorchElastic's, which starts
/// again among those that are left at every change of their number.
///
/// Replicas. The nodes that are left form as many whole replicas of the model as they can: with R replicas of r ranks
/// on nodes of d ranks, of which m lack, min(R, ⌊(nodes - m) · d / r⌋), or the next smaller number that the plan allows
/// (experts, groups of shards and so on divide the replicas), and whose memory suffices if that of all does. None: the
/// training waits.
///
/// Batch. With Elastic::same_batch the k replicas share the microbatches of all: the fullest has ⌈microbatches / k⌉,
/// with an interleaved schedule the next multiple of the stages, and without microbatches ⌈batch / k⌉ samples, in as
/// few passes as are no larger than the plan's if memory does not suffice for one. All are simulated as the fullest,
/// for which the others wait. With Elastic::smaller_batch each keeps its samples, and an iteration is only k/R of one.
///
/// Simulated are 1 to 4 replicas fewer, and powers of two; between these the iteration time is linear in the samples of
/// the fullest replica, or in the replicas if these do not differ. Each is simulated when a sampled run first meets it.
/// Left out: nodes of servers, which do not lack; a training that moves to other nodes of the fabric.
namespace syncline {

/// Simulated, or estimated, iteration of a training.
struct Iteration {
    double seconds = 0;
    double energy_J = 0;  ///< 0: not known
};
using IterationOf = std::function<Iteration(const Lowered& training)>;

class FewerReplicas {
public:
    /// `idle_W`: power of a node that does nothing, with its share of the fabric.
    FewerReplicas(const Lowered& training, IterationOf iteration_of, double idle_W);

    /// Returns the number of replicas without so many nodes; 0: the training waits.
    std::int64_t replicas(std::int64_t missing) const;
    /// Returns their pace; nothing if the training waits.
    std::optional<TrainingPace> pace(std::int64_t missing) const;
    /// Returns the time for an iteration's samples with each number of replicas that was asked for.
    std::map<std::int64_t, double> iterations_s() const;

private:
    const Lowered* lowered(std::int64_t replicas) const;
    std::int64_t allowed(std::int64_t replicas) const;
    const Iteration& simulated(std::int64_t replicas) const;
    Iteration iteration(std::int64_t replicas) const;
    double nodes_of(std::int64_t replicas) const;

    const Lowered& training_;
    IterationOf iteration_of_;
    double idle_W_;
    std::int64_t all_, nodes_, ranks_of_node_;
    mutable std::map<std::int64_t, std::shared_ptr<const Lowered>> lowered_;  ///< null: not allowed
    mutable std::map<std::int64_t, Iteration> simulated_;
    mutable std::map<std::int64_t, std::optional<TrainingPace>> paces_;  ///< by missing nodes
};

/// Returns the plan with so many replicas of the model, not judged.
Plan with_replicas(const Plan& plan, std::int64_t replicas);

}  // namespace syncline
