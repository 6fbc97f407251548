#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/agreement.hpp"
#include "sim/replay/lanes.hpp"
#include "sim/replay/recorder.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/ring_folding.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/replay/speeds.hpp"
#include "sim/replay/steady.hpp"
#include "sim/replay/symmetry.hpp"
#include "sim/replay/wires.hpp"

/// State shared by the streams of one simulation. One stream runs at a time, so no locks are needed.
namespace syncline {

/// Thrown when the rest of the simulation is known, because iterations repeat.
struct AllKnown {};

class Session {
public:
    /// `symmetry`: null if all processes are simulated.
    Session(Simulator& runner, Wires& network, const Speeds& speeds_of_processes, const TaskGraph& task_graph,
            const Lanes& lanes_of_streams, const Symmetry* symmetry, const ReplayOptions& options);

    bool has_ended(TaskId task, std::uint32_t iteration) const { return ended_[task] > iteration; }
    /// Makes `stream` wait until `task` has ended in iteration `iteration`.
    Coroutine<> await(StreamId stream, TaskId task, std::uint32_t iteration);
    /// Returns the task that `stream`, which is in a queue, executes as its `position`-th of iteration `iteration`, as
    /// soon as the queue has agreed on it.
    Coroutine<TaskId> next(StreamId stream, std::uint32_t iteration, std::uint32_t position) {
        return agreement_.next(stream, iteration, position);
    }
    void started(TaskId task, std::uint32_t iteration, double now_s);
    /// Makes the simulator throw AllKnown, before simulated time advances, if the rest need not be simulated.
    void ended(TaskId task, std::uint32_t iteration, double now_s);
    /// Makes `stream`, the compute stream of a process, sleep for the time that `seconds` of undisturbed computation
    /// take at the process's pace, with concurrent exchanges of the same process; less if the task `until` ends before
    /// in this iteration.
    Coroutine<> compute(StreamId stream, std::uint32_t iteration, double seconds, TaskId until = no_task);
    /// Makes `stream` wait until as many dependencies of `task` have ended as it waits for:
    /// TaskGraph::wait_for_first().
    Coroutine<> await_first(StreamId stream, TaskId task, std::uint32_t iteration);
    /// Makes `stream` wait for its turn, and takes the processor that it shares for so many seconds from then on.
    Coroutine<> turn(StreamId stream, double seconds);
    /// Returns whether the task is given up when it is about to begin: TaskGraph::give_up().
    bool given_up(TaskId task, std::uint32_t iteration);
    /// Returns the time until the next tick of a clock that `process` started when it began `iteration`.
    double until_tick_s(ProcessId process, std::uint32_t iteration, double period_s) const;
    /// Makes `lane` wait until its copy of `seconds` out of the device of its process, or into it, has ended: after the
    /// copies that others of the process's lanes have begun. There is one at a time in each direction; of lanes that
    /// are ready at the same instant, the one with the lowest number is first.
    Coroutine<> copy(LaneId lane, bool outwards, double seconds);
    /// Counts an exchange of `process` that begins or ends. Lets its computation set its pace again if that changes.
    void count_exchange(ProcessId process, ExchangeId exchange, bool begins);
    void sent(std::uint32_t iteration, std::uint64_t messages);
    /// Counts folded messages as sent.
    void folded(std::uint32_t iteration, std::uint64_t messages);
    /// Returns true if the process is simulated, not represented by another one.
    bool simulated(ProcessId process) const { return symmetry_ == nullptr || symmetry_->simulated(process); }
    /// Returns the pair whose messages stand for those of this pair.
    Pair canonical(const Pair& pair) const { return symmetry_ == nullptr ? pair : symmetry_->canonical(pair); }
    /// Returns null if every step is simulated.
    RingFolding* folding() { return folding_ ? &*folding_ : nullptr; }
    /// Counts the bytes sent from one process to another in the measured iterations, and their bytes on the wires. If
    /// messages choose their path when they start, links are counted per message instead.
    void carried(const Pair& pair, std::uint64_t bytes, std::uint64_t on_wires);
    /// Returns the number of iterations that a process executes.
    std::uint32_t iterations_of(ProcessId process) const {
        return options_.parts.empty() ? iterations : options_.parts[graph.processes()[process].part].iterations;
    }
    /// Returns the time before which a process does nothing.
    double start_s(ProcessId process) const {
        return options_.parts.empty() ? 0 : options_.parts[graph.processes()[process].part].start_s;
    }
    /// Records that a stream has executed all its iterations. When all have but those in the background, the simulator
    /// throws AllKnown.
    void completed(StreamId stream);
    /// Returns true for the iterations in which messages and bytes are counted.
    bool measures(std::uint32_t iteration) const {
        if (steady_) return iteration == 0;  // all iterations send the same, and later ones may not be simulated
        if (!options_.parts.empty()) return true;
        return iteration <= options_.measured && iteration + options_.averaged > options_.measured;
    }
    /// Returns the recorder for this iteration; null if nothing is recorded, or if no measured iteration extends into
    /// this one.
    Recorder* recorder(std::uint32_t iteration) {
        const std::uint32_t before = options_.averaged + reach_ - 1;
        const bool records = iteration <= options_.measured && iteration + before >= options_.measured;
        return recorder_ && (records || !options_.parts.empty()) ? &*recorder_ : nullptr;
    }
    Recorder::Connection* connection(std::uint32_t channel, ProcessId from, ProcessId to) {
        return recorder_ ? &recorder_->connection(channel, from, to) : nullptr;
    }
    /// Turns counters into means.
    void finish();
    /// Describes the tasks at which unfinished streams are stuck. `step_of` returns the step and the repetition that a
    /// stream is at in its exchange.
    std::string stuck(const std::function<std::pair<std::uint32_t, std::uint32_t>(StreamId)>& step_of) const;

