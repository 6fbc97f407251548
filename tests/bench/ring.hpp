#pragma once

#include "sim/iteration/sweep.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/platform/cluster.hpp"

/// The exchange that the bench replays: a ring all-reduce of 100 MB on a star of 100 Gb/s.
struct Ring {
    explicit Ring(int ranks) : cluster(syncline::star_cluster(ranks, 12.5e9, 1e-6)) {
        syncline::CollectivePlan plan;
        plan.ranks = ranks;
        plan.algorithm.name = "ring";
        plan.bytes = 100'000'000;
        sweep = build_sweep(cluster, plan, choose_exchanges(cluster, plan));
    }

    syncline::Cluster cluster;
    syncline::Sweep sweep;
};
