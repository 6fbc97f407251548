#include "tests/catch.hpp"
#include "tests/smpi/comparison.hpp"

// Compares our binomial trees with SMPI's, whose files are in SimGrid's src/smpi/colls. There, too, a rank sends to its
// children in turn, each message when the previous one is delivered.

using namespace syncline;
using namespace syncline::test;

TEST_CASE("a binomial broadcast takes as long as SMPI's binomial_tree") {
    compare({{.operation = "broadcast", .name = "binomial-tree"}, "bcast:binomial_tree", [](std::uint32_t) {
                 return usual_sizes();
             }});
}

// reduce/reduce-binomial.cpp
TEST_CASE("a binomial reduce takes as long as SMPI's binomial") {
    compare({{.operation = "reduce", .name = "binomial-tree"}, "reduce:binomial", [](std::uint32_t) {
                 return usual_sizes(sizeof(float));
             }});
}

// allreduce/allreduce-redbcast.cpp runs the selected reduce and broadcast.
TEST_CASE("a binomial all-reduce takes as long as SMPI's redbcast of binomial trees") {
    compare({{.operation = "allreduce", .name = "binomial-tree"},
             "allreduce:redbcast reduce:binomial bcast:binomial_tree",
             [](std::uint32_t) { return usual_sizes(sizeof(float)); }});
}