    Simulator& simulator;
    Wires& wires;
    const Speeds& speeds;
    const TaskGraph& graph;
    const Lanes& lanes;
    const std::uint32_t iterations;
    Timeline timeline;

private:
    static constexpr StreamId nobody = ~StreamId{0};

    /// State that slows a process's computation down.
    struct Computation {
        static constexpr StreamId none = ~StreamId{0};

        std::array<std::uint32_t, exchange_classes> exchanges{};  ///< number in flight, by kind
        StreamId under_way = none;                                ///< the stream that computes
        bool changed = false;                                     ///< since that stream has set its pace
    };

    /// What a process of a graph of parts does now.
    struct Doing {
        std::uint32_t computing = 0, exchanging = 0, on_host = 0;  ///< number of tasks
        double since_s = 0;
    };

    /// A device's copies in one direction.
    struct CopyEngine {
        double until_s = 0;                            ///< time until which it is busy
        std::vector<std::pair<LaneId, double>> ready;  ///< lanes that are ready at this instant, and their seconds
    };

    /// Ends the simulation: iteration `last` equals the one before it, and so will all that follow.
    void repeat_from(std::uint32_t last);
    Interval* interval(TaskId task, std::uint32_t iteration);
    /// Counts a task of a graph of parts that begins or ends.
    void count_activity(TaskId task, bool begins, double now_s);
    bool enough_ended(TaskId task, std::uint32_t iteration) const;
    void wait_for(StreamId stream, TaskId task) { next_waiter_[stream] = std::exchange(first_waiter_[task], stream); }
    void wait_no_more(StreamId stream, TaskId task);
    PartId part_of(TaskId task) const {
        return graph.processes()[graph.streams()[graph.tasks()[task].stream].process].part;
    }
    bool background(StreamId stream) const {
        return !options_.parts.empty() &&
               options_.parts[graph.processes()[graph.streams()[stream].process].part].background;
    }
    /// Returns the number of iterations whose mean counters are.
    std::uint32_t counted() const {
        // Fewer iterations may have been replayed than the window has.
        return options_.parts.empty() ? std::min(options_.averaged, options_.measured + 1) : 1;
    }
    /// Gives processes that are represented the times and bytes of those that represent them.
    void unfold();
    /// Returns the number of processes that a simulated one stands for.
    std::uint32_t images() const { return symmetry_ == nullptr ? 1 : symmetry_->images(); }

    const Symmetry* symmetry_;
    const ReplayOptions& options_;
    const std::uint32_t reach_;  ///< number of iterations before a measured one whose tasks may reach into it
    Agreement agreement_;
    std::vector<std::uint32_t> ended_;           ///< by task: iterations it has ended in
    std::vector<StreamId> first_waiter_;         ///< by task
    std::vector<StreamId> next_waiter_;          ///< by stream: another one that waits for the same task
    std::vector<Computation> computations_;      ///< by process
    std::vector<std::vector<TaskId>> choosing_;  ///< by task: those that wait for the first of several, this one too
    std::vector<bool> awaits_first_;             ///< by task: its stream is waiting for the first of several
    std::vector<double> turn_s_;                 ///< by set of streams that take turns: when the next one begins
    /// What the first member of an exchange that may be given up did, and how many members have not come yet.
    std::map<std::pair<ExchangeId, std::uint32_t>, std::pair<bool, std::size_t>> given_up_;
    std::vector<Doing> doing_;                        ///< by process; empty without parts
    std::vector<std::array<CopyEngine, 2>> engines_;  ///< by process: inwards, outwards
    std::vector<double> copied_s_;                    ///< by lane: the end of its copy
    /// By process: start times of an even and an odd iteration. See TaskGraph::begin_with() for why two are enough.
    std::vector<std::array<double, 2>> began_s_;
    std::optional<Recorder> recorder_;
    std::optional<RingFolding> folding_;
    std::optional<Steady> steady_;       ///< present if iterations may repeat
    std::vector<std::uint64_t> folded_;  ///< messages, by iteration
    std::uint32_t shown_;                ///< simulated iteration that represents the measured one, or that one itself
    std::size_t incomplete_ = 0;         ///< streams that have not executed all, but those in the background
    std::uint64_t messages_ = 0;
    std::uint64_t next_report_ = 0;
};

}  // namespace syncline
