#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Semaphore.hpp>

#include "sim/replay/agreement.hpp"
#include "sim/replay/folding.hpp"
#include "sim/replay/mailbox_pool.hpp"
#include "sim/replay/recorder.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/steady.hpp"
#include "sim/replay/wires.hpp"

/// What the actors of one simulation share. SimGrid runs one actor at a time, so nothing here needs a lock.
namespace syncline {

/// That what is still to come is known, as iterations repeat.
struct AllKnown {};

class Session {
public:
    Session(Wires& network, const TaskGraph& task_graph, const ReplayOptions& options);

    /// Puts the calling actor, of `stream`, to sleep until `task` has ended in iteration `iteration`.
    void await(StreamId stream, TaskId task, std::uint32_t iteration);
    /// The task that `stream` takes as its `position`-th of iteration `iteration`; where the stream is in a queue, its
    /// actor sleeps until that is agreed on.
    TaskId next(StreamId stream, std::uint32_t iteration, std::uint32_t position) {
        if (graph.streams()[stream].queue == Stream::no_queue) return graph.tasks_of(stream)[position];
        return agreement_.next(stream, iteration, position);
    }
    void started(TaskId task, std::uint32_t iteration, double now_s);
    /// Has the engine throw AllKnown, before time goes on, where no more need be simulated.
    void ended(TaskId task, std::uint32_t iteration, double now_s);
    /// Puts the calling actor, of the compute stream of `process`, to sleep for what `seconds` of undisturbed
    /// computation take at its pace, beside the exchanges of the same process.
    void compute(ProcessId process, std::uint32_t iteration, double seconds);
    /// Puts the calling actor to sleep until the next tick of a clock that `process` started when it began `iteration`.
    void await_tick(ProcessId process, std::uint32_t iteration, double period_s);
    /// How long a copy of `seconds` out of the device of `process`, or into it, takes from now on: behind those that
    /// others of its streams have begun. There is one at a time each way.
    double copy_s(ProcessId process, bool outwards, double seconds);
    /// An exchange of `process` begins or ends.
    void exchange_begins(ProcessId process);
    void exchange_ends(ProcessId process);
    void sent(std::uint32_t iteration, std::uint64_t messages);
    /// What others stood for: counted as sent, too.
    void folded(std::uint32_t iteration, std::uint64_t messages);
    /// Null where everything is simulated.
    Folding* folding() { return folding_ ? &*folding_ : nullptr; }
    /// That in the measured iterations so many bytes went from one process to another, and how many that was on wires.
    /// Where messages choose their way when they start, the links have it from each of them (Wires::through).
    void carried(const MailboxPool::Pair& pair, std::uint64_t bytes, std::uint64_t on_wires);
    /// Whether this is one of the iterations in which messages and bytes are counted.
    bool measures(std::uint32_t iteration) const {
        if (steady_) return iteration == 0;  // all iterations send the same, and the others may never come
        return iteration <= options_.measured && iteration + options_.window > options_.measured;
    }
    /// Where to write what happens in this iteration; null if nobody asked, or it is none of those that the measured
    /// ones reach into.
    Recorder* recorder(std::uint32_t iteration) {
        const bool records = iteration <= options_.measured && iteration + options_.window >= options_.measured;
        return recorder_ && records ? &*recorder_ : nullptr;
    }
    Recorder::Connection* connection(std::uint32_t channel, ProcessId from, ProcessId to) {
        return recorder_ ? &recorder_->connection(channel, from, to) : nullptr;
    }
    /// Makes means of what was counted.
    void finish();
    /// The step of its exchange that a stream is in, for stuck().
    void at_step(StreamId stream, std::uint32_t step, std::uint32_t repetition) { steps_[stream] = {step, repetition}; }

    /// The tasks at which streams stand that have not come to their end, in words.
    std::string stuck() const;

    Wires& wires;
    const TaskGraph& graph;
    const std::uint32_t iterations;
    Timeline timeline;
    MailboxPool mailboxes;

private:
    static constexpr StreamId nobody = ~StreamId{0};

    struct Waiter {
        simgrid::s4u::SemaphorePtr wake;
        StreamId next = nobody;  ///< another stream that waits for the same task
    };

    /// What slows a process's computation down, and how it hears of that.
    struct Computation {
        std::uint32_t exchanges = 0;  ///< under way
        bool under_way = false;
        simgrid::s4u::SemaphorePtr changed;
    };

    /// Until when the device's copy engines are taken.
    struct CopyEngines {
        double out_until_s = 0, in_until_s = 0;
    };

    /// Iteration `last` is like the one before it: so are all to come.
    void repeat_from(std::uint32_t last);
    Interval* interval(TaskId task, std::uint32_t iteration);
    static void pace_changes(Computation& computation);

    const ReplayOptions& options_;
    Agreement agreement_;
    std::vector<std::uint32_t> ended_;       ///< by task: iterations it has ended in
    std::vector<StreamId> first_waiter_;     ///< by task
    std::vector<Waiter> waiters_;            ///< by stream
    std::vector<Computation> computations_;  ///< by process
    std::vector<CopyEngines> engines_;       ///< by process
    /// By process: when it began an iteration, of even and of odd number. See TaskGraph::begin_with() for why two do.
    std::vector<std::array<double, 2>> began_s_;
    struct At {
        std::uint32_t step = 0, repetition = 0;
    };
    std::vector<At> steps_;  ///< by stream
    std::optional<Recorder> recorder_;
    std::optional<Folding> folding_;
    std::optional<Steady> steady_;       ///< where iterations could be found to repeat
    std::vector<std::uint64_t> folded_;  ///< messages, by iteration
    std::uint32_t shown_;                ///< the iteration that stands for the measured one; else the same
    std::uint64_t messages_ = 0;
    std::uint64_t next_report_ = 0;
};

}  // namespace syncline
