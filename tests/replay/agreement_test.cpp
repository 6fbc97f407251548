#include "sim/collective/ring.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// Streams that agree on the next task, on small graphs with times worked out by hand.

using namespace syncline;

namespace {

/// Two ranks whose exchange streams agree. An exchange takes 1 s per GB (a ring of two, no latency).
struct Pair {
    explicit Pair(bool agree = true) {
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            ranks.push_back(graph.add_process({{rank, 0}}));
            compute.push_back(graph.add_stream(ranks.back(), StreamKind::compute));
            exchange.push_back(graph.add_stream(ranks.back(), StreamKind::exchange));
        }
        group = graph.add_group(ranks);
        if (agree) graph.take_by_priority(exchange);
    }

    /// Adds computations of these lengths and returns them by rank.
    std::vector<TaskId> work(double first_s, double second_s) {
        return {graph.add_task({compute[0], Phase::backward, 0, first_s}),
                graph.add_task({compute[1], Phase::backward, 0, second_s})};
    }

    std::vector<TaskId> add(std::uint64_t megabytes, std::uint32_t priority, const std::vector<TaskId>& after) {
        const ExchangeId id = graph.add_exchange({ring, group, 0, megabytes * 1'000'000, 0});
        std::vector<TaskId> tasks;
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            tasks.push_back(graph.add_task({exchange[rank], Phase::exchange, 0, 0, id, rank, priority}));
            graph.depend(tasks.back(), after[rank]);
        }
        return tasks;
    }

    Timeline run(std::uint32_t iterations = 1) {
        graph.seal();
        TopologySpec star = wired(Shape::star, 1e9, 0);
        return replay_isolated(cluster_on(star, 2), graph, {iterations, iterations - 1});
    }

    const std::shared_ptr<const RingAllreduce> ring = std::make_shared<const RingAllreduce>();
    TaskGraph graph;
    std::vector<ProcessId> ranks;
    std::vector<StreamId> compute, exchange;
    GroupId group = 0;
};

void check_times(const Timeline& timeline, const std::vector<TaskId>& tasks, double start_s, double end_s) {
    for (const TaskId task : tasks) {
        CHECK(timeline.measured()[task].start_s == Approx(start_s).margin(1e-9));
        CHECK(timeline.measured()[task].end_s == Approx(end_s).margin(1e-9));
    }
}

}  // namespace

TEST_CASE("agreement: streams take the most urgent task that is ready on all of them", "[memory]") {
    Pair pair;
    const auto early = pair.work(1, 1), late = pair.work(1, 3), last = pair.work(1, 1);  // at 1 and 1, 2 and 4, 3 and 5
    const auto relaxed = pair.add(1000, 2, early);
    const auto urgent = pair.add(1000, 0, late);
    const auto middle = pair.add(1000, 1, early);
    const auto behind = pair.add(1000, 0, last);
    const Timeline timeline = pair.run();
    check_times(timeline, middle, 1, 2);   // more urgent than the other ready task
    check_times(timeline, relaxed, 2, 3);  // the first rank has the urgent one, the second not yet
    check_times(timeline, urgent, 4, 5);
    check_times(timeline, behind, 5, 6);  // ready at the instant at which the streams become free
}

TEST_CASE(
    "agreement: tasks that become ready at one instant are candidates together, and ties keep the order of addition",
    "[memory]") {
    Pair pair;
    const auto ready = pair.work(1, 1);
    const auto third = pair.add(100, 7, ready), fourth = pair.add(100, 7, ready), first = pair.add(100, 1, ready),
               second = pair.add(100, 2, ready);
    const Timeline timeline = pair.run();
    check_times(timeline, first, 1, 1.1);
    check_times(timeline, second, 1.1, 1.2);
    check_times(timeline, third, 1.2, 1.3);
    check_times(timeline, fourth, 1.3, 1.4);
}

