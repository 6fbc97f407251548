#include "sim/base/version.hpp"
#include "sim/output/fidelity.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/text.hpp"
#include "sim/output/writers.hpp"

// Latency and bandwidth by size, the columns of nccl-tests: size, time, algorithm and bus bandwidth.

namespace syncline {

using namespace text;

namespace {

Json object(const SweepResult& result) {
    Json points = Json::array();
    for (const SweepPoint& point : result.points)
        points.push_back({{"bytes", point.bytes},
                          {"completion_time_s", point.completion_time_s},
                          {"nodes", point.cost.nodes},
                          {"device_time_s", point.cost.device_time_s},
                          {"cost", number_or_null(point.cost.cost)},
                          {"algorithm_bandwidth_Bps", number_or_null(point.algorithm_bandwidth_Bps)},
                          {"bus_bandwidth_Bps", number_or_null(point.bus_bandwidth_Bps)},
                          {"closed_form_s", number_or_null(point.closed_form_s)},
                          {"algorithm", point.algorithm}});
    Json json = exchange_fields(result);
    json["points"] = std::move(points);
    json.update(to_json(result.folded));
    json["notes"] = result.notes;
    return json;
}

const std::vector<std::string> sweep_columns{"bytes",
                                             "completion_time_s",
                                             "algorithm_bandwidth_Bps",
                                             "bus_bandwidth_Bps",
                                             "closed_form_s",
                                             "algorithm",
                                             "operation",
                                             "ranks",
                                             "fabric",
                                             "transport",
                                             "nodes",
                                             "device_time_s",
                                             "cost",
                                             fidelity_columns,
                                             "notes"};

std::vector<std::string> fields(const SweepResult& result, const SweepPoint& point) {
    return {field(point.bytes),
            field(point.completion_time_s),
            field(point.algorithm_bandwidth_Bps),
            field(point.bus_bandwidth_Bps),
            field(point.closed_form_s),
            quoted(point.algorithm),
            result.operation,
            field(result.ranks),
            quoted(result.fabric),
            quoted(result.transport),
            field(point.cost.nodes),
            field(point.cost.device_time_s),
            field(point.cost.cost),
            fidelity_fields(result.folded),
            notes_field(result.notes)};
}

std::string micro(const std::optional<double>& value_s) {
    return value_s ? fmt::format("{:.2f}", *value_s * 1e6) : "-";
}

std::string giga(const std::optional<double>& value_Bps) {
    return value_Bps ? fmt::format("{:.3f}", *value_Bps / 1e9) : "-";
}

}  // namespace

std::string to_json(const SweepResult& result) {
    Json json{{"schema_version", result_schema_version}};
    json.update(object(result));
    return dumped(json);
}

std::string to_json(const SweepReport& report) {
    Json results = Json::array();
    for (const SweepResult& result : report.results) {
        Json one{{"variant", result.variant}};
        one.update(object(result));
        results.push_back(std::move(one));
    }
    return dumped({{"schema_version", result_schema_version}, {"name", report.name}, {"results", std::move(results)}});
}

std::string to_csv(const SweepResult& result) {
    std::string text = line(sweep_columns);
    for (const SweepPoint& point : result.points) text += line(fields(result, point));
    return text;
}

std::string to_csv(const SweepReport& report) {
    std::vector<std::string> head = sweep_columns;
    head.insert(head.begin(), "variant");
    std::string text = line(head);
    for (const SweepResult& result : report.results) {
        for (const SweepPoint& point : result.points) {
            std::vector<std::string> row = fields(result, point);
            row.insert(row.begin(), quoted(result.variant));
            text += line(row);
        }
    }
    return text;
}

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
