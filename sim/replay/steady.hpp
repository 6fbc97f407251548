#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Whether iterations repeat: every task of one starts and ends the same time after that of the one before. Then those
/// to come do so, too, where nothing is random and all send the same, since a task waits for none that is further back.
namespace syncline {

class Steady {
public:
    explicit Steady(std::size_t tasks) : tasks_(tasks) {}

    void started(TaskId task, std::uint32_t iteration, double now_s);
    /// True once, where this was the last task of an iteration that is like the one before.
    bool ended(TaskId task, std::uint32_t iteration, double now_s);

    /// Of that iteration: how long after the one before, and when its tasks ran.
    double period_s() const { return period_s_; }
    std::vector<Interval> intervals(std::uint32_t iteration) const;

private:
    static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

    struct Seen {
        std::uint32_t iteration = never;
        Interval interval;
    };
    struct Round {
        std::size_t ended = 0;
        double shortest_s = std::numeric_limits<double>::infinity(), longest_s = 0;
    };

    /// A stream may be ahead of others by an iteration, and still be asked for what it did in the one before that.
    using History = std::array<Seen, 3>;
    void differs(Round& round, double seconds);
    Round& round(std::uint32_t iteration);

    std::vector<History> tasks_;
    std::deque<Round> rounds_;       ///< of iterations that are not through
    std::uint32_t first_round_ = 0;  ///< the number of the first of them
    double period_s_ = 0;
};

}  // namespace syncline
