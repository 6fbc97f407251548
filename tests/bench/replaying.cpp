// replaying RANKS: replays a ring all-reduce of 100 MB, and records nothing. Built a second time with a replay that
// cannot record at all.

#include <cstdio>
#include <cstdlib>

#include "sim/platform/cluster.hpp"
#include "sim/replay/replay.hpp"
#include "sim/training/sweep.hpp"

int main(int argc, char* argv[]) {
    const int ranks = argc == 2 ? std::atoi(argv[1]) : 0;
    if (ranks < 2) {
        std::fprintf(stderr, "usage: replaying RANKS\n");
        return 2;
    }
    const syncline::Cluster cluster = syncline::star_cluster(ranks, 12.5e9, 1e-6);
    syncline::CollectivePlan plan;
    plan.ranks = ranks;
    plan.algorithm.name = "ring";
    plan.bytes = 100'000'000;
    const syncline::Sweep sweep = build_sweep(cluster, plan, choose_exchanges(cluster, plan));
    return replay(cluster, sweep.graph, {}).trace.empty() ? 0 : 1;
}
