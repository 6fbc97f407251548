#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "sim/output/cells.hpp"
#include "sim/output/json_text.hpp"
#include "sim/output/notes.hpp"
#include "sim/output/writers.hpp"

namespace syncline {

using namespace text;

namespace {

// Indexed by ComputeKind.
constexpr std::array compute_names{"calibrated", "roofline", "im2col", "efficiency", "measured", "tables"};

std::string name_of(ComputeKind kind) {
    return compute_names[static_cast<std::size_t>(kind)];
}

/// Returns an empty text if the bound is unknown.
std::string name_of(const std::optional<Bound>& bound) {
    return bound ? name_of(*bound) : "";
}

/// Returns a layer's memory stall; empty if its times were measured.
std::optional<double> stall(const LayerTable& table, const LayerRow& row) {
    return table.compute == ComputeKind::measured ? std::nullopt : std::optional(row.time.stall_s);
}

/// Returns a layer's waits for launches; empty if its times were measured.
std::optional<double> host_bound(const LayerTable& table, const LayerRow& row) {
    return table.compute == ComputeKind::measured ? std::nullopt : std::optional(row.time.host_bound_s);
}

std::uint64_t whole_bytes(double bytes) {
    return static_cast<std::uint64_t>(std::ceil(bytes));
}

/// Formats 1234567 as 1,234,567.
std::string grouped(std::int64_t count) {
    std::string digits = fmt::format("{}", count);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

Json row_json(const LayerTable& table, const LayerRow& row) {
    return {{"parameters", row.parameters},
            {"macs", row.macs},
            {"activation_bytes", whole_bytes(row.activation_bytes)},
            {"forward_time_s", row.time.forward_s},
            {"backward_time_s", row.time.backward_s()},
            {"memory_stall_s", number_or_null(stall(table, row))},
            {"host_bound_s", number_or_null(host_bound(table, row))},
            {"bound", text_or_null(name_of(row.time.bound))}};
}

Row row_cells(const LayerTable& table, const LayerRow& row) {
    const std::string bound = name_of(row.time.bound);
    return {row.name,
            grouped(row.parameters),
            grouped(row.macs),
            bytes(whole_bytes(row.activation_bytes)),
            seconds(row.time.forward_s),
            seconds(row.time.backward_s()),
            seconds(stall(table, row)),
            seconds(host_bound(table, row)),
            bound.empty() ? "-" : bound};
}

}  // namespace

std::string to_json(const LayerTable& table) {
    Json json{{"schema_version", 1},    {"workload", table.workload},
              {"device", table.device}, {"compute", name_of(table.compute)},
              {"batch", table.batch},   {"layers", Json::array()}};
    for (const LayerRow& row : table.layers) {
        Json layer{{"layer", row.name}};
        layer.update(row_json(table, row));
        json["layers"].push_back(std::move(layer));
    }
    json["total"] = row_json(table, table.total);
    json["notes"] = table.notes;
    return dumped(json);
}

std::string to_csv(const LayerTable& table) {
    std::string text =
        line({"workload", "device", "compute", "batch", "layer", "parameters", "macs", "activation_bytes",
              "forward_time_s", "backward_time_s", "memory_stall_s", "bound", "host_bound_s"});
    for (const LayerRow& row : table.layers)
        text += line({quoted(table.workload), quoted(table.device), name_of(table.compute), field(table.batch),
                      quoted(row.name), field(row.parameters), field(row.macs),
                      field(whole_bytes(row.activation_bytes)), field(row.time.forward_s), field(row.time.backward_s()),
                      field(stall(table, row)), name_of(row.time.bound), field(host_bound(table, row))});
    return text;
}

std::vector<Column> table_columns(const LayerTable& table) {
    std::vector<Column> columns{{"layer"},
                                {"parameters", "", Shown::if_any},
                                {"macs", "", Shown::if_any},
                                {"activations", "activation_bytes", Shown::if_any},
                                {"forward", "forward_time_s"},
                                {"backward", "backward_time_s"},
                                {"memory stall", "memory_stall_s", Shown::if_any},
                                {"host-bound", "host_bound_s", Shown::if_any},
                                {"bound", "", Shown::if_any}};
    std::vector<LayerRow> rows = table.layers;
    rows.push_back(table.total);
    for (const LayerRow& layer : rows) {
        add_row(columns, row_cells(table, layer));
    }
    return columns;
}

std::string to_table(const LayerTable& table, const TableLayout& layout) {
    return fmt::format("{} on {}: batch {}, {}\n\n", table.workload, table.device, table.batch,
                       name_of(table.compute)) +
           Table(table_columns(table), layout).text() + (table.notes.empty() ? "" : "\n" + notes(table.notes));
}

}  // namespace syncline
