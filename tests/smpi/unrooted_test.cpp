#include "tests/catch.hpp"
#include "tests/smpi/comparison.hpp"

// Compares our collectives without a root, except all-reduces, with SMPI's algorithms of the same name, whose files are
// in SimGrid's src/smpi/colls.

using namespace syncline;
using namespace syncline::test;

namespace {

std::vector<std::uint64_t> bytes_of_each(std::uint32_t ranks) {
    return usual_sizes(ranks);
}

std::vector<std::uint64_t> floats_of_each(std::uint32_t ranks) {
    return usual_sizes(sizeof(float) * ranks);
}

}  // namespace

TEST_CASE("Bruck's allgather takes as long as SMPI's") {
    compare({{.operation = "allgather", .name = "bruck"}, "allgather:bruck", bytes_of_each});
}

// If N is not a power of two, allgather/allgather-rdb.cpp passes blocks down a tree after each step, while ours folds
// ranks.
TEST_CASE("a recursive-doubling allgather takes as long as SMPI's rdb among powers of two") {
    compare({{.operation = "allgather", .name = "recursive-doubling"},
             "allgather:rdb",
             bytes_of_each,
             nullptr,
             Envelopes::in_turn,
             {4, 8, 16}});
}

// allgather/allgather-ring.cpp is a ring in name only: in step i every rank sends its own block to the rank i places
// on, which takes as long on a star.
TEST_CASE("a ring allgather takes as long as SMPI's ring") {
    compare({{.operation = "allgather", .name = "ring"}, "allgather:ring", bytes_of_each});
}

// allgather/allgather-NTSLR.cpp ("not topology specific, logical ring") passes blocks on to the neighbour.
TEST_CASE("a ring allgather takes as long as SMPI's NTSLR") {
    compare({{.operation = "allgather", .name = "ring"}, "allgather:NTSLR", bytes_of_each});
}

// reduce_scatter/reduce_scatter-ompi.cpp
TEST_CASE("a ring reduce-scatter takes as long as SMPI's ompi_ring") {
    compare({{.operation = "reduce-scatter", .name = "ring"}, "reduce_scatter:ompi_ring", floats_of_each});
}

// reduce_scatter/reduce_scatter-ompi.cpp folds ranks as MPICH does.
TEST_CASE("recursive halving takes as long as SMPI's ompi_basic_recursivehalving") {
    compare({{.operation = "reduce-scatter", .name = "recursive-halving"},
             "reduce_scatter:ompi_basic_recursivehalving",
             floats_of_each});
}

// alltoall/alltoall-basic-linear.cpp starts all receives and all sends concurrently.
TEST_CASE("a direct all-to-all takes as long as SMPI's basic_linear") {
    compare({{.operation = "all-to-all", .name = "direct"},
             "alltoall:basic_linear",
             bytes_of_each,
             nullptr,
             Envelopes::at_once});
}

// alltoall/alltoall-ring.cpp sends to the rank i places on in step i. SMPI's `pair` is for powers of two only.
TEST_CASE("a pairwise all-to-all takes as long as SMPI's ring") {
    compare({{.operation = "all-to-all", .name = "pairwise"}, "alltoall:ring", bytes_of_each});
}

TEST_CASE("Bruck's all-to-all takes as long as SMPI's") {
    compare({{.operation = "all-to-all", .name = "bruck"}, "alltoall:bruck", bytes_of_each});
}

// barrier/barrier-ompi.cpp is named after Bruck by Open MPI.
TEST_CASE("a dissemination barrier takes as long as SMPI's ompi_bruck") {
    compare({{.operation = "barrier", .name = "dissemination"}, "barrier:ompi_bruck", [](std::uint32_t) {
                 return std::vector<std::uint64_t>{0};
             }});
}
