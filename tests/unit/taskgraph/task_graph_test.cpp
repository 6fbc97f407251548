#include "sim/taskgraph/task_graph.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/collective/ring.hpp"
#include "tests/catch.hpp"

using namespace syncline;

TEST_CASE("tasks and dependencies are found by stream and task, in the order added", "[memory]") {
    TaskGraph graph;
    const ProcessId process = graph.add_process({});
    const StreamId a = graph.add_stream(process, StreamKind::compute);
    const StreamId b = graph.add_stream(process, StreamKind::exchange);
    const TaskId first = graph.add_task({a, Phase::forward, 0, 1.0});
    const TaskId second = graph.add_task({b, Phase::exchange, 0, 1.0});
    const TaskId third = graph.add_task({a, Phase::update, 0, 1.0});
    graph.depend(third, second);
    graph.depend(second, first);
    graph.depend(third, first, 1);
    graph.seal();
    CHECK(std::vector(graph.tasks_of(a).begin(), graph.tasks_of(a).end()) == std::vector<TaskId>{first, third});
    CHECK(std::vector(graph.tasks_of(b).begin(), graph.tasks_of(b).end()) == std::vector<TaskId>{second});
    REQUIRE(graph.dependencies_of(third).size() == 2);
    CHECK(graph.dependencies_of(third)[0].on == second);
    CHECK(graph.dependencies_of(third)[1].distance == 1);
    CHECK(graph.dependencies_of(first).empty());
}

TEST_CASE("a cycle of tasks is rejected, including one through the order of a stream", "[memory]") {
    TaskGraph graph;
    const ProcessId process = graph.add_process({});
    const StreamId a = graph.add_stream(process, StreamKind::compute);
    const StreamId b = graph.add_stream(process, StreamKind::exchange);
    const TaskId first = graph.add_task({a, Phase::forward, 0, 1.0});
    const TaskId second = graph.add_task({a, Phase::backward, 0, 1.0});
    const TaskId other = graph.add_task({b, Phase::exchange, 0, 1.0});
    graph.depend(first, other);
    SECTION("within the iteration") {
        graph.depend(other, second);
        CHECK_THROWS_AS(graph.seal(), std::logic_error);
    }
    SECTION("through the iteration before it is none") {
        graph.depend(other, second, 1);
        CHECK_NOTHROW(graph.seal());
    }
}

TEST_CASE("a task that waits for itself is a cycle", "[memory]") {
    TaskGraph graph;
    const StreamId stream = graph.add_stream(graph.add_process({}), StreamKind::compute);
    const TaskId task = graph.add_task({stream, Phase::forward, 0, 1.0});
    graph.depend(task, task);
    CHECK_THROWS_AS(graph.seal(), std::logic_error);
}

TEST_CASE("messages of a graph are those of its members' programs", "[memory]") {
    const auto ring = std::make_shared<const RingAllreduce>();
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (std::uint32_t rank = 0; rank < 5; ++rank) workers.push_back(graph.add_process({{rank, 0}}));
    const GroupId group = graph.add_group(workers);
    for (int bucket = 0; bucket < 3; ++bucket) {
        const ExchangeId exchange = graph.add_exchange({ring, group, 0, 100, 0});
        for (std::uint32_t rank = 0; rank < 5; ++rank) {
            graph.add_task({graph.add_stream(rank, StreamKind::exchange), Phase::exchange, 0, 0, exchange, rank});
        }
    }
    graph.seal();
    CHECK(count_messages(graph) == 3u * 2 * 5 * 4);
}
