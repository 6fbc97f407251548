#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Plan::free_layers: layers whose computation takes no time.

using namespace syncline;

TEST_CASE("free layers take no time, and exchange what they did", "[memory]") {
    const Star star{1e9, 5e-6};
    const std::vector<double> forward_s{1e-3, 3e-3, 2e-3}, backward_s{2e-3, 5e-3, 7e-3};
    const Model model = plain_model(3, 600'000, 100);
    for (const std::int64_t ranks : {1, 2, 5}) {
        for (unsigned free = 0; free < 8; ++free) {
            CAPTURE(ranks, free);
            Plan plan;
            plan.ranks = ranks;
            plan.batch_per_rank = 1;
            plan.compute = ComputeKind::measured;
            plan.overlap = Overlap::none;
            plan.algorithm.name = "ring";
            const auto n = static_cast<double>(ranks);
            const double bytes = 4 * 600'000;
            double by_hand_s = ranks == 1 ? 0 : 3 * 2 * star.ring_s(n, bytes);
            for (unsigned i = 0; i < 3; ++i)
                if (free >> i & 1u)
                    plan.free_layers.push_back(model.layers[i].name);
                else
                    by_hand_s += forward_s[i] + backward_s[i];
            const Cluster cluster = timed_star(ranks, star.bandwidth_Bps, star.latency_s, model, forward_s, backward_s);
            const Result result = simulate(lower(cluster, model, plan));
            CHECK(result.time.iteration_s == Approx(by_hand_s).epsilon(1e-6));
            CHECK(static_cast<double>(result.bytes_sent) == (ranks == 1 ? 0 : 3 * 2 * (n - 1) * bytes));
        }
    }
}
