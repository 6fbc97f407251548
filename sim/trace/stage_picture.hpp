#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/output/written_files.hpp"
#include "sim/trace/limits.hpp"

/// The iteration as a picture: a row for the first rank of each stage, on a time axis, with a box for each pass and the
/// number of its microbatch. Where no pass runs, the row is grey: the bubble. Later virtual stages are paler; the lower
/// edge shows exchanges of gradients and weights. Self-contained SVG, 800 wide, with a background.
namespace syncline {

/// Writes the picture to `sink`. Of `limits`, the ranks choose the stages that have one of them, and the time is the
/// part that is drawn. Returns what it shows, for the caller to report.
std::vector<std::string> write_stage_picture(const TimelineView& view, const Lowered& training,
                                             const TraceLimits& limits, const std::string& title, const Sink& sink);

}  // namespace syncline
