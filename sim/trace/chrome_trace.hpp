#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/output/written_files.hpp"
#include "sim/trace/limits.hpp"

/// Timelines in the Trace Event Format (JSON; N. Duca and D. Sinclair, "Trace Event Format"), which Perfetto and
/// chrome://tracing open. A node is a process and a stream a thread. Tasks are slices that contain their acts, a
/// message is an arrow between slices, and a link is a counter in percent of its bandwidth. Times are microseconds of
/// simulated time since the start of the replay, with a resolution of a nanosecond. The events of a thread are in order
/// of time, a slice before the slices inside it. An additional process "iteration" shows the measured window (see
/// TimelineView). `otherData` and the arguments of that slice say what was left out.
namespace syncline {

/// Writes the timeline to `sink`; `title` names its subject. Returns Drawing::account() including links, so that the
/// caller can report it, too.
std::vector<std::string> write_chrome_trace(const TimelineView& view, const TraceLimits& limits,
                                            const std::string& title, const Sink& sink);

}  // namespace syncline
