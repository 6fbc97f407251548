#include <cmath>

#include "sim/iteration/sweep.hpp"
#include "sim/iteration/work.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/random_plans.hpp"

// Compares the work that is counted from a plan with the task graph that is built of it.

using namespace syncline;

namespace {

double off(double counted, double actual) {
    return actual == 0 ? counted : std::abs(counted - actual) / actual;
}

}  // namespace

TEST_CASE("work: tasks and messages of random plans are counted without building them", "[memory]") {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        const RandomPlan random = random_plan(seed);
        INFO(random.words());
        const Lowered training = lower(random.cluster, random.model, random.plan);
        const TaskGraph graph = build_iteration(training);
        const Work work = work_of(training);
        CAPTURE(work.tasks, graph.tasks().size(), work.messages, count_messages(graph));
        CHECK(off(work.tasks, static_cast<double>(graph.tasks().size())) < 0.2);
        // In front of servers, local reduction is counted as if there were none.
        const double most = random.plan.servers.local_reduction ? 0.5 : 0.05;
        CHECK(off(work.messages, static_cast<double>(count_messages(graph))) < most);
        CHECK(work.unfolded <= work.messages);
        CHECK(work.single <= work.unfolded);
    }
}

TEST_CASE("work: messages of large groups are estimated from some of their members", "[memory]") {
    const Cluster cluster = cluster_on(wired(Shape::star, 1e9, 1e-6), 3000);
    for (const char* operation :
         {"allreduce", "allgather", "broadcast", "reduce", "scatter", "all-to-all", "barrier"}) {
        for (const std::string& name : algorithm_names(operation)) {
            CollectivePlan plan;
            plan.ranks = 777;
            plan.bytes = 1'000'003;
            plan.algorithm.operation = operation;
            plan.algorithm.name = name;
            if (name == "hierarchical" || name == "hierarchical-leaders") continue;  // needs an overlay
            CAPTURE(operation, name);
            const std::vector<Chosen> chosen = choose_exchanges(cluster, plan);
            const Work work = work_of(plan, chosen);
            const TaskGraph graph = build_sweep(cluster, plan, chosen).graph;
            CHECK(work.tasks == static_cast<double>(graph.tasks().size()));
            CHECK(off(work.messages, static_cast<double>(count_messages(graph))) < 0.2);
        }
    }
}

TEST_CASE("work: a ring's repeated steps need not all be simulated, a direct exchange's must", "[memory]") {
    const Cluster cluster = cluster_on(wired(Shape::star, 1e9, 1e-6), 100);
    CollectivePlan plan;
    plan.ranks = 100;
    plan.bytes = 1000;
    const auto work = [&] { return work_of(plan, choose_exchanges(cluster, plan)); };
    CHECK(work().messages == 100 * 2 * 99);
    CHECK(work().unfolded < 100 * 10);
    CHECK(work().single == 0);
    CHECK(work().together == 100);
    plan.algorithm = {"all-to-all", "direct"};
    CHECK(work().messages == 100 * 99);
    CHECK(work().unfolded == 100 * 99);
    CHECK(work().together == 100 * 99);
    CHECK(work().listed == 2 * 100 * 99);
}

TEST_CASE("work: messages to another peer than before are those that need a route", "[memory]") {
    const Cluster star = cluster_on(wired(Shape::star, 1e9, 1e-6), 256);
    const auto work = [&](const std::string& operation, const std::string& name) {
        CollectivePlan plan;
        plan.ranks = 256;
        plan.bytes = 256'000;
        plan.algorithm = {operation, name};
        return work_of(plan, choose_exchanges(star, plan));
    };
    CHECK(work("all-to-all", "pairwise").single == 256 * 255);
    CHECK(work("all-to-all", "direct").single == 256 * 255);
    CHECK(work("allreduce", "recursive-doubling").single == 256 * 8);
    CHECK(work("broadcast", "binomial-tree").single == 255);
    // Once in each of its two halves; all others repeat.
    CHECK(work("allreduce", "ring").single == 2 * 256);
    CHECK(work("allreduce", "ring").messages == 2 * 256 * 255);
}

TEST_CASE("work: a single rank exchanges nothing", "[memory]") {
    const Cluster cluster = cluster_on(wired(Shape::star, 1e9, 1e-6), 1);
    CollectivePlan plan;
    plan.ranks = 1;
    const Work work = work_of(plan, choose_exchanges(cluster, plan));
    CHECK(work.messages == 0);
    CHECK(work.tasks == 0);
}
