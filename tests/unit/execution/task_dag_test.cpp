#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/execution/trace_bytes.hpp"

// Workflows: dot and DAX of SimGrid, WfFormat of WfCommons.

using namespace syncline;
using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// "rank: kind name (dependencies)", in order.
std::vector<std::string> lines(const ExecutionTrace& trace) {
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        const TraceNode& node = trace.nodes()[i];
        std::string line = std::to_string(node.rank) + ": ";
        if (node.kind == NodeKind::send) line += "send " + std::to_string(node.bytes) + " of ";
        if (node.kind == NodeKind::receive) line += "receive of ";
        line += trace.names[node.name] + " (";
        for (const std::uint32_t on : trace.dependencies_of(i))
            line += (line.back() == '(' ? "" : " ") + std::to_string(on);
        all.push_back(line + ")");
    }
    return all;
}

std::string refusal(TraceFiles& files, const std::string& name, const std::string& text) {
    try {
        files.read(name, text);
    } catch (const ConfigError& error) {
        return std::string(error.what()).substr(files.path("").size());
    } catch (const TraceError& error) {
        return std::string(error.what()).substr(files.path("").size());
    }
    return "none";
}

}  // namespace

TEST_CASE("tasks of a dot graph are on the ranks in turn, with root and end on the first") {
    TraceFiles files;
    const std::string text = R"(digraph G {
        end [size="5"];  /* flop */
        a [size="1e9"]; "b" [size=2];
        a->b [size="100"];
        root->a;  // no bytes
        b->end [size="-1"];
    })";
    const ExecutionTrace one = files.read("x.dot", text);
    CHECK(lines(one) == std::vector<std::string>{"0: root ()", "0: a (0)", "0: b (1)", "0: end (2)"});
    CHECK(one.nodes()[1].flop == 1e9);
    CHECK(one.notes.empty());

    // root 0, a 1, b 0, end 0.
    const ExecutionTrace two = files.read("x.dot", text, {.ranks = 2});
    CHECK(lines(two) == std::vector<std::string>{"0: root ()", "0: send 0 of root (0)", "1: receive of root ()",
                                                 "1: a (2)", "1: send 100 of a (3)", "0: receive of a ()", "0: b (5)",
                                                 "0: end (6)"});
    CHECK(two.notes == std::vector<std::string>{"the tasks are on the ranks in turn, in the order of the file"});
    CHECK(two.free_signals);

    // Tasks are in the order in which they are named; of two edges with bytes the first one counts.
    const ExecutionTrace named = files.read("y.dot", "digraph { b -> a [size=3]; a [size=1]; b -> a [size=5]; }");
    CHECK(lines(named) == std::vector<std::string>{"0: root ()", "0: b (0)", "0: a (1)", "0: end (0 2)"});
    CHECK(named.notes == std::vector<std::string>{"what a task hands on to the same one again is left out (1)"});

    // As Graphviz reads them: defaults, subgraphs, and a task that is named again.
    const ExecutionTrace grouped =
        files.read("z.dot", "digraph { node [size=7]; a; subgraph s { b; c } a -> subgraph s [size=-1]; a [size=1] }");
    CHECK(lines(grouped) ==
          std::vector<std::string>{"0: root ()", "0: a (0)", "0: b (1)", "0: c (1)", "0: end (0 2 3)"});
    CHECK(grouped.nodes()[1].flop == 1);
    CHECK(grouped.nodes()[2].flop == 7);
}

