#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/trace/cast.hpp"
#include "sim/trace/limits.hpp"

/// The visible part of a timeline, stream by stream. Times are whole nanoseconds since the start of the replay, the
/// resolution of viewers; events that touch before rounding touch after it.
namespace syncline {

/// A task, or an act inside a task.
struct Slice {
    std::int64_t start_ns = 0, end_ns = 0;
    TaskId task = 0;
    std::uint32_t iteration = 0;
    const Act* act = nullptr;  ///< null: the task itself
};

/// The start or the end of a message's arrow.
struct ArrowEnd {
    std::int64_t at_ns = 0;
    std::uint32_t slice = 0;  ///< index in its lane: the innermost slice around it
    MessageId message = 0;
    bool arrives = false;
};

/// A row of a timeline: the tasks of a stream with the acts of its first lane (sim/replay/lanes.hpp), or the tasks in
/// which a further lane acted, with its acts.
struct Lane {
    std::vector<Slice> slices;     ///< sorted by start, a task before its acts; acts lie inside their task
    std::vector<ArrowEnd> arrows;  ///< sorted by time, then slice
};

struct DrawnCounts {
    std::uint64_t tasks = 0, acts = 0, messages = 0;
    bool any() const { return tasks + acts + messages > 0; }
};

class Drawing {
public:
    /// `view` must outlive the drawing.
    Drawing(const TimelineView& view, const TraceLimits& limits);

    const TimelineView& view() const { return view_; }
    const Cast& cast() const { return cast_; }
    TraceLevel level() const { return level_; }
    /// Returns the drawn time range, in seconds of the replay.
    const Interval& time() const { return time_; }

    bool shows(ProcessId process) const { return shows_process_[process]; }
    ProcessId sender(const MessageRecord& message) const { return process_of(message.sender); }
    ProcessId receiver(const MessageRecord& message) const { return process_of(message.receiver); }

    /// Counts the rows: one for each stream, followed by those of further lanes.
    std::uint32_t lanes() const { return static_cast<std::uint32_t>(streams_.size()); }
    StreamId stream(std::uint32_t lane) const { return streams_[lane]; }
    /// Returns for example "rank 3 exchange", or "rank 3 exchange, channel 1" for a further lane.
    std::string name(std::uint32_t lane) const;
    /// Returns a row whose process is shown.
    Lane lane(std::uint32_t lane) const;

    /// Returns lines that tell a reader how much of the recording is drawn and what is left out for which reason.
    std::vector<std::string> account() const;

private:
    ProcessId process_of(TaskId task) const { return view_.graph.streams()[view_.graph.tasks()[task].stream].process; }
    /// Returns the interval of a task, or null if that iteration was not recorded.
    const Interval* interval(TaskId task, std::uint32_t iteration) const;
    bool in_time(double start_s, double end_s) const;
    /// Returns the counter for an event that needs the level `needed`: drawn, or left out for a reason.
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
    std::vector<StreamId> streams_;                        ///< by lane
    std::vector<std::vector<MessageEnd>> ends_;            ///< by lane
    DrawnCounts drawn_, by_process_, by_time_, by_level_;  ///< left out by the first reason that applies
    std::uint32_t hidden_ranks_ = 0, hidden_servers_ = 0;
};

std::int64_t nanoseconds(double seconds);

}  // namespace syncline
