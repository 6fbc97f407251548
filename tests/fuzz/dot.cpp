#include "tests/fuzz/graph.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::dot(std::string_view input) {
    read_graph("graph.dot", input, to_dot);
}
