#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/execution/trace_bytes.hpp"

// SimGrid's time-independent traces.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("actions of a time-independent trace follow one another, but for requests") {
    TraceFiles files;
    const ExecutionTrace trace =
        files.read("x.txt",
                   "0 init\n1 init 1\n0 compute 1e9\n0 isend 1 0 1e6\n0 compute 5\n0 wait 0 1 0\n"
                   "0 barrier\n1 irecv 0 0 -1\n1 waitall\n1 barrier\n0 finalize\n1 finalize\n");
    CHECK(trace.ranks == 2);
    REQUIRE(trace.size() == 6);
    const auto& nodes = trace.nodes();
    CHECK(nodes[0].flop == 1e9);
    CHECK(nodes[1].kind == NodeKind::send);
    CHECK(nodes[1].bytes == 1'000'000);
    CHECK(dependencies(trace, 2) == std::vector<std::uint32_t>{0});     // does not wait for the message
    CHECK(dependencies(trace, 3) == std::vector<std::uint32_t>{2, 1});  // does
    CHECK(nodes[4].kind == NodeKind::receive);
    CHECK(nodes[4].bytes == 1'000'000);  // the sender's size
    CHECK(dependencies(trace, 5) == std::vector<std::uint32_t>{4});
}

TEST_CASE("collectives of a time-independent trace have the bytes of the larger buffer") {
    TraceFiles files;
    std::string text;
    for (const std::string rank : {"0", "1", "2"}) {
        const auto add = [&](const std::string& action) { text += rank + " " + action + "\n"; };
        add("init");                       // bytes
        add("bcast 10 2");                 // 10 B
        add("reduce 10 7 1 0");            // 10 doubles: 80 B, then 7 flop
        add("allreduce 10 0 5");           // 10 floats: 40 B
        add("alltoall 10 10");             // 3 × 10 B
        add("allgather 10 10 1 1");        // 3 × 10 integers: 120 B
        add("allgatherv 4 4 4 4");         // 12 B
        add("gather 5 5 1");               // 15 B
        add("scatter 5 5");                // 15 B
        add("reducescatter 3 3 2 0");      // 8 B
        add("alltoallv 9 3 3 3 9 3 3 3");  // 9 B
    }
    const ExecutionTrace trace = files.read("x.txt", text);
    std::vector<std::pair<std::string, std::uint64_t>> all;
    std::vector<std::uint32_t> roots;
    double flop = 0;
    for (const TraceNode& node : trace.nodes()) {
        if (node.rank != 1) continue;
        flop += node.flop;
        if (node.kind != NodeKind::collective) continue;
        all.emplace_back(trace.operations[node.operation], node.bytes);
        roots.push_back(trace.groups[node.group].front());
    }
    CHECK(all == std::vector<std::pair<std::string, std::uint64_t>>{{"broadcast", 10},
                                                                    {"reduce", 80},
                                                                    {"allreduce", 40},
                                                                    {"all-to-all", 30},
                                                                    {"allgather", 120},
                                                                    {"allgather", 12},
                                                                    {"gather", 15},
                                                                    {"scatter", 15},
                                                                    {"reduce-scatter", 8},
                                                                    {"all-to-all", 9}});
    CHECK(roots == std::vector<std::uint32_t>{2, 1, 0, 0, 0, 0, 1, 0, 0, 0});
    CHECK(flop == 7);
    CHECK(trace.notes ==
          std::vector<std::string>{"different blocks of reducescatter are taken as equal ones of the same sum (3)"});
}

TEST_CASE("a time-independent trace survives reading and writing") {
    TraceFiles files;
    const std::string text =
        "0 init\n1 init\n0 compute 1500000000.5\n0 isend 1 3 64\n1 irecv 0 3 64\n0 wait 0 1 3\n0 allgatherv 2 2 1\n"
        "1 wait 0 1 3\n1 allgatherv 1 2 1\n0 alltoall 4 4\n1 alltoall 4 4\n0 sleep 0.25\n0 isend 1 0 8\n1 irecv 0 0 8\n"
        "0 waitall\n0 finalize\n1 waitall\n1 finalize\n";
    const ExecutionTrace trace = files.read("x.txt", text);
    const auto files_written = written(trace, "simgrid-ti", files.path("y.txt"));
    CHECK(files.bytes_of(files_written.at(0)) == text);
}