TEST_CASE("jobs of a DAX hand on their files") {
    TraceFiles files;
    const std::string text = R"(<?xml version="1.0"?><adag version="2.1">
        <job id="1" name="make" runtime="0.5"><uses file="in" link="input" size="7"/><uses file="f" link="output" size="64"/></job>
        <job id="2" name="use" runtime="2"><uses file="f" link="input" size="64"/></job>
        <job id="3" name="last" runtime="1"/>
        <child ref="3"><parent ref="1"/><parent ref="2"/></child>
    </adag>)";
    const ExecutionTrace trace = files.read("x.dax", text, {.ranks = 2});
    // As in SimGrid: root and end are on rank 0, jobs 1, 2 and 3 on ranks 1, 0 and 1. Nobody writes "in".
    CHECK(lines(trace) == std::vector<std::string>{"0: root ()", "0: send 7 of root (0)", "1: receive of root ()",
                                                   "1: 1 (2)", "1: send 64 of 1 (3)", "0: receive of 1 ()", "0: 2 (5)",
                                                   "0: send 0 of 2 (6)", "1: receive of 2 ()", "1: 3 (3 8)",
                                                   "1: send 0 of 3 (9)", "0: receive of 3 ()", "0: end (0 11)"});
    CHECK(trace.nodes()[3].seconds == 0.5);
    const ExecutionTrace sizes = files.read("y.dax", R"(<adag version="2.1">
        <job id="1" runtime="1"><uses file="a" link="output" size="7"/><uses file="b" link="output" size="8"/></job>
        <job id="2" runtime="1"><uses file="a" link="input" size="9"/><uses file="b" link="input" size="8"/></job>
    </adag>)",
                                            {.ranks = 3});
    CHECK(lines(sizes).at(4) == "1: send 7 of 1 (3)");
    CHECK(lines(sizes).at(6) == "1: send 8 of 1 (3)");
    CHECK(sizes.notes.front() == "a file's other sizes than its first are left out (1)");
    CHECK_THAT(refusal(files, "x.dax", "<adag>\n<job id='1'/></adag>"),
               ContainsSubstring("x.dax:2:1: error: <job> has no runtime"));
    CHECK_THAT(refusal(files, "x.dax", "<adag>\n<child ref='1'/></adag>"),
               ContainsSubstring("there is no job '1' before"));
}

TEST_CASE("WfFormat is read as WfCommons writes it, and as SimGrid reads it") {
    TraceFiles files;
    const ExecutionTrace newer = files.read("x.json", R"({"workflow": {"specification": {"tasks": [
        {"name": "first", "id": "t1", "parents": [], "children": ["t2"], "inputFiles": ["raw"], "outputFiles": ["f"]},
        {"name": "second", "id": "t2", "parents": ["t1"], "inputFiles": ["f"], "outputFiles": []}],
        "files": [{"id": "f", "sizeInBytes": 64}, {"id": "raw", "sizeInBytes": 5}]},
        "execution": {"tasks": [{"id": "t1", "runtimeInSeconds": 0.5}, {"id": "t2", "runtimeInSeconds": 2}]}}})",
                                            {.ranks = 2});
    CHECK(lines(newer) ==
          std::vector<std::string>{"0: t1 ()", "0: send 64 of t1 (0)", "1: receive of t1 ()", "1: t2 (2)"});
    CHECK(newer.nodes()[3].seconds == 2);

    // Machines are ranks; a transfer is where its source is.
    const ExecutionTrace older = files.read("x.json", R"({"workflow": {"tasks": [
        {"name": "a", "type": "compute", "runtime": 3, "parents": [], "machine": "m1"},
        {"name": "t", "type": "transfer", "bytesWritten": 1000, "parents": ["a"]},
        {"name": "b", "type": "compute", "runtime": 4, "parents": ["t"], "machine": "m2"}]}})");
    CHECK(older.ranks == 2);
    CHECK(lines(older) ==
          std::vector<std::string>{"0: a ()", "0: t (0)", "0: send 1000 of t (1)", "1: receive of t ()", "1: b (3)"});
}

TEST_CASE("faults of workflows are named") {
    TraceFiles files;
    CHECK_THAT(refusal(files, "x.dot", "digraph {\n a -> ;\n}"),
               ContainsSubstring("x.dot:2:7: error: a name should be here"));
    CHECK_THAT(refusal(files, "x.dot", "digraph {\n a [size=big]\n}"),
               ContainsSubstring("x.dot:2:10: error: a size must be a number"));
    CHECK_THAT(refusal(files, "x.dot", "digraph { a"), ContainsSubstring("the graph does not end"));
    CHECK_THAT(refusal(files, "x.dot", "digraph { \"a"),
               ContainsSubstring("x.dot:1:11: error: these quotes do not end"));
    CHECK_THAT(refusal(files, "x.dot", "digraph { a -> b; b -> a; }"), ContainsSubstring("in a cycle"));
    CHECK_THAT(refusal(files, "x.json", "{\"workflow\": 3}"), ContainsSubstring("it has no list of tasks"));
    CHECK_THAT(refusal(files, "x.json", "{\"workflow\": \n3"), ContainsSubstring("x.json:2:2: error: this is no JSON"));
    CHECK_THAT(refusal(files, "x.json", R"({"workflow": {"tasks": [{"name": "a", "parents": ["b"]}]}})"),
               ContainsSubstring("there is no task 'b'"));
    CHECK_THAT(refusal(files, "x.json", R"({"workflow": {"tasks": [{"name": "a", "runtime": -1}]}})"),
               ContainsSubstring("a runtime must be from 0"));
}
