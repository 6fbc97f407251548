#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/platform/place.hpp"
#include "sim/replay/trace.hpp"

/// Events of a task graph's replay, in simulated seconds from the start.
namespace syncline {

struct Interval {
    double start_s = 0;
    double end_s = 0;
};

/// One direction of a link and its traffic in an iteration: bytes on the wires, which may be more than the data (see
/// Protocol).
struct LinkUse {
    std::string name;
    double bandwidth_Bps = 0;
    std::uint64_t bytes = 0;
    /// For the link with the highest utilisation, if several pairs of processes share it: the number of other paths,
    /// between the ends of the messages that contributed most bytes, that are equally short, avoid the link, are unused
    /// (some link of theirs carried nothing), and would carry less than this link with one of these messages more.
    double unused_ways = 0;
    LinkKind kind = LinkKind::other;  ///< `other`: of a native platform
};

struct Timeline {
    std::vector<double> iteration_end_s;  ///< end of the last task of each iteration
    /// Times of every task in the last measured iteration, which is the last entry, and in iterations before it: up to
    /// twice as many as are measured, and as many more as dependencies reach back beyond one iteration.
    std::vector<std::vector<Interval>> recorded;
    /// Of a graph of parts: by part, the end of the last task of each of its iterations.
    std::vector<std::vector<double>> part_end_s;
    /// By process: time in which its compute stream computes, in all iterations of the replay; 0 if it is represented
    /// by another one.
    std::vector<double> computed_s;
    /// Of a graph of parts, by process, in all its iterations: time in which an exchange is in flight and the compute
    /// stream is idle, and in which each of its streams on the host works (see Activity). Else empty.
    std::vector<double> exposed_s, on_host_s;
    std::uint64_t messages = 0;  ///< sent in one iteration by all processes: the mean, if several are measured
    std::uint64_t bytes_sent = 0;
    std::uint64_t messages_folded = 0;    ///< number of these messages that were not simulated
    double folding_error_s = 0;           ///< maximum error in an iteration's time due to folding; infinite: unknown
    std::uint32_t iterations_folded = 0;  ///< not simulated, because they equal the previous one
    std::uint32_t images = 1;             ///< number of processes that each simulated one stands for: see symmetry.hpp
    double uneven_s = 0;                  ///< largest difference of latency between routes of images that was averaged
    /// Bytes by process.
    std::vector<std::uint64_t> sent_by, received_by;
    std::vector<LinkUse> links;  ///< links that carried any bytes
    Trace trace;                 ///< empty unless ReplayOptions::messages asks for it

    const std::vector<Interval>& measured() const { return recorded.back(); }
};

}  // namespace syncline
