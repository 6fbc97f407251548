#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/replay/trace.hpp"

/// What happened while a task graph was replayed, in simulated seconds from the start.
namespace syncline {

struct Interval {
    double start_s = 0;
    double end_s = 0;
};

/// A link, one direction of it, and what it carried in an iteration: bytes as they travel, which may be more than the
/// data (see Protocol).
struct LinkUse {
    std::string name;
    double bandwidth_Bps = 0;
    std::uint64_t bytes = 0;
    /// Of the link with the highest utilisation: between the ends of the messages that brought it the most bytes, the
    /// number of other ways that are as short, lead around it and lie unused, as some link of theirs carried nothing.
    double unused_ways = 0;
};

struct Timeline {
    std::vector<double> iteration_end_s;  ///< when the last task of each iteration ended
    /// Of every task, in the last measured iteration, which is the last of these, and in up to twice as many before it
    /// as are measured.
    std::vector<std::vector<Interval>> recorded;
    std::uint64_t messages = 0;  ///< sent in one iteration by all processes: the mean, if several are measured
    std::uint64_t bytes_sent = 0;
    std::uint64_t messages_folded = 0;    ///< of these messages, what others stood for: see folding.hpp
    double folding_error_s = 0;           ///< by how much that can have changed an iteration's time, at most
    std::uint32_t iterations_folded = 0;  ///< not simulated, as they are like the one before
    /// The same by process.
    std::vector<std::uint64_t> sent_by, received_by;
    std::vector<LinkUse> links;  ///< those that carried any
    Trace trace;                 ///< empty unless ReplayOptions::messages asks for it

    const std::vector<Interval>& measured() const { return recorded.back(); }
};

}  // namespace syncline
