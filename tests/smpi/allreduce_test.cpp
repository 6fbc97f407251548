#include <bit>

#include "tests/catch.hpp"
#include "tests/smpi/comparison.hpp"
#include "tests/smpi/smpi.hpp"

// Compares our all-reduces with SMPI's algorithms of the same name, whose files are in SimGrid's
// src/smpi/colls/allreduce unless stated otherwise. SMPI reduces floats, so buffers are whole floats.

using namespace syncline;
using namespace syncline::test;

namespace {

std::vector<std::uint64_t> floats(std::uint32_t) {
    return usual_sizes(sizeof(float));
}

/// A unit with equally many floats for every rank.
std::vector<std::uint64_t> floats_of_each(std::uint32_t ranks) {
    return usual_sizes(sizeof(float) * ranks);
}

/// A unit with which the buffer can be halved into as many parts as there are places, the largest power of two.
std::vector<std::uint64_t> floats_of_each_place(std::uint32_t ranks) {
    return usual_sizes(sizeof(float) * std::bit_floor(ranks));
}

}  // namespace

TEST_CASE("a ring all-reduce takes as long as SMPI's lr") {
    compare({{.operation = "allreduce", .name = "ring"}, "allreduce:lr", floats_of_each});
}

// Our algorithm divides a buffer evenly, byte by byte, for any size: 2(N-1)(α + ⌈S/N⌉β). allreduce-lr.cpp gives each of
// N ranks k = ⌊S/4N⌋ floats, and then calls the all-reduce of SMPI's default selector (smpi_default_selector.cpp) for
// the remaining R bytes: all ranks send to rank 0 concurrently, which broadcasts over the binomial tree. The total is
// 2(N-1)(α + 4kβ) + α + (N-1)Rβ + ⌈lg N⌉(α + Rβ), with an envelope in each α and for each of the concurrent messages.
TEST_CASE("SMPI's lr takes an all-reduce longer than a ring all-reduce if floats are left over") {
    compare({{.operation = "allreduce", .name = "ring"},
             "allreduce:lr",
             [](std::uint32_t ranks) {
                 std::vector<std::uint64_t> sizes = floats_of_each(ranks);
                 for (std::uint64_t& bytes : sizes) bytes += sizeof(float) * (ranks - 1);
                 return sizes;
             },
             [](std::uint32_t ranks, std::uint64_t bytes, const MessageTime& message) {
                 const auto [alpha_s, beta_s_per_B] = message;
                 const double left = sizeof(float) * (ranks - 1), others = ranks - 1;
                 const double shared = (static_cast<double>(bytes) - left) / ranks;
                 const auto largest = static_cast<double>((bytes + ranks - 1) / ranks);
                 const double to_root = alpha_s + (others * left + (others - 1) * envelope_bytes) * beta_s_per_B;
                 const double from_root = std::bit_width(ranks - 1) * (alpha_s + left * beta_s_per_B);
                 return to_root + from_root - 2 * others * (largest - shared) * beta_s_per_B;
             }});
}

// allreduce-rdb.cpp folds the ranks beyond a power of two as ours does.
TEST_CASE("recursive doubling takes as long as SMPI's rdb") {
    compare({{.operation = "allreduce", .name = "recursive-doubling"}, "allreduce:rdb", floats});
}

// reduce/reduce-rab.cpp is by Rabenseifner himself. If N is not a power of two, the extra ranks do not send their whole
// buffer of S bytes in one message: they exchange halves with their partner, both reduce, and one sends its half of the
// sum, 2·S/2 bytes in two consecutive messages. That saves a part of the reductions, which take no time here, and costs
// one more α.
TEST_CASE("Rabenseifner's all-reduce takes as long as SMPI's rab, except for one latency if ranks are folded") {
    compare({{.operation = "allreduce", .name = "rabenseifner"},
             "allreduce:rab",
             [](std::uint32_t ranks) { return usual_sizes(2 * sizeof(float) * std::bit_floor(ranks)); },
             [](std::uint32_t ranks, std::uint64_t, const MessageTime& message) {
                 return std::has_single_bit(ranks) ? 0 : message.alpha_s;
             }});
}

// allreduce-rab-rdb.cpp is MPICH's, and folds ranks as ours does.
TEST_CASE("Rabenseifner's all-reduce takes as long as SMPI's rab_rdb") {
    compare({{.operation = "allreduce", .name = "rabenseifner"}, "allreduce:rab_rdb", floats_of_each_place});
}

// allreduce-ompi-ring-segmented.cpp has segments of 1 MiB, and uses lr if ranks have less than one segment. It rounds
// the number of segments, ours rounds it up; here it is whole.
TEST_CASE("a segmented ring all-reduce takes as long as SMPI's ompi_ring_segmented") {
    compare({{.operation = "allreduce", .name = "segmented-ring", .segment_bytes = 1 << 20},
             "allreduce:ompi_ring_segmented",
             [](std::uint32_t ranks) {
                 return std::vector<std::uint64_t>{std::uint64_t{ranks} << 10, std::uint64_t{ranks} << 20,
                                                   std::uint64_t{ranks} * 3 << 20};
             }});
}
