#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/trace/cast.hpp"
#include "sim/trace/limits.hpp"

/// What of a timeline is drawn, stream by stream, in whole nanoseconds from the start of the replay: viewers know
/// nothing finer, and what touched before rounding touches after it.
namespace syncline {

/// A task, or an act within it.
struct Slice {
    std::int64_t start_ns = 0, end_ns = 0;
    TaskId task = 0;
    std::uint32_t iteration = 0;
    const Act* act = nullptr;  ///< null: the task as a whole
};

/// Where a message leaves, or arrives.
struct ArrowEnd {
    std::int64_t at_ns = 0;
    std::uint32_t slice = 0;  ///< of its lane: the innermost that it is in
    MessageId message = 0;
    bool arrives = false;
};

struct Lane {
    std::vector<Slice> slices;     ///< a task before its acts, all by their starts; acts lie within their task
    std::vector<ArrowEnd> arrows;  ///< by time, then slice
};

struct DrawnCounts {
    std::uint64_t tasks = 0, acts = 0, messages = 0;
    bool any() const { return tasks + acts + messages > 0; }
};

class Drawing {
public:
    /// `view` outlives it.
    Drawing(const TimelineView& view, const TraceLimits& limits);

    const TimelineView& view() const { return view_; }
    const Cast& cast() const { return cast_; }
    TraceLevel level() const { return level_; }
    /// What is drawn of the time, in the replay's seconds.
    const Interval& time() const { return time_; }

    bool shows(ProcessId process) const { return shows_process_[process]; }
    ProcessId sender(const MessageRecord& message) const { return process_of(message.sender); }
    ProcessId receiver(const MessageRecord& message) const { return process_of(message.receiver); }

    /// Of a stream whose process is shown.
    Lane lane(StreamId stream) const;

    /// How much is drawn of what was recorded, and what is left out for which reason: lines for a reader.
    std::vector<std::string> account() const;

private:
    ProcessId process_of(TaskId task) const { return view_.graph.streams()[view_.graph.tasks()[task].stream].process; }
    /// Null if nothing of that iteration was recorded.
    const Interval* interval(TaskId task, std::uint32_t iteration) const;
    bool in_time(double start_s, double end_s) const;
    /// Where what happens to a process counts, if the level `needed` shows it: among what is drawn, or left out.
    DrawnCounts& counts(bool shown, bool timely, TraceLevel needed);
    void choose_processes(const TraceLimits& limits);
    void count_slices();
    void choose_messages();
    ArrowEnd end_of(MessageId message, bool arrives, const Lane& lane) const;

    const TimelineView& view_;
    Cast cast_;
    TraceLevel level_;
    Interval time_;
    bool whole_iteration_;
    std::vector<bool> shows_process_;
    struct MessageEnd {
        MessageId message;
        bool arrives;
    };
    std::vector<std::vector<MessageEnd>> ends_;            ///< by stream
    DrawnCounts drawn_, by_process_, by_time_, by_level_;  ///< left out for that reason, the first that holds
    std::uint32_t hidden_ranks_ = 0, hidden_servers_ = 0;
};

std::int64_t nanoseconds(double seconds);

}  // namespace syncline
