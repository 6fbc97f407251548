#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/execution/trace_bytes.hpp"

// Traces of strangers: too large, too deep, of no format.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a trace that is no file, or has no known format, is refused") {
    TraceFiles files;
    CHECK_THROWS_WITH(read_trace({}, {}), ContainsSubstring("no file of a trace is given"));
    CHECK_THROWS_WITH(read_trace({"/dev/zero"}, {}), ContainsSubstring("/dev/zero: it is not a regular file"));
    CHECK_THROWS_WITH(files.read("x.txt", "hello"),
                      ContainsSubstring("x.txt: its format is not recognised; it may be one of chakra, chakra-json, "));
    CHECK_THROWS_WITH(files.read("x.txt", "hello", {.format = "nsys"}),
                      ContainsSubstring("there is no format 'nsys' of traces"));
    CHECK_THROWS_WITH(files.read("x.goal", "num_ranks 2", {.compute_unit_s = 1e-6}),
                      ContainsSubstring("the format 'goal' has its own unit of compute"));
    CHECK_THROWS_WITH(files.read("x.goal", "num_ranks 2", {.ranks = 3}),
                      ContainsSubstring("x.goal: the trace has 2 ranks, not 3"));
    const std::string goal = files.write("y.goal", "num_ranks 2");
    CHECK_THROWS_WITH(read_trace({goal, goal}, {}), ContainsSubstring("this format has one file for all ranks"));
}

TEST_CASE("a trace that would take much memory is refused") {
    TraceFiles files;
    CHECK_THROWS_WITH(files.read("x.json", "{\"workload_graph\": " + std::string(1000, '[')),
                      ContainsSubstring("x.json: it is nested more than 100 levels deep"));
    // A group of 2^17 ranks for each of 200 roots: more than 2^24 members.
    std::string roots = "131071 init\n";
    for (int root = 0; root < 200; ++root) roots += "0 bcast 1 " + std::to_string(root) + "\n";
    CHECK_THROWS_WITH(files.read("x.txt", roots), ContainsSubstring("its groups have more than 16777216 members"));
    // 2^21 nodes are 16 on each of 2^17 ranks. These are 18, or 17.
    std::string layers = "MODEL all_gpus: 131072\n9\n";
    for (int layer = 0; layer < 9; ++layer) layers += "a -1 1 ALLREDUCE 5 0 NONE 0 0 NONE 0 0\n";
    CHECK_THROWS_WITH(files.read("x.txt", layers),
                      ContainsSubstring("9 layers on each of 131072 ranks are more than 2097152 nodes"));
    std::string nodes;
    for (std::uint64_t i = 0; i < 17; ++i) nodes += chakra_node(i, "x", comp, "");
    CHECK_THROWS_WITH(files.read("x.et", chakra_file({nodes}), {.ranks = 131072}),
                      ContainsSubstring("17 nodes on each of 131072 ranks are more than 2097152"));
}

TEST_CASE("a rank that waits for many requests takes time in proportion") {
    TraceFiles files;
    std::string text = "1 init\n";
    for (int i = 0; i < 50'000; ++i) text += "0 isend 1 0 8\n1 irecv 0 0 8\n";
    const ExecutionTrace trace = files.read("x.txt", text + "0 waitall\n0 compute 1\n");
    CHECK(count(trace, NodeKind::send) == 50'000);
    std::size_t most = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) most = std::max(most, trace.dependencies_of(i).size());
    CHECK(most == 4);
}
