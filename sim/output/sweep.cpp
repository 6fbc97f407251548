#include "sim/output/fidelity.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/text.hpp"
#include "sim/output/writers.hpp"

// Latency and bandwidth by size, the columns of nccl-tests: size, time, algorithm and bus bandwidth.

namespace syncline {

using namespace text;

namespace {

std::string micro(const std::optional<double>& value_s) {
    return value_s ? fmt::format("{:.2f}", *value_s * 1e6) : "-";
}

std::string giga(const std::optional<double>& value_Bps) {
    return value_Bps ? fmt::format("{:.3f}", *value_Bps / 1e9) : "-";
}

}  // namespace

std::string to_table(const SweepResult& result) {
    const std::string over = result.overlay.empty() ? "" : " over " + result.overlay;
    std::vector<Row> rows{{"size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "closed form (us)", "algorithm"}};
    for (const SweepPoint& point : result.points)
        rows.push_back({fmt::format("{}", point.bytes), micro(point.completion_time_s),
                        giga(point.algorithm_bandwidth_Bps), giga(point.bus_bandwidth_Bps), micro(point.closed_form_s),
                        point.algorithm});
    std::string lines = notes(result.notes);
    if (const std::string line = folded(result.folded); !line.empty()) lines = line + "\n" + lines;
    return fmt::format("{}, {}{}, {} ranks\n\n", result.operation, result.algorithm, over, result.ranks) +
           aligned(rows, 1) + (lines.empty() ? "" : "\n" + lines);
}

std::string to_table(const SweepReport& report) {
    std::string text = report.name + "\n";
    for (const SweepResult& result : report.results) text += "\n" + result.variant + ": " + to_table(result);
    return text;
}

}  // namespace syncline
