#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/replay/trace.hpp"

/// Why an iteration takes as long as it does: plain values, as explain() makes them and writers show them.
///
/// All times are seconds. The window is the measured iteration (of several, where exchanges come round after several:
/// then sums are of all of them) of the rank that finishes last; times within it count from its start.
namespace syncline {

/// What a rank does in its own iteration, from its update to its next one; the parts sum to its length. It is the
/// window's, but with jitter ranks' iterations may be of different lengths; from a standing start it lasts until the
/// last rank is through.
struct RankParts {
    double compute_s = 0;                ///< the device computes, whatever else goes on
    double hidden_communication_s = 0;   ///< of compute_s: an exchange is under way beside it
    double exposed_communication_s = 0;  ///< messages flow, have their latency or overhead, and nothing is computed
    double reduction_s = 0;              ///< what has arrived is summed, and nothing of the above
    double copies_s = 0;                 ///< between host and device, and nothing of the above
    double waiting_s = 0;                ///< in an exchange whose other members have not come to it yet
    double idle_s = 0;                   ///< nothing to do

    double sum_s() const { return compute_s + exposed_communication_s + reduction_s + copies_s + waiting_s + idle_s; }
};

/// Of the rank that finishes last.
struct LayerParts {
    std::string layer;
    double forward_s = 0, backward_s = 0;
};

struct BucketParts {
    std::string what;  ///< "bucket 3 (conv5 ... fc6)", "activations of fc6"
    std::uint64_t bytes = 0;
    double start_s = 0, end_s = 0;  ///< of its first and last task on that rank; may reach before the window
    double communication_s = 0;     ///< under way
    double exposed_s = 0;  ///< its share of the exposed time (waiting included): split evenly among those under way
};

enum class PathKind : std::uint8_t { compute, transfer, latency, overhead, copy, reduction, timer, waiting };

/// A piece of the chain that decided the window: each begins when the one before it ends.
struct PathPiece {
    PathKind kind = PathKind::compute;
    std::string what;   ///< "backward of fc6", "bucket 3 (fc6)", "push of fc6"
    std::string where;  ///< "rank 3", "rank 3 -> server 0"
    std::string link;   ///< of a transfer: the link on its way with most to carry for its bandwidth
    double start_s = 0, end_s = 0;
};

/// Pieces of one kind and of the same thing: how much of the window they are.
struct PathShare {
    PathKind kind = PathKind::compute;
    std::string what;
    std::string link;       ///< of transfers: the one with most of their time; else empty
    std::size_t links = 0;  ///< how many there are of them
    std::size_t pieces = 0;
    double seconds = 0, share = 0;
};

struct LinkShare {
    std::string what;  ///< "bucket 3 (fc6)"
    std::uint64_t bytes = 0;
};

struct LinkParts {
    std::string link;
    double bandwidth_Bps = 0;
    std::uint64_t bytes = 0;
    double busy_s = 0;            ///< at least one message flows over it
    double utilisation = 0;       ///< bytes over what it could have carried in the window
    double lost_s = 0;            ///< sum over its messages: how much longer they flowed than alone on their way
    std::vector<double> profile;  ///< utilisation in equal parts of the window; messages' bytes spread evenly over them
    std::vector<LinkShare> shares;  ///< who used it, the most bytes first
};

/// One line of the difference between theory and simulation.
struct Difference {
    std::string cause;  ///< "contention", "stragglers", "overlap", "pipeline fill", ...
    double seconds = 0;
    std::string text;  ///< in words
};

struct TheoryTerm {
    std::string symbol, meaning;  ///< "α", "latency of a message"
    std::optional<double> value;
    std::string unit;  ///< "s", "s/B", "B", ""
};

struct Theory {
    std::vector<TheoryTerm> terms;
    std::string formula;  ///< with the terms filled in
    std::optional<double> closed_form_s;
    double lower_bound_s = 0;
    std::string lower_bound;  ///< of what: "computation", "bytes of host-0->switch-0"
    double simulated_s = 0;
    std::vector<Difference> differences;
};

/// The same with one thing changed, simulated again.
struct WhatIf {
    std::string change;  ///< "nic x2", "latency x0.5", as --what-if takes it
    std::string text;    ///< in words
    std::optional<double> iteration_time_s;
    std::optional<double> throughput_samples_per_s;
    double speed_up = 1;  ///< throughput over that without the change
    std::string problem;  ///< why there is none, where it cannot be simulated
};

struct Explanation {
    Result result;
    /// "messages", or "tasks" where there are too many messages to record: then exchanges are one piece each, and links
    /// have their bytes alone.
    std::string level;
    std::string level_reason;
    std::uint32_t iterations = 1;  ///< in the window
    double window_s = 0;
    std::uint32_t last_rank = 0;  ///< that finishes last
    std::vector<RankParts> ranks;
    std::vector<LayerParts> layers;
    std::vector<BucketParts> buckets;
    std::vector<PathPiece> path;               ///< in the order of time
    std::vector<PathShare> shares;             ///< the largest first
    std::vector<LinkParts> links;              ///< the ten with the highest utilisation, that first
    std::optional<double> uncontended_time_s;  ///< the iteration if no message shared a link with another
    Theory theory;
    std::vector<WhatIf> what_if;  ///< the largest gain first; empty if nobody asked
};

/// What a timeline is drawn from: everything that was recorded, and what tasks are called.
struct TimelineView {
    TaskGraph graph;
    Timeline timeline;               ///< with `trace`, at the level of messages
    std::vector<std::string> names;  ///< by task: "backward of fc6", "bucket 3 (fc6)"
    Interval window;                 ///< the measured iteration, in the replay's seconds
    std::uint32_t iteration = 0;     ///< its number
};

}  // namespace syncline
