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
    std::vector<Interval> last;           ///< of every task in the last iteration ...
    std::vector<Interval> before_last;    ///< ... and in the one before it (empty if there is none)
    std::uint64_t messages = 0;           ///< sent in the last iteration, by all processes
    std::uint64_t bytes_sent = 0;
};

}  // namespace syncline
