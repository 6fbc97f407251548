#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// Compares our algorithm with SMPI's of the same name, on the same star.
namespace syncline::test {

/// How messages' envelopes add up. `in_turn`: one for each message that follows another, like a longer latency.
/// `at_once`: if a rank's messages share its link, one for each of the N blocks.
enum class Envelopes { in_turn, at_once };

/// α with its envelope, and β, of the star.
struct MessageTime {
    double alpha_s = 0;
    double beta_s_per_B = 0;
};

/// 8 B, 1 KiB, 64 KiB, 1 MiB and 16 MiB, rounded up to multiples of `unit`.
std::vector<std::uint64_t> usual_sizes(std::uint64_t unit = 1);

struct Pair {
    AlgorithmSpec ours;
    std::string smpi;  ///< as "allreduce:lr", with blanks between several
    std::vector<std::uint64_t> (*sizes)(std::uint32_t ranks);
    /// Seconds by which SMPI's algorithm, not its messages, takes longer than ours with envelopes; nothing: none.
    double (*longer_s)(std::uint32_t ranks, std::uint64_t bytes, const MessageTime& message) = nullptr;
    Envelopes envelopes = Envelopes::in_turn;
    std::vector<std::uint32_t> ranks = {4, 8, 13, 16};
};

/// Checks that SMPI's time equals ours with envelopes and SMPI's differences to 1e-6, and ours with SMPI's differences
/// within 5 %, from 1 MiB on within 1 %; prints a table.
void compare(const Pair& pair);

}  // namespace syncline::test
