#include "sim/jobs/neighbours.hpp"

#include <memory>

#include "sim/collective/direct.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

/// Returns the graph of one message.
TaskGraph message() {
    TaskGraph graph;
    const ProcessId from = graph.add_process({}), to = graph.add_process({});
    Exchange exchange{std::make_shared<const DirectRooted>(DirectRooted::Operation::broadcast),
                      graph.add_group({from, to}), 0, 1};
    const ExchangeId id = graph.add_exchange(exchange);
    for (const std::uint32_t member : {0u, 1u}) {
        Task task{graph.add_stream(member == 0 ? from : to, StreamKind::transfer)};
        task.exchange = id;
        task.member = member;
        graph.add_task(task);
    }
    graph.seal();
    return graph;
}

MessageRecord on_route(TaskId sender, std::uint32_t route, std::uint64_t bytes, double start_s, double end_s) {
    MessageRecord record;
    record.sender = sender;
    record.route = route;
    record.bytes = bytes;
    record.put_s = record.got_s = start_s;
    record.through_s = end_s;
    return record;
}

}  // namespace

TEST_CASE("a neighbour takes what it moves while a job uses the link") {
    TaskGraph graph;
    for (int part = 0; part < 3; ++part) graph.append(message());
    Timeline timeline;
    timeline.part_end_s = {{4}, {5}, {10}};
    timeline.trace.links = {{"shared", 100, true}, {"apart", 100, true}, {"wide", 100, false}};
    timeline.trace.routes = {{0}, {1}, {2}};
    // The first sends 100 B in 4 s; the second 200 B in 4 s, of which 3 s are at the same time; the third later.
    timeline.trace.messages = {on_route(0, 0, 100, 0, 4), on_route(2, 0, 200, 1, 5), on_route(4, 0, 50, 6, 7),
                               on_route(0, 1, 100, 0, 4), on_route(2, 2, 100, 0, 4), on_route(0, 2, 100, 0, 4)};
    const auto neighbours = neighbours_of(graph, timeline, {"a", "b", "c"});
    REQUIRE(neighbours.size() == 3);
    REQUIRE(neighbours[0].size() == 1);
    const Neighbour& of_a = neighbours[0].front();
    CHECK(of_a.job == "b");
    CHECK(of_a.link == "shared");
    CHECK(of_a.shared_s == 3);
    CHECK(of_a.bytes == Approx(150));
    CHECK(of_a.taken_s == Approx(1.5));
    CHECK(of_a.utilisation == Approx((75 + 150) / 300.0));
    REQUIRE(neighbours[1].size() == 1);
    CHECK(neighbours[1].front().bytes == Approx(75));
    CHECK(neighbours[2].empty());
}

TEST_CASE("parts of a graph keep their numbers apart") {
    TaskGraph graph;
    graph.append(message());
    graph.append(message());
    CHECK(graph.parts().size() == 2);
    CHECK(graph.parts()[1].process == 2);
    CHECK(graph.processes()[3].part == 1);
    CHECK(graph.streams()[2].process == 2);
    CHECK(graph.tasks()[2].stream == 2);
    CHECK(graph.tasks()[2].exchange == 1);
    CHECK(graph.exchange(1).group == 1);
    CHECK(graph.exchange(1).tag == 0);
    CHECK(std::vector<ProcessId>(graph.group(1).begin(), graph.group(1).end()) == std::vector<ProcessId>{2, 3});
    CHECK(graph.tasks_of(3).size() == 1);
    CHECK(graph.tasks_of(3).front() == 3);
    CHECK_THROWS_AS(graph.append(graph), std::logic_error);
}
