#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/xml_reader.hpp"

/// Traces of platforms in SimGrid's format: values of links and hosts that change with simulated time
/// (https://simgrid.org/doc/latest/XML_reference.html, "Reacting to changes"). Our own reader, because SimGrid's reader
/// loops for ever over traces that repeat without end at one instant, and ends the process for wrong ones.
namespace syncline {

struct SimGridTrace {
    struct Point {
        double time_s = 0, value = 0;
        bool operator==(const Point&) const = default;
    };
    std::vector<Point> points;      ///< at least one; times increase
    std::optional<double> pause_s;  ///< from the last point until the points repeat; nothing: they do not

    bool operator==(const SimGridTrace&) const = default;
};

/// Meaning of a trace's values: B/s, seconds, the part of the speed that is there, or 1 and 0 for on and off.
enum class TraceOf { bandwidth, latency, link_state, speed, host_state };

/// Most points of the traces of all links and hosts. SimGrid needs 0.3 kB for each.
inline constexpr std::size_t most_trace_points = 1'000'000;
/// Greatest time in a trace.
inline constexpr double latest_trace_s = 1e9;
/// Least time after which a trace may repeat itself. SimGrid simulates every point.
inline constexpr double least_period_s = 1e-6;

/// Reads lines `time value`, `PERIODICITY seconds` (from a repetition to the next), `LOOPAFTER seconds` (from the last
/// point to the next repetition), and comments after `#` or `%`. Values have the limits of our own links. Throws
/// XmlError with the place in `text`. Random traces (STOCHASTIC) are refused: their results could not be repeated.
SimGridTrace parse_simgrid_trace(std::string_view text, TraceOf of);

/// Returns a trace in the same format.
std::string text_of(const SimGridTrace& trace);

}  // namespace syncline
