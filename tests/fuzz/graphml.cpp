#include "tests/fuzz/graph.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::graphml(std::string_view input) {
    read_graph("graph.graphml", input, to_graphml);
}
