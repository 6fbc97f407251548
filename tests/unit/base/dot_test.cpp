#include "sim/base/dot.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

// DOT as https://graphviz.org/doc/info/lang.html defines it.

using namespace syncline;

namespace {

DotGraph read(const std::string& text) {
    return read_dot(text, {"x"}, [](std::size_t, std::size_t) {});
}

/// Returns "a->b=x" for each edge.
std::vector<std::string> edges(const std::string& text) {
    const DotGraph graph = read(text);
    std::vector<std::string> result;
    for (const auto& [from, to, values, position] : graph.edges)
        result.push_back(graph.vertices[from].name + (graph.directed ? "->" : "--") + graph.vertices[to].name + "=" +
                         values[0].text);
    return result;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("DOT: defaults hold from where they stand to the end of their braces") {
    CHECK(edges("graph { a -- b; edge [x=1]; b -- c; { edge [x=2]; c -- d; d -- e [x=3] } e -- f }") ==
          Lines{"a--b=", "b--c=1", "c--d=2", "d--e=3", "e--f=1"});
    const DotGraph graph = read("digraph { node [x=1]; a; { node [x=2]; a; b } c [x=3]; a -> d; d [x=4, y=5] [z=6] }");
    Lines values;
    for (const DotGraph::Vertex& vertex : graph.vertices) values.push_back(vertex.name + "=" + vertex.values[0].text);
    CHECK(values == Lines{"a=1", "b=2", "c=3", "d=4"});
}

TEST_CASE("DOT: an edge joins all vertices of both sides") {
    CHECK(edges("digraph { {a b} -> c -> {d; e} }") == Lines{"a->c=", "b->c=", "c->d=", "c->e="});
    CHECK(edges("graph { subgraph s { a -- b; {c} } d -- subgraph s }") == Lines{"a--b=", "d--a=", "d--b=", "d--c="});
    CHECK(edges("graph { subgraph s {a} subgraph s {b} c -- subgraph s [x=1] }") == Lines{"c--a=1", "c--b=1"});
}

TEST_CASE("DOT: a strict graph has one edge between two vertices, with what was said last") {
    CHECK(edges("strict graph { a -- b [x=1]; b -- a [x=2]; a -- b }") == Lines{"a--b=2"});
    CHECK(edges("STRICT Digraph { a -> b; b -> a; a -> b }") == Lines{"a->b=", "b->a="});
    CHECK(edges("graph { a -- b; a -- b }").size() == 2);
}

TEST_CASE("DOT: names are words, numbers, texts in quotes and HTML; ports and comments are left out") {
    CHECK(edges(R"(graph { # first
        "a \"1\"":p:n -- -1.5 /* -- b */ -- "c" + "d" // end
        -- "e\\" -- "f\n" [label=<<b>"</b>>, x="g\
h"] })") == Lines{"a \"1\"---1.5=gh", "-1.5--cd=gh", "cd--e\\\\=gh", "e\\\\--f\\n=gh"});
    CHECK(edges("graph { rankdir=LR; graph [x=1] Node [x=2]; \"node\" -- edges }") == Lines{"node--edges="});
}

TEST_CASE("DOT: faults have a place") {
    const auto fault = [](const std::string& text) -> std::string {
        try {
            read(text);
        } catch (const DotError& error) {
            return std::to_string(error.position) + " " + error.what();
        }
        return "";
    };
    CHECK(fault("graph { a -> b }") == "10 edges of a graph are '--'");
    CHECK(fault("digraph { a -- b }") == "12 edges of a digraph are '->'");
    CHECK(fault("graph { a -- }") == "13 a name should be here");
    CHECK(fault("graph { a [x] }") == "12 '=' should be here");
    CHECK(fault("graph { a } b") == "12 the graph has ended, and only one can be read");
    CHECK(fault("graph { a /* b }") == "10 this comment does not end");
    CHECK(fault("graph { node }") == "13 '[' should be here");
    CHECK(fault("graf { }") == "0 a graph begins with 'graph' or 'digraph'");
    for (const char* text : {"", "graph", "graph {", "graph { a", "graph { a --", "graph { a [", "graph { a [x=1"})
        CHECK(fault(text) != "");
}
