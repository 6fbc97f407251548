#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/execution/trace_bytes.hpp"

// GOAL, the schedules of LogGOPSim.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

TEST_CASE("GOAL's tasks compute on processors and send, after or with one another") {
    TraceFiles files;
    const ExecutionTrace trace = files.read("x.goal", R"(/* a schedule */ num_ranks 3
rank 0 {
l1: calc 1000 cpu 1      // ns
l2: send 1048576b to 1 tag 5 cpu 0 nic 1
l2 requires l1
}
rank 1 {
l1: recv 1048576b from 0 tag 5
l2: calc 500
l2 irequires l1
calc 0
}
)");
    CHECK(trace.ranks == 3);
    // Rank 1: the start of l1, l1, l2 after the start, and a calc of no time.
    REQUIRE(trace.size() == 6);
    const auto& nodes = trace.nodes();
    CHECK_THAT(nodes[0].seconds, WithinRel(1e-6));
    CHECK(nodes[0].stream == 1);
    CHECK(nodes[1].kind == NodeKind::send);
    CHECK(nodes[1].bytes == 1'048'576);
    CHECK(nodes[1].tag == 5);
    CHECK(dependencies(trace, 1) == std::vector<std::uint32_t>{0});
    CHECK(nodes[2].kind == NodeKind::nothing);
    CHECK(nodes[3].kind == NodeKind::receive);
    CHECK(dependencies(trace, 3) == std::vector<std::uint32_t>{2});
    CHECK(nodes[4].kind == NodeKind::compute);
    CHECK(dependencies(trace, 4) == std::vector<std::uint32_t>{2});
    CHECK(nodes[5].kind == NodeKind::nothing);
    CHECK(trace.notes == std::vector<std::string>{"processors and network cards of messages are left out (1)"});
}

TEST_CASE("GOAL survives reading and writing") {
    TraceFiles files;
    const std::string text =
        "num_ranks 2\nrank 0 {\nl1: calc 7 cpu 0\nl2: calc 9 cpu 1\nl3: send 8b to 1 tag 0\nl3 requires l1\n"
        "l3 requires l2\nl4: calc 0 cpu 2\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n";
    const ExecutionTrace trace = files.read("x.goal", text);
    CHECK(written(trace, "goal", files.path("y.goal")) == std::vector<std::string>{files.path("y.goal")});
    CHECK(files.bytes_of(files.path("y.goal")) == text);

    ExecutionTrace other = trace;
    other.operations = {"allreduce"};
    other.groups = {{0, 1}};
    TraceNode sum;
    sum.kind = NodeKind::collective;
    other.add(sum, {});
    CHECK_THROWS_WITH(written(other, "goal", files.path("z.goal")), ContainsSubstring("GOAL has no collectives"));
    CHECK_THROWS_WITH(written(trace, "astra-text", files.path("z")),
                      ContainsSubstring("traces cannot be written as 'astra-text', but as chakra, goal, simgrid-ti"));
}

TEST_CASE("faults of GOAL are named with their line") {
    TraceFiles files;
    const auto error = [&](const std::string& text) {
        try {
            files.read("x.goal", text);
        } catch (const ConfigError& error) {
            return std::string(error.what()).substr(files.path("").size());
        } catch (const TraceError& error) {
            return std::string(error.what()).substr(files.path("").size());
        }
        return std::string("none");
    };
    const std::string rank = "num_ranks 2\nrank 0 {\n";
    CHECK_THAT(error("ranks 2"), ContainsSubstring("x.goal:1:1: error: 'num_ranks' should be here, not 'ranks'"));
    CHECK_THAT(error(rank + "l2 requires l1\n}"), ContainsSubstring("x.goal:3:1: error: there is no task 'l2' before"));
    CHECK_THAT(error(rank + "l1: calc x\n}"),
               ContainsSubstring("x.goal:3:10: error: the time must be a whole number, not 'x'"));
    CHECK_THAT(error(rank + "recv 8b from -1\n}"),
               ContainsSubstring("x.goal:3:14: error: any source cannot be replayed"));
    CHECK_THAT(error(rank + "send 8 to 1\n}"), ContainsSubstring("the size must be a whole number of bytes: 1024b"));
    CHECK_THAT(error(rank + "calc 1"), ContainsSubstring("'the end of the file' is no task"));
    CHECK_THAT(error(rank + "/* calc 1"), ContainsSubstring("'the end of the file' is no task"));
    CHECK_THAT(error(rank + "}\nrank 0 {}"), ContainsSubstring("x.goal:4:6: error: rank 0 is there twice"));
    CHECK_THAT(error(rank + "a: calc 1\nb: calc 1\na requires b\nb requires a\n}"),
               ContainsSubstring("x.goal:3:4: error: task 'a' waits for itself: a requires b, b requires a"));
    // What only starts after another task's start makes a cycle, too.
    CHECK_THAT(
        error(rank + "a: calc 1\nb: calc 1\nc: calc 1\na requires c\nb irequires a\nc requires b\n}"),
        ContainsSubstring("x.goal:3:4: error: task 'a' waits for itself: a requires c, c requires b, b requires a"));
    CHECK_THAT(error(rank + "send 8b to 1\n}"),
               ContainsSubstring("sends 1 message to rank 1 with tag 0, which receives 0"));
}
