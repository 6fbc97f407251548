#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Detects repeating iterations: every task starts and ends the same time after its start and end in the previous
/// iteration. Then all following iterations repeat, too, if nothing is random and all send the same, because tasks
/// depend on nothing further back.
namespace syncline {

/// Returns true if all iterations compute and send the same, and wait for nothing further back than the one before.
bool iterations_alike(const TaskGraph& graph);

class Steady {
public:
    /// `simulated`: the number of tasks that are; others are represented by them (symmetry.hpp).
    Steady(std::size_t tasks, std::size_t simulated) : tasks_(tasks), simulated_(simulated) {}

    void started(TaskId task, std::uint32_t iteration, double now_s);
    /// Returns true once: for the last task of an iteration that equals the previous one.
    bool ended(TaskId task, std::uint32_t iteration, double now_s);

    /// Return the time between that iteration and the previous one, and the times of its tasks.
    double period_s() const { return period_s_; }
    /// Returns by how much the times between tasks and their counterparts differ.
    double spread_s() const { return spread_s_; }
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

    /// A stream may be an iteration ahead of others, and still be asked for its times in the iteration before that.
    using History = std::array<Seen, 3>;
    void differs(Round& round, double seconds);
    Round& round(std::uint32_t iteration);

    std::vector<History> tasks_;
    std::size_t simulated_;
    std::deque<Round> rounds_;       ///< of unfinished iterations
    std::uint32_t first_round_ = 0;  ///< number of the first of them
    double period_s_ = 0, spread_s_ = 0;
};

}  // namespace syncline