TEST_CASE("a written receive is posted before the send that it follows is waited for") {
    // Both ranks send, receive after that, and compute: with MPI's rendezvous neither send ends before the other
    // receives.
    ExecutionTrace trace;
    trace.ranks = 2;
    trace.names = {"x"};
    for (const std::uint32_t rank : {0U, 1U}) {
        TraceNode node;
        node.rank = rank;
        node.peer = 1 - rank;
        node.bytes = 1'000'000;
        node.kind = NodeKind::send;
        const std::uint32_t sent = trace.add(node, {});
        node.kind = NodeKind::receive;
        const std::uint32_t received = trace.add(node, {&sent, 1});
        node.kind = NodeKind::compute;
        node.flop = 5;
        trace.add(node, {&received, 1});
    }
    TraceFiles files;
    written(trace, "simgrid-ti", files.path("x.txt"));
    CHECK(
        files.bytes_of(files.path("x.txt")) ==
        "0 init\n1 init\n0 isend 1 0 1000000\n0 irecv 1 0 1000000\n0 wait 1 0 0\n0 wait 0 1 0\n0 compute 5\n"
        "1 isend 0 0 1000000\n1 irecv 0 0 1000000\n1 wait 0 1 0\n1 wait 1 0 0\n1 compute 5\n0 finalize\n1 finalize\n");
}

TEST_CASE("a time-independent trace may list one file for each rank") {
    TraceFiles files;
    files.write("r0.txt", "0 send 1 0 8\n");
    const std::string one = files.write("r1.txt", "1 recv 0 0 8\n");
    const ExecutionTrace listed = files.read("list.txt", "r0.txt\nr1.txt\n", {.format = "simgrid-ti"});
    CHECK(listed.ranks == 2);
    CHECK(count(listed, NodeKind::send) == 1);
    CHECK(read_trace({files.path("r0.txt"), one}, {}).size() == 2);
    files.write("all.txt", "0 barrier\n1 barrier\n");
    CHECK(files.read("list.txt", "all.txt\n", {.format = "simgrid-ti"}).ranks == 2);
    CHECK_THROWS_WITH(files.read("list.txt", "r0.txt\nr2.txt\n", {.format = "simgrid-ti"}),
                      ContainsSubstring("r2.txt: it does not exist"));
}

TEST_CASE("faults of a time-independent trace are named with their line") {
    TraceFiles files;
    const auto error = [&](const std::string& text) {
        try {
            files.read("x.txt", text);
        } catch (const ConfigError& error) {
            return std::string(error.what()).substr(files.path("").size());
        } catch (const TraceError& error) {
            return std::string(error.what()).substr(files.path("").size());
        }
        return std::string("none");
    };
    CHECK_THAT(error("0 init\n0 fly 3\n"), ContainsSubstring("x.txt:2:3: error: there is no action 'fly'"));
    CHECK_THAT(error("0 compute\n"), ContainsSubstring("x.txt:1:10: error: the flop is missing"));
    CHECK_THAT(error("0 compute nan\n"),
               ContainsSubstring("the flop must be a number that is not negative, not 'nan'"));
    CHECK_THAT(error("0 send 1 0 8\n"), ContainsSubstring("x.txt:1:8: error: the destination must be at most 0"));
    CHECK_THAT(error("0 bcast 1 0 77\n"), ContainsSubstring("datatype 77 is not known"));
    CHECK_THAT(error("0 barrier 3\n"), ContainsSubstring("x.txt:1:11: error: '3' is too much here"));
    CHECK_THAT(error("0 barrier\n1 init\n"),
               ContainsSubstring("rank 0 has 1 collective with 2 ranks, and rank 1 has 0"));
    CHECK_THAT(error("0 allreduce 1e300 0\n"), ContainsSubstring("these are too many bytes"));
    CHECK_THAT(error("4294967295 init\n"), ContainsSubstring("the rank must be at most 131071"));
}
