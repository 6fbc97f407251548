#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/output/files.hpp"
#include "sim/trace/limits.hpp"

/// A timeline in the Trace Event Format (JSON), which Perfetto and chrome://tracing open.
///
/// A node is a process and a stream a thread; tasks are slices, with acts within them, a message is an arrow from where
/// its sender puts it to where it has arrived, a link a counter in percent of its bandwidth. Times are microseconds of
/// simulated time from the start of the replay, to the nanosecond. Events of a thread are in the order of time, a slice
/// before what is within it, so that readers that keep a stack of open slices need no sorting. Besides, a process
/// "iteration" shows the measured one (or several, see TimelineView). What was left out is in `otherData` and in that
/// slice's arguments.
///
/// Source: N. Duca and D. Sinclair, "Trace Event Format", the document that both viewers refer to.
namespace syncline {

/// Writes to `sink`; returns Drawing::account(), links included, for who wants to say it elsewhere too. `title`: of
/// what it is a timeline.
std::vector<std::string> write_chrome_trace(const TimelineView& view, const TraceLimits& limits,
                                            const std::string& title, const Sink& sink);

}  // namespace syncline
