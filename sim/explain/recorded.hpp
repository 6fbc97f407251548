#pragma once

#include <cstdint>
#include <vector>

#include "sim/analysis/experiment.hpp"

/// The recorded iterations of a replay, as those see them who ask why.
namespace syncline {

/// A task in one of the iterations.
struct Ran {
    TaskId task = 0;
    std::uint32_t iteration = 0;
    bool operator==(const Ran&) const = default;
};

class Recorded {
public:
    explicit Recorded(const ReplayedIteration& replayed);

    /// The update that ends the window: of the rank that finishes last, the first of these.
    Ran last_update() const { return {update_, replayed_.measured}; }
    ProcessId last_rank() const { return process_of(update_); }
    /// From that rank's update before, or the start of the simulation, to this one.
    const Interval& window() const { return window_; }

    const TaskGraph& graph() const { return replayed_.graph; }
    const Timeline& timeline() const { return replayed_.timeline; }
    const Trace& trace() const { return replayed_.timeline.trace; }
    std::uint32_t iterations() const { return replayed_.window; }  ///< in the window
    std::uint32_t first_iteration() const { return first_; }
    std::uint32_t last_iteration() const { return replayed_.measured; }
    const Interval& interval(const Ran& ran) const { return timeline().recorded[ran.iteration - first_][ran.task]; }
    ProcessId process_of(TaskId task) const { return graph().streams()[graph().tasks()[task].stream].process; }
    /// The part of it that lies in the window; of no length if there is none.
    Interval clipped(const Interval& interval) const;
    /// As the window is the last rank's, by process; the window itself of a process that updates nothing.
    std::vector<Interval> own_windows() const;

    /// The tasks, one of each member, that meet in the same exchange at the same time: there are several such meetings
    /// in an exchange that micro-batches share, the n-th of each member's tasks together.
    const std::vector<TaskId>& meeting(TaskId task) const { return meetings_[meeting_of_[task]]; }

    /// Calls each_one(ran, interval) for each task of each iteration.
    template <class Each>
    void each(Each each_one) const {
        for (std::uint32_t iteration = first_; iteration <= replayed_.measured; ++iteration)
            for (TaskId task = 0; task < graph().tasks().size(); ++task)
                each_one(Ran{task, iteration}, interval({task, iteration}));
    }
    /// The same of each that reaches into the window, with the part that does.
    template <class Each>
    void in_window(Each each_one) const {
        each([&](const Ran& ran, const Interval& whole) {
            const Interval part = clipped(whole);
            if (part.end_s > part.start_s) each_one(ran, part);
        });
    }

private:
    const ReplayedIteration& replayed_;
    std::uint32_t first_;
    TaskId update_ = 0;
    Interval window_;
    std::vector<std::vector<TaskId>> meetings_;
    std::vector<std::uint32_t> meeting_of_;  ///< by task; of no account for those that exchange nothing
};

}  // namespace syncline
