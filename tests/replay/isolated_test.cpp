#include "sim/process/isolated.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// Simulations in separate processes. Anything that would harm this process runs in one more, whose death is a failure.

using namespace syncline;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("isolated: killing a process that has ended has no effect", "[memory]") {
    const Isolated::Role role = GENERATE(Isolated::Role::part, Isolated::Role::worker);
    Isolated outer(
        [role] {
            Isolated inner([] { return "ended"; }, role);
            std::string answer = inner.outcome();
            inner.kill();
            return answer + ", and alive";
        },
        Isolated::Role::worker);  // in its own process group
    CHECK(outer.outcome() == "ended, and alive");
}

TEST_CASE("isolated: a process replays once", "[memory]") {
    const Cluster cluster = test::plain_star(1e9, 1e-6);
    Model model;
    model.layers = {test::layer_of(4000, 1)};
    Plan plan;
    plan.ranks = 2;
    const TaskGraph graph = build_iteration(lower(cluster, model, plan));
    const auto replays = [&](int times) {
        return [&, times] {
            for (int i = 0; i < times; ++i) replay(cluster, graph, {});
            return std::string("done");
        };
    };
    CHECK(isolate(replays(1)) == "done");
    CHECK_THROWS_AS(isolate(replays(2)), std::logic_error);
    CHECK_THROWS_WITH(isolate(replays(2)), ContainsSubstring("replay() is called for the second time"));
}
