#pragma once

#include <cstdint>
#include <vector>

#include "sim/analysis/experiment.hpp"

/// Access to the recorded iterations of a replay, for explanations.
namespace syncline {

/// A task in a given iteration.
struct Ran {
    TaskId task = 0;
    std::uint32_t iteration = 0;
    bool operator==(const Ran&) const = default;
};

class Recorded {
public:
    explicit Recorded(const ReplayedIteration& replayed);

    /// Returns the update that ends the window: that of the rank that finishes last, the first of several.
    Ran last_update() const { return {update_, replayed_.measured}; }
    ProcessId last_rank() const { return process_of(update_); }
    /// Returns the window: from that rank's previous update, or the start of the simulation, to this one.
    const Interval& window() const { return window_; }

    const Breakdown& time() const { return replayed_.time; }
    const TaskGraph& graph() const { return replayed_.graph; }
    const Timeline& timeline() const { return replayed_.timeline; }
    const Trace& trace() const { return replayed_.timeline.trace; }
    std::uint32_t iterations() const { return replayed_.averaged; }  ///< number in the window
    std::uint32_t first_iteration() const { return first_; }
    std::uint32_t last_iteration() const { return replayed_.measured; }
    const Interval& interval(const Ran& ran) const { return timeline().recorded[ran.iteration - first_][ran.task]; }
    ProcessId process_of(TaskId task) const { return graph().streams()[graph().tasks()[task].stream].process; }
    /// Returns the part of `interval` that lies in the window; its length is 0 if there is none.
    Interval clipped(const Interval& interval) const;
    /// Returns the window of each process's own updates, or the common window for a process without updates.
    std::vector<Interval> own_windows() const;

    /// Returns the tasks, one of each member, that take part in the same execution of an exchange. Micro-batches
    /// execute a shared exchange several times: the n-th execution has the n-th task of each member.
    const std::vector<TaskId>& meeting(TaskId task) const { return meetings_[meeting_of_[task]]; }

    /// Calls each_one(ran, interval) for each task of each iteration.
    template <class Each>
    void each(Each each_one) const {
        for (std::uint32_t iteration = first_; iteration <= replayed_.measured; ++iteration)
            for (TaskId task = 0; task < graph().tasks().size(); ++task)
                each_one(Ran{task, iteration}, interval({task, iteration}));
    }
    /// Calls each_one(ran, part) for each task that reaches into the window, with the part inside.
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
    std::vector<std::uint32_t> meeting_of_;  ///< by task; unused for tasks without an exchange
};

}  // namespace syncline
