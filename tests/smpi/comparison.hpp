#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/collective/algorithm.hpp"

/// Our algorithm beside SMPI's of the same name, on the same star.
namespace syncline::test {

/// What SMPI does otherwise, in seconds, beside our time with the envelopes; see Pair.
using Difference = std::function<double(std::uint32_t ranks, std::uint64_t bytes)>;

/// How messages' envelopes add up: `in_turn`, one for each message that follows another, as if the latency were longer;
/// `at_once`, where a rank's messages share its link, each block carries one.
enum class Envelopes { in_turn, at_once };

struct Pair {
    AlgorithmSpec ours;
    std::string smpi;                                      ///< as "allreduce:lr"
    std::uint64_t (*unit)(std::uint32_t ranks) = nullptr;  ///< sizes are rounded up to multiples of this; none: 1
    Envelopes envelopes = Envelopes::in_turn;
    Difference difference = {};  ///< nothing: there is none
};

/// Checks, for 4, 8, 13 and 16 ranks and 8 B, 1 KiB, 64 KiB, 1 MiB and 16 MiB, that SMPI's time is ours with envelopes
/// and the difference to 1e-6, and that it is ours within 5 %, from 1 MiB on 1 %; prints the table. Where there is a
/// difference, the second check counts it, too.
void compare(const Pair& pair);

}  // namespace syncline::test
