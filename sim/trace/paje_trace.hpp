#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/output/files.hpp"
#include "sim/trace/limits.hpp"

/// A timeline in the Paje format, which pj_dump, R scripts around it, and ViTE read.
///
/// A cluster contains nodes, and those streams; tasks are states of a stream with acts pushed onto them, a message is a
/// link from where its sender puts it to where it has arrived. Links of the fabric are containers with a variable
/// `use`, in percent of their bandwidth. A state's value is its kind (forward, push, ...), so that kinds have colours;
/// its name and iteration are in fields of their own, which `pj_dump -u` prints, as are messages' bytes. Times are
/// seconds of simulated time from the start of the replay, to the nanosecond, and events in their order. What was left
/// out is in comments at the head.
///
/// The format has no way to write a double quote in a text: names get single ones.
///
/// Source: B. de Oliveira Stein, J. Chassin de Kergommeaux and G. Mounié, "Pajé trace file format", 2013.
namespace syncline {

/// Writes to `sink`; returns Drawing::account(), links included, for who wants to say it elsewhere too. `title`: of
/// what it is a timeline.
std::vector<std::string> write_paje_trace(const TimelineView& view, const TraceLimits& limits, const std::string& title,
                                          const Sink& sink);

}  // namespace syncline
