#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "sim/lowering/arrangement.hpp"
#include "sim/lowering/buckets.hpp"
#include "sim/lowering/chooser.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// A plan, worked out for a cluster and a model: everything that follows from the three before anything is built or
/// simulated. It is made once and read by all that build, price, size, name or explain the iteration.
namespace syncline {

/// Parts of the optimizer's step on a rank, one after the other: see optimizer_step.hpp.
struct StepTime {
    double device_s = 0;     ///< in the device's memory
    double to_host_s = 0;    ///< copy of the gradients to the host
    double host_s = 0;       ///< in the host's memory
    double to_device_s = 0;  ///< copy of the weights back

    double total_s() const { return device_s + to_host_s + host_s + to_device_s; }
};

/// An exchange of a bucket, in every group of a stage that has it.
struct BucketExchange {
    Chosen chosen;
    Grouping among;
    std::uint64_t bytes = 0;
    double before_s = 0;  ///< computed on its stream, after the exchange before it
    bool apart = false;   ///< on a stream of its own, while the next bucket is in the exchange before it
};

/// Ranks on devices of one kind, with equal shares of the batch.
struct RankKind {
    std::size_t node_kind = 0;  ///< Cluster::kind_of() their nodes
    std::int64_t ranks = 0;
    std::int64_t samples = 0;  ///< of each, in an iteration
    Arrangement arrangement;   ///< as if all ranks were of this kind, with the exchanges of Lowered::arrangement
    std::vector<StepTime> steps;
    double input_copy_s = 0;
};

struct Lowered {
    Cluster cluster;
    Model model;
    Plan plan;

    std::vector<Place> places;  ///< of each rank
    /// With several kinds of ranks, the times of a layer, of the steps and of the input's copy are those of the kind in
    /// its stage that takes the longest for all layers of the stage, for which the others wait.
    Arrangement arrangement;
    std::vector<RankKind> kinds;              ///< empty: all ranks are of one kind, which the other members describe
    std::vector<std::uint32_t> kind_of_rank;  ///< the number of its entry in `kinds`, if there are several
    bool kinds_differ = false;                ///< the kinds compute for different times
    /// In the order of release, stage by stage; none among ranks with nobody to exchange with. When gradients are ready
    /// is only known where every rank has the whole model.
    std::vector<Bucket> buckets;
    /// The exchanges of each bucket's gradients, in order: an all-reduce or gossip, with PowerSGD a second all-reduce;
    /// with Parallelism::sharding a reduce-scatter and, where groups of ranks divide the state, an all-reduce among the
    /// ranks with the same shard. Empty with a parameter server.
    std::vector<std::vector<BucketExchange>> reductions;
    /// The all-gather of each bucket's weights, if their updates are divided; otherwise empty.
    std::vector<BucketExchange> gatherings;
    std::vector<StepTime> steps;  ///< of the optimizer, by stage: step_time()
    /// Host-to-device copy of the input of one rank's first layer, in seconds; 0 if the plan has none.
    double input_copy_s = 0;
    double input_load_s = 0;  ///< reading of an iteration's input from the storage: input_load.hpp
    /// Number of iterations over which times and counts are averaged: a period of the exchange's pattern, several
    /// periods where it leaves ranks idle, since who waits for whom may take longer to repeat, and with jitter all
    /// iterations but the first.
    std::uint32_t averaged = 1;

    /// Returns the first exchange of each bucket.
    std::vector<Chosen> first_exchanges() const {
        std::vector<Chosen> first;
        for (const std::vector<BucketExchange>& exchanges : reductions) first.push_back(exchanges.front().chosen);
        return first;
    }
    /// Returns whether iterations differ, at random or by their documents.
    bool iterations_differ() const { return plan.noise.varies() || documents_vary(); }
    /// Returns whether documents make the work of replicas, microbatches and iterations differ.
    bool documents_vary() const { return arrangement.documents && arrangement.documents->varying; }
    const Arrangement& arrangement_of(std::uint32_t rank) const {
        return kinds.empty() ? arrangement : kinds[kind_of_rank[rank]].arrangement;
    }
    const StepTime& step_of(std::uint32_t rank) const {
        return (kinds.empty() ? steps : kinds[kind_of_rank[rank]].steps)[rank / arrangement.stage_ranks];
    }
    double input_copy_of(std::uint32_t rank) const {
        return kinds.empty() ? input_copy_s : kinds[kind_of_rank[rank]].input_copy_s;
    }
    /// Returns the kinds of the ranks of a stage, if there are several kinds of ranks.
    std::set<std::uint32_t> kinds_of_stage(std::uint32_t stage) const;
    std::size_t node_kind_of(std::uint32_t rank) const { return cluster.kind_of(places[rank].node); }
    const Device& device_of(std::uint32_t rank) const { return cluster.device_of(node_kind_of(rank)); }
    bool served() const { return plan.exchange == ExchangeKind::parameter_server; }
};

/// Returns the model with the plan's sizes of elements.
Model with_precision(Model model, const Plan& plan);

/// Throws ParallelismError where the model cannot be split in the plan's way, and AlgorithmError where an algorithm
/// cannot run among a group's ranks.
Lowered lower(Cluster cluster, Model model, Plan plan);

}  // namespace syncline
