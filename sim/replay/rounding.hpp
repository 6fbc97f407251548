#pragma once

#include "sim/replay/lanes.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/replay/wires.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Effects of exchanges that are rounded up to blocks of equal size: see TaskGraph::represent().
///
/// Counts. The members of such an exchange send up to a byte less with each block than is simulated, each another one,
/// so that none stands for others. The messages of all members, and of those of the images of their group, are counted
/// from their programs for the real number of bytes.
///
/// Times. Suppose that no two messages can ever share a link, because each link has those of one lane to one peer. Then
/// a message takes a time of its own, and what waits for several things begins when the last of them ends, so that ends
/// are maxima of sums of these times. Rounding makes no message shorter, and an end at most so much later as the
/// messages on one path of dependencies become longer together. If the messages that are sent in a step are received in
/// the same step, a path has one of each step of an exchange. So the error of an iteration's end is at most
///
///     Σ over its exchanges, Σ over their steps, largest difference that rounding makes to a message and its reduction.
///
/// It adds up over iterations. There is no bound if messages share links: those that the rounding keeps in step might
/// meet others without it (3.1 % was seen). Nor is there one if a time does not only delay what follows: with clocks,
/// with computation that exchanges slow down, with copies between device and buffers, with windows, and with several
/// lanes.
namespace syncline {

/// Returns true if any exchange is rounded up.
bool any_rounded(const TaskGraph& graph);

/// Adds to `timeline` and `wires` what rounded exchanges send in an iteration, and to the links of `wires` what they
/// send in `iterations`. Only `timeline`'s bytes are changed.
void count_rounded(const TaskGraph& graph, const Lanes& lanes, std::uint32_t iterations, Timeline& timeline,
                   Wires& wires);

/// Returns the maximum error of an iteration's end that the rounding in one iteration causes; infinite without a bound.
double rounding_error_s(const TaskGraph& graph, const Lanes& lanes, const Wires& wires);

}  // namespace syncline
