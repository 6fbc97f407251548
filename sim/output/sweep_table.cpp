#include "sim/base/counted.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/fidelity_text.hpp"
#include "sim/output/notes.hpp"
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

std::vector<Column> table_columns(const SweepResult& result) {
    std::vector<Column> columns{{"size (B)", "bytes"},
                                {"time (us)", "completion_time_s"},
                                {"algbw (GB/s)", "algorithm_bandwidth_Bps"},
                                {"busbw (GB/s)", "bus_bandwidth_Bps"},
                                {"closed form (us)", "closed_form_s"},
                                {"algorithm", "algorithm", Shown::always, Align::left}};
    for (const SweepPoint& point : result.points) {
        add_row(columns,
                {fmt::format("{}", point.bytes), micro(point.completion_time_s), giga(point.algorithm_bandwidth_Bps),
                 giga(point.bus_bandwidth_Bps), micro(point.closed_form_s), point.algorithm});
    }
    return columns;
}

std::string to_table(const SweepResult& result, const TableLayout& layout) {
    const std::string over = result.overlay.empty() ? "" : " over " + result.overlay;
    std::string lines = notes(result.notes);
    if (const std::string line = folded(result.folded); !line.empty()) lines = line + "\n" + lines;
    return fmt::format("{}, {}{}, {}\n\n", result.operation, result.algorithm, over, counted(result.ranks, "rank")) +
           Table(table_columns(result), layout).text() + (lines.empty() ? "" : "\n" + lines);
}

std::string to_table(const SweepReport& report, const TableLayout& layout) {
    std::string text = report.name + "\n";
    for (const SweepResult& result : report.results) text += "\n" + result.variant + ": " + to_table(result, layout);
    return text;
}

}  // namespace syncline
