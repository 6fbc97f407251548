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
    std::uint32_t first_iteration() const { return first_; }
    std::uint32_t last_iteration() const { return replayed_.measured; }
    const Interval& interval(const Ran& ran) const { return timeline().recorded[ran.iteration - first_][ran.task]; }
    ProcessId process_of(TaskId task) const { return graph().streams()[graph().tasks()[task].stream].process; }
    /// The part of it that lies in the window; of no length if there is none.
    Interval clipped(const Interval& interval) const;

    /// Calls each(ran, interval) for each task that reaches into the window.
    template <class Each>
    void in_window(Each each) const {
        for (std::uint32_t iteration = first_; iteration <= replayed_.measured; ++iteration) {
            for (TaskId task = 0; task < graph().tasks().size(); ++task) {
                const Interval part = clipped(interval({task, iteration}));
                if (part.end_s > part.start_s) each(Ran{task, iteration}, part);
            }
        }
    }

private:
    const ReplayedIteration& replayed_;
    std::uint32_t first_;
    TaskId update_ = 0;
    Interval window_;
};

}  // namespace syncline
