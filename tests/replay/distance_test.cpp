#include <vector>

#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// Dependencies on earlier iterations, on the first of several tasks, tasks that are given up, and streams that take
// turns. Times in seconds, by hand.

using namespace syncline;

namespace {

struct World {
    TaskGraph graph;
    ProcessId process = graph.add_process({{0, 0}});

    TaskId task(StreamKind kind, double seconds) {
        return graph.add_task({graph.add_stream(process, kind), Phase::aggregate, 0, seconds});
    }
    Timeline run(std::uint32_t iterations) {
        graph.seal();
        return replay_isolated(cluster_on(wired(Shape::star, 1e9, 0), 1), graph,
                               {.iterations = iterations, .measured = iterations - 1, .averaged = iterations});
    }
};

std::vector<double> ends_of(const Timeline& timeline, TaskId task) {
    std::vector<double> ends;
    for (const std::vector<Interval>& recorded : timeline.recorded) ends.push_back(recorded[task].end_s);
    return ends;
}

}  // namespace

TEST_CASE("distance: a task waits for one of two iterations before, and for none where there is none", "[memory]") {
    World world;
    const TaskId quick = world.task(StreamKind::aggregate, 1), slow = world.task(StreamKind::aggregate, 3);
    world.graph.depend(quick, slow, 2);
    const Timeline timeline = world.run(6);
    CHECK(ends_of(timeline, slow) == std::vector<double>{3, 6, 9, 12, 15, 18});
    // Its i-th begins at the end of the slow one's (i-2)-th.
    CHECK(ends_of(timeline, quick) == std::vector<double>{1, 2, 4, 7, 10, 13});
}

TEST_CASE("distance: tasks may wait for each other in different iterations", "[memory]") {
    World world;
    const TaskId first = world.task(StreamKind::aggregate, 1), second = world.task(StreamKind::aggregate, 2);
    world.graph.depend(second, first);
    world.graph.depend(first, second, 3);
    const Timeline timeline = world.run(6);
    CHECK(ends_of(timeline, second) == std::vector<double>{3, 5, 7, 9, 11, 13});
    // Three ahead of the second one's ends at 3, 5, 7.
    CHECK(ends_of(timeline, first) == std::vector<double>{1, 2, 3, 4, 6, 8});
}

TEST_CASE("distance: a queue takes tasks whose dependencies of two iterations before have ended", "[memory]") {
    World world;
    const StreamId queue = world.graph.add_stream(world.process, StreamKind::aggregate);
    world.graph.take_by_priority({queue});
    const TaskId slow = world.task(StreamKind::compute, 4);
    const TaskId waits = world.graph.add_task({queue, Phase::aggregate, 0, 1});
    world.graph.depend(waits, slow, 2);
    CHECK(ends_of(world.run(4), waits) == std::vector<double>{1, 2, 5, 9});
}

TEST_CASE("first of several: a task begins when as many as it waits for have ended", "[memory]") {
    World world;
    std::vector<TaskId> tasks;
    for (const double seconds : {5, 1, 3, 2}) tasks.push_back(world.task(StreamKind::aggregate, seconds));
    const TaskId waits = world.task(StreamKind::release, 0.5);
    for (const TaskId task : tasks) world.graph.depend(waits, task);
    world.graph.wait_for_first(waits, 3);
    for (const TaskId task : tasks) world.graph.depend(task, waits, 1);
    // The third shortest takes 3; the task of 5 goes on, and ends its second iteration at 10.
    CHECK(ends_of(world.run(3), waits) == std::vector<double>{3.5, 7, 10.5});
}

TEST_CASE("given up: a computation stops, and one that has not begun takes no time", "[memory]") {
    World world;
    const StreamId compute = world.graph.add_stream(world.process, StreamKind::compute);
    const TaskId first = world.graph.add_task({compute, Phase::forward, 0, 5});
    const TaskId second = world.graph.add_task({compute, Phase::backward, 0, 5});
    const TaskId stop = world.task(StreamKind::release, 2);
    const TaskId last = world.task(StreamKind::aggregate, 0);
    world.graph.depend(last, second);
    world.graph.depend(stop, last, 1);
    world.graph.give_up(first, stop);
    world.graph.give_up(second, stop);
    const Timeline timeline = world.run(3);
    CHECK(ends_of(timeline, first) == std::vector<double>{2, 4, 6});
    CHECK(ends_of(timeline, second) == std::vector<double>{2, 4, 6});
}

TEST_CASE("turns: tasks of several streams run one at a time, in the order in which they are ready", "[memory]") {
    World world;
    std::vector<TaskId> served;
    std::vector<StreamId> streams;
    for (const double ready_s : {3.0, 1.0, 2.0}) {
        const TaskId before = world.task(StreamKind::release, ready_s);
        streams.push_back(world.graph.add_stream(world.process, StreamKind::aggregate));
        served.push_back(world.graph.add_task({streams.back(), Phase::aggregate, 0, 4}));
        world.graph.depend(served.back(), before);
    }
    world.graph.take_turns(streams);
    const Timeline timeline = world.run(1);
    CHECK(timeline.measured()[served[1]].start_s == 1);
    CHECK(timeline.measured()[served[2]].start_s == 5);
    CHECK(timeline.measured()[served[0]].start_s == 9);
}
