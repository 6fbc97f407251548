#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/output/memory.hpp"
#include "sim/output/text.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

std::string percent(double part) {
    return fmt::format("{:.1f} %", 100 * part);
}

std::string decimals(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

}  // namespace

std::string to_table(const Report& report) {
    std::vector<Row> times{{"variant", "model", "ranks", "iteration", "compute", "communication", "exposed",
                            "closed form", "samples/s", "efficiency"}};
    std::vector<Row> traffic{
        {"variant", "messages", "sent", "most by a rank", "memory", "bubble", "most used link", "used"}};
    for (const Result& r : report.results) {
        times.push_back({r.variant, r.workload, fmt::format("{}", r.ranks), seconds(r.time.iteration_s),
                         seconds(r.time.compute_s), seconds(r.time.communication_s),
                         seconds(r.time.exposed_communication_s), seconds(r.closed_form.iteration_time_s),
                         decimals(r.throughput_samples_per_s, 1), decimals(r.scaling_efficiency, 3)});
        const bool sent = !r.links.empty();
        traffic.push_back({r.variant, fmt::format("{}", r.messages), bytes(r.bytes_sent),
                           bytes(r.most_bytes_sent_by_rank), memory(r.memory),
                           r.time.pipeline_bubble ? percent(*r.time.pipeline_bubble) : "-",
                           sent ? r.links.front().name : "-", sent ? percent(r.links.front().utilisation) : "-"});
    }
    return report.name + ": one steady iteration\n\n" + aligned(times) + "\n" + aligned(traffic);
}

std::string to_table(const CollectiveResult& r) {
    const std::string over = r.overlay.empty() ? "" : " over " + r.overlay;
    std::vector<Row> rows{
        {r.operation + ", " + r.algorithm + over, fmt::format("{} ranks, {}", r.ranks, bytes(r.bytes))},
        {"completion time", seconds(r.completion_time_s)},
        {"closed form", seconds(r.closed_form_s)},
        {"messages", fmt::format("{}", r.messages)},
        {"sent", bytes(r.bytes_sent)},
        {"most by a rank", bytes(r.most_bytes_sent_by_rank)},
        {"algorithm bandwidth", bandwidth(r.algorithm_bandwidth_Bps)},
        {"bus bandwidth", bandwidth(r.bus_bandwidth_Bps)},
    };
    constexpr std::size_t shown = 3;
    for (std::size_t i = 0; i < std::min(shown, r.links.size()); ++i) {
        rows.push_back(
            {i == 0 ? "most used links" : "", fmt::format("{}, {}", percent(r.links[i].utilisation), r.links[i].name)});
    }
    return aligned(rows);
}

}  // namespace syncline
