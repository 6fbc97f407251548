#pragma once

#include "sim/explain/exchange_recording.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/report/report.hpp"

/// Messages for moving pictures, in columns with an entry for each message, in order of their start:
///
///     from, to                    processes
///     bytes                       on the wires
///     start_s, through_s, end_s   flow from, delivered at, and received with its latency at, since the window's start;
///                                 negative starts are in the iteration before
///     exchange, step              index of `exchanges`; step of the sender's program, repetitions counted
///     block, blocks               first block and number of consecutive ones; `more` has further ones by message
///     contributions               number of members whose data is in them
///     route                       index of `routes`, which are indices of `links`; -1: inside a process or device
///     reduces                     1: the receiver adds the data to its own
///     micro_batch                 of the sender's task; only if some differ from 0
///
/// -1 is unknown: see window_messages.hpp. Beside them are {processes, nodes, links: [{name, bandwidth_Bps}], routes,
/// exchanges: [{what, operation, algorithm, bytes, blocks, members, steps}], left_out, note}. `nodes` are vertices of
/// the fabric's picture, empty on a platform in SimGrid's format. An exchange has `slices` and `owners` (members, by
/// block) if it runs in channels whose orders differ. Times have nine digits of the window's length.
///
/// With more messages than PageLimits::messages those stay that start in the first 4 iterations of the window, if it
/// has more, and of these the ones that the processes with the lowest numbers send or receive; `left_out` counts the
/// rest.
namespace syncline {

/// Returns the messages of a training's window; null if none were recorded.
Json page_messages(const Lowered& training, const TimelineView& view, const PageLimits& limits);

/// Returns the same of an execution trace, whose exchanges have no names of algorithms.
Json page_messages(const Cluster& cluster, const TimelineView& view, std::int64_t ranks, const PageLimits& limits);

/// Returns the messages of a single exchange; null if there are none.
Json page_messages(const Cluster& cluster, const ExchangeRecording& recording, const PageLimits& limits);

}  // namespace syncline
