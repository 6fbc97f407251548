#include "tests/catch.hpp"
#include "tests/smpi/comparison.hpp"

// Our collectives against SMPI's algorithms of the same name. Names of files are those of SimGrid's sources, below
// src/smpi/colls.

using namespace syncline;
using namespace syncline::test;

namespace {

std::uint64_t a_float(std::uint32_t) {
    return 4;
}
std::uint64_t a_float_each(std::uint32_t ranks) {
    return 4 * ranks;
}
std::uint64_t a_byte_each(std::uint32_t ranks) {
    return ranks;
}

}  // namespace

// allreduce/allreduce-lr.cpp exchanges what is left over when floats cannot be shared out evenly in an all-reduce of
// its own: see the next case.
TEST_CASE("a ring all-reduce takes as long as SMPI's") {
    compare({{.operation = "allreduce", .name = "ring"}, "allreduce:lr", a_float_each});
}

// allreduce/allreduce-rdb.cpp folds the ranks beyond a power of two as ours does.
TEST_CASE("recursive doubling takes as long as SMPI's") {
    compare({{.operation = "allreduce", .name = "recursive-doubling"}, "allreduce:rdb", a_float});
}

// alltoall/alltoall-basic-linear.cpp starts all receives and all sends at once.
TEST_CASE("a direct all-to-all takes as long as SMPI's linear one") {
    compare({{.operation = "all-to-all", .name = "direct"}, "alltoall:basic_linear", a_byte_each, Envelopes::at_once});
}
