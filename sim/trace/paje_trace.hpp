#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/output/written_files.hpp"
#include "sim/trace/limits.hpp"

/// Timelines in the Paje format (B. de Oliveira Stein, J. Chassin de Kergommeaux and G. Mounié, "Pajé trace file
/// format", 2013), which pj_dump, R scripts and ViTE read. A cluster contains nodes, and a node streams. Tasks are
/// states of a stream with acts pushed onto them, a message is a link between streams, and links of the fabric are
/// containers with a variable `use`, in percent of their bandwidth. The value of a state is its kind (forward, push,
/// …), so that kinds have colours; name, iteration and the bytes of messages are in separate fields, which `pj_dump -u`
/// prints. Times are seconds of simulated time since the start of the replay, with a resolution of a nanosecond, in
/// order. Comments at the head say what was left out. Names get single quotes, since texts cannot contain double ones.
namespace syncline {

/// Writes the timeline to `sink`; `title` names its subject. Returns Drawing::account() including links, so that the
/// caller can report it, too.
std::vector<std::string> write_paje_trace(const TimelineView& view, const TraceLimits& limits, const std::string& title,
                                          const Sink& sink);

}  // namespace syncline
