#include "sim/platform/simgrid_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "sim/topology/shape.hpp"

namespace syncline {

namespace {

struct Limits {
    double least, most;
    const char* hint;
};

Limits limits_of(TraceOf of) {
    switch (of) {
        case TraceOf::bandwidth:
            return {least_bandwidth_Bps, most_bandwidth_Bps, "bandwidths are from 1 to 1e18, in bytes per second"};
        case TraceOf::latency:
            return {0, most_latency_s, "latencies are from 0 to 3600, in seconds"};
        case TraceOf::speed:
            return {1e-9, 1e9, "a speed is a part of the host's, above 0"};
        case TraceOf::link_state:
        case TraceOf::host_state:
            break;
    }
    return {-1e9, 1e9, "a state is 1 (on) or 0 (off)"};
}

/// One line, word by word.
class Line {
public:
    Line(std::string_view text, std::size_t number) : rest_(text), number_(number) { skip_spaces(); }

    bool empty() const { return rest_.empty(); }
    std::string_view word() {
        const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
        last_ = column_;
        take(word.size());
        skip_spaces();
        return word;
    }
    double number(const char* what) {
        if (empty()) refuse(fmt::format("{} is missing", what), "write `time value`");
        const std::string_view text = word();
        double number = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size() || !std::isfinite(number))
            refuse(fmt::format("'{}' is no number", text), "");
        return number;
    }
    void end() {
        if (!empty()) {
            const std::string_view more = word();
            refuse(fmt::format("unexpected '{}'", more), "write `time value`");
        }
    }
    /// Throws an error at the last word.
    [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
        throw XmlError({number_, last_}, what, hint);
    }

private:
    void take(std::size_t count) {
        rest_.remove_prefix(count);
        column_ += count;
    }
    void skip_spaces() { take(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

    std::string_view rest_;
    std::size_t number_, column_ = 1, last_ = 1;
};

class TraceReader {
public:
    explicit TraceReader(TraceOf of) : limits_(limits_of(of)), of_(of) {}

    void read(Line line) {
        if (line.empty()) return;
        Line again = line;
        const std::string_view first = again.word();
        if (first.starts_with('#') || first.starts_with('%')) return;
        if (first == "PERIODICITY") return repeat(again, period_s_);
        if (first == "LOOPAFTER") return repeat(again, trace_.pause_s);
        if (first.starts_with("STOCHASTIC")) again.refuse("random traces are not allowed", "write lines `time value`");
        point(line);
    }

    SimGridTrace finish(std::size_t lines) {
        const XmlLocation end{std::max<std::size_t>(lines, 1), 1};
        if (trace_.points.empty()) throw XmlError(end, "the trace has no points", "write `time value`");
        const double last_s = trace_.points.back().time_s;
        if (period_s_) {
            if (*period_s_ < last_s)
                throw XmlError(
                    end, fmt::format("a period of {:g} s ends before the last point, at {:g} s", *period_s_, last_s));
            trace_.pause_s = *period_s_ - last_s;
        }
        if (trace_.pause_s && last_s + *trace_.pause_s < least_period_s)
            throw XmlError(end, fmt::format("the trace repeats itself every {:g} s", last_s + *trace_.pause_s),
                           "a period is at least 1 us");
        return std::move(trace_);
    }

private:
    void repeat(Line& line, std::optional<double>& time_s) {
        const double given_s = line.number("the time");
        if (given_s < 0 || given_s > latest_trace_s)
            line.refuse(fmt::format("a time of {:g} s is out of range", given_s), "times are from 0 to 1e9 s");
        if (period_s_ || trace_.pause_s) line.refuse("the trace already repeats itself", "");
        line.end();
        time_s = given_s;
    }

    void point(Line& line) {
        std::vector<SimGridTrace::Point>& points = trace_.points;
        const double time_s = line.number("the time");
        if (time_s < 0 || time_s > latest_trace_s)
            line.refuse(fmt::format("a time of {:g} s is out of range", time_s), "times are from 0 to 1e9 s");
        if (!points.empty() && time_s <= points.back().time_s)
            line.refuse(fmt::format("{:g} s is not after {:g} s", time_s, points.back().time_s), "times increase");
        double value = line.number("the value");
        if (value < limits_.least || value > limits_.most)
            line.refuse(fmt::format("{:g} is out of range", value), limits_.hint);
        // As SimGrid takes it: some platforms write -1.
        if (of_ == TraceOf::link_state || of_ == TraceOf::host_state) value = value > 0 ? 1 : 0;
        line.end();
        if (points.size() == most_trace_points) line.refuse(fmt::format("more than {} points", most_trace_points), "");
        points.push_back({time_s, value});
    }

    const Limits limits_;
    const TraceOf of_;
    SimGridTrace trace_;
    std::optional<double> period_s_;
};

}  // namespace

SimGridTrace parse_simgrid_trace(std::string_view text, TraceOf of) {
    TraceReader reader(of);
    std::size_t number = 0;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.ends_with('\r')) line.remove_suffix(1);
        reader.read(Line(line, ++number));
    }
    return reader.finish(number);
}

std::string text_of(const SimGridTrace& trace) {
    std::string text;
    for (const auto& [time_s, value] : trace.points) fmt::format_to(std::back_inserter(text), "{} {}\n", time_s, value);
    if (trace.pause_s) text += fmt::format("LOOPAFTER {}\n", *trace.pause_s);
    return text;
}

}  // namespace syncline
