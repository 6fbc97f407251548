#include <vector>

#include "sim/analysis/estimate.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// Estimated times of simulations, relative to each other.

using namespace syncline;

TEST_CASE("estimate: on long routes a simulation is estimated to take longer, in proportion to their hops",
          "[memory]") {
    CollectivePlan plan;
    plan.ranks = 4096;
    plan.bytes = 4096;
    plan.algorithm = {"allreduce", "recursive-doubling"};
    const auto time_s = [&](Shape shape, const std::vector<std::int64_t>& dimensions) {
        Cluster cluster = cluster_on(wired(shape, 1e9, 1e-6), 4096);
        cluster.fabric.topology.dimensions = dimensions;
        return estimate(cluster, plan).time_s;
    };
    const double near_s = time_s(Shape::star, {}), cube_s = time_s(Shape::torus, {16, 16, 16}),
                 plane_s = time_s(Shape::torus, {64, 64});
    // Per message 2 hops, about 3 · 16/4 and about 2 · 64/4; the plane has two thirds of the cube's links.
    CHECK(cube_s > near_s);
    CHECK(plane_s > 1.5 * cube_s);
}
