#pragma once

#include <cstdint>
#include <vector>

/// What happened while a task graph was replayed, in simulated seconds from the start.
namespace syncline {

struct Interval {
    double start_s = 0;
    double end_s = 0;
};

struct Timeline {
    std::vector<double> iteration_end_s;  ///< when the last task of each iteration ended
    /// Of every task, in the measured iteration and up to two before it: the measured one is the last of these.
    std::vector<std::vector<Interval>> recorded;
    std::uint64_t messages = 0;  ///< sent in the measured iteration, by all processes
    std::uint64_t bytes_sent = 0;

    const std::vector<Interval>& measured() const { return recorded.back(); }
};

}  // namespace syncline