TEST_CASE("agreement: tasks that become ready when the streams become free are candidates, too", "[memory]") {
    const bool queue_first = GENERATE(true, false);  // the order in which both are woken at that instant
    TaskGraph graph;
    const ProcessId process = graph.add_process({{0, 0}});
    StreamId queue = 0, compute = 0;
    if (queue_first) queue = graph.add_stream(process, StreamKind::aggregate);
    compute = graph.add_stream(process, StreamKind::compute);
    if (!queue_first) queue = graph.add_stream(process, StreamKind::aggregate);
    graph.take_by_priority({queue});
    const TaskId work = graph.add_task({compute, Phase::backward, 0, 1});
    const TaskId before = graph.add_task({queue, Phase::aggregate, 0, 1, Task::no_exchange, 0, 0});
    const TaskId relaxed = graph.add_task({queue, Phase::aggregate, 0, 1, Task::no_exchange, 0, 5});
    const TaskId urgent = graph.add_task({queue, Phase::aggregate, 0, 1, Task::no_exchange, 0, 1});
    graph.depend(urgent, work);
    graph.seal();
    const Timeline timeline = replay_isolated(cluster_on(wired(Shape::star, 1e9, 0), 1), graph, {});
    check_times(timeline, {work, before}, 0, 1);
    check_times(timeline, {urgent}, 1, 2);
    check_times(timeline, {relaxed}, 2, 3);
}

TEST_CASE("agreement: streams without a queue keep the order in which their tasks were added, whatever their priority",
          "[memory]") {
    Pair pair(false);
    const auto ready = pair.work(1, 1);
    const auto first = pair.add(100, 7, ready), second = pair.add(100, 1, ready);
    const Timeline timeline = pair.run();
    check_times(timeline, first, 1, 1.1);
    check_times(timeline, second, 1.1, 1.2);
}

TEST_CASE("agreement: a queue executes one iteration after the other", "[memory]") {
    Pair pair;
    const auto work = pair.work(1, 1);
    const auto first = pair.add(1000, 5, work);
    const auto second = pair.add(1000, 0, work);
    for (std::size_t rank = 0; rank < 2; ++rank) pair.graph.depend(work[rank], first[rank], 1);
    const Timeline timeline = pair.run(3);
    // Work 1, then the second for 1, the first for 1: every iteration takes 3.
    check_times(timeline, work, 6, 7);
    check_times(timeline, second, 7, 8);
    check_times(timeline, first, 8, 9);
}

TEST_CASE("agreement: a single stream takes ready tasks, and a queue may hold tasks that are not exchanges",
          "[memory]") {
    TaskGraph graph;
    const ProcessId process = graph.add_process({{0, 0}});
    const StreamId compute = graph.add_stream(process, StreamKind::compute);
    const StreamId queue = graph.add_stream(process, StreamKind::aggregate);
    graph.take_by_priority({queue});
    const TaskId slow = graph.add_task({compute, Phase::backward, 0, 2});
    const TaskId waits = graph.add_task({queue, Phase::aggregate, 0, 1});
    const TaskId goes = graph.add_task({queue, Phase::aggregate, 1, 1});
    graph.depend(waits, slow);
    graph.seal();
    const Timeline timeline = replay_isolated(cluster_on(wired(Shape::star, 1e9, 0), 1), graph, {});
    check_times(timeline, {goes}, 0, 1);
    check_times(timeline, {waits}, 2, 3);
}

TEST_CASE("agreement: a task of a queue waits for one of the previous iteration, and in the first iteration for none",
          "[memory]") {
    TaskGraph graph;
    const ProcessId process = graph.add_process({{0, 0}});
    const StreamId queue = graph.add_stream(process, StreamKind::aggregate);
    graph.take_by_priority({queue});
    const TaskId slow = graph.add_task({graph.add_stream(process, StreamKind::compute), Phase::backward, 0, 4});
    const TaskId waits = graph.add_task({queue, Phase::aggregate, 0, 1});
    graph.depend(waits, slow, 1);
    graph.seal();
    const Timeline timeline = replay_isolated(cluster_on(wired(Shape::star, 1e9, 0), 1), graph, {3, 2});
    CHECK(timeline.iteration_end_s[0] == Approx(4));
    CHECK(timeline.recorded[0][waits].start_s == 0);
    check_times(timeline, {slow}, 8, 12);
    check_times(timeline, {waits}, 8, 9);
}
