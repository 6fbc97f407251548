#include <algorithm>

#include "tests/catch.hpp"
#include "tests/smpi/comparison.hpp"

// Compares our collectives with a root with SMPI's of the same name, whose files are in SimGrid's src/smpi/colls.

using namespace syncline;
using namespace syncline::test;

namespace {

std::vector<std::uint64_t> bytes_of_each(std::uint32_t ranks) {
    return usual_sizes(ranks);
}

/// A scatter over the binomial tree of `ranks`: the root sends to the children at distances 1, 2, 4, … in this order or
/// in reverse, and each continues when it has received its part.
double binomial_scatter_s(std::uint32_t ranks, double block, bool smallest_first, const MessageTime& message) {
    std::vector<std::uint32_t> subtrees;
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2)
        subtrees.push_back(std::min(distance, ranks - distance));
    if (!smallest_first) std::reverse(subtrees.begin(), subtrees.end());
    double sent_s = 0, last_s = 0;
    for (const std::uint32_t subtree : subtrees) {
        sent_s += message.alpha_s + subtree * block * message.beta_s_per_B;
        last_s = std::max(last_s, sent_s + binomial_scatter_s(subtree, block, smallest_first, message));
    }
    return last_s;
}

}  // namespace

// bcast/bcast-scatter-LR-allgather.cpp is MPICH's, on the logical ring.
TEST_CASE("a broadcast by scatter and allgather takes as long as SMPI's scatter_LR_allgather") {
    compare({{.operation = "broadcast", .name = "scatter-allgather"}, "bcast:scatter_LR_allgather", bytes_of_each});
}

// scatter/scatter-ompi.cpp sends to the nearest child first, which has the smallest subtree. Ours sends to the child
// with the largest subtree first, like MPICH: then all subtrees end when the root does, while here the last one only
// starts then.
TEST_CASE("SMPI's binomial scatter takes longer than ours by the order of the root's children") {
    compare({{.operation = "scatter", .name = "binomial-tree"},
             "scatter:ompi_binomial",
             bytes_of_each,
             [](std::uint32_t ranks, std::uint64_t bytes, const MessageTime& message) {
                 const double block = static_cast<double>(bytes) / ranks;
                 return binomial_scatter_s(ranks, block, true, message) -
                        binomial_scatter_s(ranks, block, false, message);
             }});
}

// gather/gather-ompi.cpp takes the smallest first, which is best here, as ours does.
TEST_CASE("a binomial gather takes as long as SMPI's") {
    compare({{.operation = "gather", .name = "binomial-tree"}, "gather:ompi_binomial", bytes_of_each});
}

// scatter/scatter-ompi.cpp starts all of the root's messages concurrently.
TEST_CASE("a direct scatter takes as long as SMPI's ompi_linear_nb") {
    compare({{.operation = "scatter", .name = "direct"},
             "scatter:ompi_linear_nb",
             bytes_of_each,
             nullptr,
             Envelopes::at_once});
}
