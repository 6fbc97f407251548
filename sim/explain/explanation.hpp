#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/replay/trace.hpp"
#include "sim/workload/compute_model.hpp"

/// Explanation of an iteration time as plain values, in seconds. The window is the measured iteration of the rank that
/// finishes last; if exchanges repeat only after several iterations, it spans all of these, and times are totals. Times
/// within the window are relative to its start.
namespace syncline {

/// Time breakdown of a rank's own iteration, from one update to the next; the parts add up to its length, which is
/// normally the window's. With jitter the iterations of ranks may differ in length; from a standing start the iteration
/// lasts until the last rank ends.
struct RankParts {
    double compute_s = 0;                ///< the device computes, possibly with concurrent activities
    double hidden_communication_s = 0;   ///< part of compute_s with a concurrent exchange (overlapped)
    double exposed_communication_s = 0;  ///< transfers, latencies and overheads of messages without computation
    double reduction_s = 0;              ///< reduction of arrived data, and nothing of the above
    double copies_s = 0;                 ///< copies between host and device, and nothing of the above
    /// In an exchange that other members have not entered yet, or for a task that the next computation depends on: of
    /// other ranks, servers or stages, a fusion cycle, a copy. Breakdown::waiting_s is the second of these; the first
    /// is exposed communication there.
    double waiting_s = 0;
    double idle_s = 0;  ///< none of the above

    double sum_s() const { return compute_s + exposed_communication_s + reduction_s + copies_s + waiting_s + idle_s; }
};

/// Computation time of a layer on the rank that finishes last.
struct LayerParts {
    std::string layer;
    double forward_s = 0, backward_s = 0;
};

/// A kernel of the rank that finishes last, or what its device does beside them: see window_parts.hpp.
struct KernelParts {
    std::string kernel;               ///< "hidden units", "waits for launches by the host"
    std::optional<Pass> pass = {};    ///< nothing if it is no kernel
    std::optional<Bound> bound = {};  ///< the same
    double count = 0;                 ///< how often it runs in the window; 0 if it is no kernel
    double seconds = 0;               ///< of all of them
};

/// An exchange of the rank that finishes last.
struct BucketParts {
    std::string what;  ///< "bucket 3 (conv5 ... fc6)", "activations of fc6"
    std::uint64_t bytes = 0;
    double start_s = 0,
           end_s = 0;            ///< start of its first and end of its last task on that rank; may be before the window
    double communication_s = 0;  ///< time in flight
    double exposed_s = 0;        ///< exposed time, waiting included, shared evenly by concurrent exchanges
};

enum class PathKind : std::uint8_t { compute, transfer, latency, overhead, copy, reduction, timer, waiting };

/// A segment of the critical path: each begins when the previous one ends.
struct PathPiece {
    PathKind kind = PathKind::compute;
    std::string what;   ///< "backward of fc6", "bucket 3 (fc6)", "push of fc6"
    std::string where;  ///< "rank 3", "rank 3 -> server 0"
    std::string link;   ///< of a transfer: the link on its route with the highest load relative to its bandwidth
    double start_s = 0, end_s = 0;
    const char* phase = "";  ///< of its task: "forward", "dispatch"
};

/// All segments of tasks of one phase, waiting included, and their share of the window.
struct PhaseShare {
    std::string phase;  ///< "forward", "dispatch"
    double seconds = 0, share = 0;
};

/// All segments of one kind and task, and their share of the window.
struct PathShare {
    PathKind kind = PathKind::compute;
    std::string what;
    std::string link;       ///< of transfers: the link with most of their time; else empty
    std::size_t links = 0;  ///< number of links of transfers
    std::size_t pieces = 0;
    double seconds = 0, share = 0;
};

/// A user of a link.
struct LinkShare {
    std::string what;  ///< "bucket 3 (fc6)"
    std::uint64_t bytes = 0;
};

/// Use of one direction of a link in the window.
struct LinkParts {
    std::string link;
    double bandwidth_Bps = 0;
    std::uint64_t bytes = 0;
    double busy_s = 0;       ///< time in which at least one message flows over it
    double utilisation = 0;  ///< bytes divided by the link's capacity in the window
    double lost_s = 0;  ///< sum over its messages of the additional transfer time compared with each alone on its route
    std::vector<double> profile;  ///< utilisation in equal intervals of the window; a message's bytes are spread evenly
                                  ///< over its transfer
    std::vector<LinkShare> shares;  ///< its users, the most bytes first
    std::size_t alike = 1;          ///< number of links with as many bytes, to 1 %, whose names differ in numbers only
};

/// A cause of the difference between theory and simulation.
struct Difference {
    std::string cause;  ///< "contention", "stragglers", "overlap", "pipeline fill", ...
    double seconds = 0;
    std::string text;  ///< description
};

struct TheoryTerm {
    std::string symbol, meaning;  ///< "α", "latency of a message"
    std::optional<double> value;
    std::string unit;  ///< "s", "s/B", "B", ""
};

struct Theory {
    std::vector<TheoryTerm> terms;
    std::string formula;  ///< ClosedForm::formula
    std::string why_not;  ///< ClosedForm::why_not
    std::optional<double> closed_form_s;
    double lower_bound_s = 0;
    std::string lower_bound;  ///< what bounds it: "computation", "bytes over host-0->switch-0"
    double simulated_s = 0;
    std::vector<Difference> differences;
};

/// The plan simulated again with one change.
struct WhatIf {
    std::string change;  ///< "link:nic x2", "latency x0.5", as --what-if takes it, or "servers.placement sliced"
    std::string text;    ///< description
    std::optional<double> iteration_time_s;
    std::optional<double> throughput_samples_per_s;
    double speed_up = 1;  ///< throughput relative to the throughput without the change
    std::string problem;  ///< why the change cannot be simulated, if it cannot
};

struct Explanation {
    Result result;
    std::string diagnosis;  ///< see diagnosis.hpp
    /// "messages", or "tasks" if there are too many messages to record: then exchanges are one segment each, and links
    /// have only bytes and utilisation.
    std::string level;
    std::string level_reason;
    std::uint32_t iterations = 1;  ///< number of iterations in the window
    double window_s = 0;
    std::uint32_t last_rank = 0;  ///< rank that finishes last
    std::vector<RankParts> ranks;
    std::vector<LayerParts> layers;
    std::vector<KernelParts> kernels;  ///< the longest first; none if the compute model has none
    double optimizer_step_s = 0;       ///< of the rank that finishes last
    double offload_copies_s = 0;       ///< of the same rank: gradients to the host and weights back, with Offload
    std::vector<BucketParts> buckets;
    std::vector<PathPiece> path;               ///< in order of time
    std::vector<PathShare> shares;             ///< the largest first
    std::vector<PhaseShare> phases;            ///< the largest first
    std::vector<LinkParts> links;              ///< the ten most utilised links, the most utilised first
    std::optional<double> uncontended_time_s;  ///< iteration time without contention
    Theory theory;
    std::vector<WhatIf> what_if;  ///< the largest gain first; empty if not requested
};

/// Input for drawing a timeline: the recording and the names of tasks.
struct TimelineView {
    TaskGraph graph;
    Timeline timeline;               ///< includes `trace` at the level of messages
    std::vector<std::string> names;  ///< by task: "backward of fc6", "bucket 3 (fc6)"
    Interval window;                 ///< measured iteration, in seconds of the replay
    std::uint32_t iteration = 0;     ///< number of the measured iteration
};

}  // namespace syncline
