#include "sim/iteration/iteration.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "tests/catch.hpp"

// Streams that agree on their tasks, and the tasks that a rank waits for.

using namespace syncline;

TEST_CASE("streams of a queue must hold the same tasks, or the graph is refused", "[memory]") {
    TaskGraph graph;
    std::vector<StreamId> streams;
    for (int rank = 0; rank < 2; ++rank)
        streams.push_back(graph.add_stream(graph.add_process({}), StreamKind::exchange));
    graph.take_by_priority(streams);
    graph.add_task({streams[0], Phase::exchange, 0, 0, Task::no_exchange, 0, 1});
    SECTION("one too few") {
        CHECK_THROWS_AS(graph.seal(), std::logic_error);
    }
    SECTION("of another priority") {
        graph.add_task({streams[1], Phase::exchange, 0, 0, Task::no_exchange, 0, 2});
        CHECK_THROWS_AS(graph.seal(), std::logic_error);
    }
    SECTION("of another exchange") {
        graph.add_task({streams[1], Phase::exchange, 0, 0, 0, 1, 1});
        CHECK_THROWS_AS(graph.seal(), std::logic_error);
    }
    SECTION("in another queue as well") {
        graph.add_task({streams[1], Phase::exchange, 0, 0, Task::no_exchange, 0, 1});
        graph.take_by_priority({streams[1]});
        CHECK_THROWS_AS(graph.seal(), std::logic_error);
    }
    SECTION("the same") {
        graph.add_task({streams[1], Phase::exchange, 0, 0, Task::no_exchange, 0, 1});
        CHECK_NOTHROW(graph.seal());
        CHECK(graph.queues().size() == 1);
    }
}

namespace {

/// By rank: number of tasks that its update waits for, and number in the previous iteration that its forward layers
/// wait for.
struct Waits {
    std::vector<std::size_t> update;
    std::vector<std::vector<std::size_t>> forward;
};

Waits waits_of(Plan plan) {
    Cluster cluster;
    cluster.nodes = 8;
    cluster.node.devices = 2;
    cluster.fabric.topology.bandwidth_Bps = {1e9};
    cluster.device.flops_per_s = cluster.device.memory_Bps = 1e9;
    Model model;
    model.layers = {{"a", 100, 1, 1, 1}, {"b", 0, 1, 1, 1}, {"c", 200, 1, 1, 1}};
    plan.ranks = 4;
    plan.input_copy = InputCopy::none;
    const TaskGraph graph = build_iteration(lower(cluster, model, plan));
    Waits waits{std::vector<std::size_t>(4), std::vector(4, std::vector<std::size_t>(3))};
    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
        const Task& task = graph.tasks()[id];
        const ProcessId rank = graph.streams()[task.stream].process;
        if (task.phase == Phase::update) waits.update[rank] = graph.dependencies_of(id).size();
        if (task.phase != Phase::forward) continue;
        for (const Dependency& dependency : graph.dependencies_of(id)) {
            CHECK(dependency.distance == 1);
            ++waits.forward[rank][task.subject];
        }
    }
    return waits;
}

void check(const Waits& waits, std::size_t update, const std::vector<std::size_t>& forward) {
    for (std::size_t rank = 0; rank < waits.update.size(); ++rank) {
        CHECK(waits.update[rank] == update);
        CHECK(waits.forward[rank] == forward);
    }
}

}  // namespace

TEST_CASE("the update waits for the last exchange in order, for all by priority, and across iterations for none",
          "[memory]") {
    Plan plan;
    check(waits_of(plan), 1, {0, 0, 0});
    plan.schedule = Schedule::priority;
    check(waits_of(plan), 2, {0, 0, 0});
    plan.overlap = Overlap::across_iterations;
    check(waits_of(plan), 0, {1, 0, 1});
    plan.partition_bytes = 100;  // 400 B and 800 B
    check(waits_of(plan), 0, {4, 0, 8});
    plan.fusion.threshold_bytes = 5000;  // all in one bucket
    check(waits_of(plan), 0, {12, 0, 0});
}

TEST_CASE("a rank waits for all servers that have its bucket, and with local reduction for its own node's first rank",
          "[memory]") {
    Plan plan;
    plan.exchange = ExchangeKind::parameter_server;
    plan.servers = {2, ServerAssignment::sliced, ServerLocation::dedicated};
    check(waits_of(plan), 4, {0, 0, 0});  // the last task of each server, and the results from each
    plan.overlap = Overlap::across_iterations;
    check(waits_of(plan), 0, {4, 0, 4});
    plan.servers.local_reduction = true;
    check(waits_of(plan), 0, {3, 0, 3});
}
