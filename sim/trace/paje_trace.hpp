#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/output/files.hpp"
#include "sim/trace/limits.hpp"

/// Timelines in the Paje format, which pj_dump, R scripts based on it, and ViTE read.
///
/// A cluster contains nodes, and a node contains streams. Tasks are states of a stream with acts pushed onto them, and
/// a message is a link from the stream that sends it to the stream in which it arrives. Links of the fabric are
/// containers with a variable `use`, in percent of their bandwidth. The value of a state is its kind (forward, push,
/// ...), so that kinds have colours; its name and iteration are in separate fields, which `pj_dump -u` prints, as are
/// the bytes of messages. Times are seconds of simulated time since the start of the replay, with a resolution of a
/// nanosecond, and events are in order of time. Comments at the head say what was left out.
///
/// The format cannot represent double quotes in texts: names get single quotes instead.
///
/// Source: B. de Oliveira Stein, J. Chassin de Kergommeaux and G. Mounié, "Pajé trace file format", 2013.
namespace syncline {

/// Writes the timeline to `sink`; `title` names its subject. Returns Drawing::account() including links, so that the
/// caller can report it, too.
std::vector<std::string> write_paje_trace(const TimelineView& view, const TraceLimits& limits, const std::string& title,
                                          const Sink& sink);

}  // namespace syncline
