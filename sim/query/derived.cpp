#include "sim/query/derived.hpp"

#include "sim/output/json_text.hpp"
#include "sim/output/written_files.hpp"
#include "sim/query/row_text.hpp"
#include "sim/query/table.hpp"
#include "sim/store/json_value.hpp"

namespace syncline::batch {

std::vector<PointLine> point_lines(Store& store, const std::string& study) {
    std::vector<PointLine> lines;
    Statement rows = store.database().prepare(
        "SELECT study, number, repeat, settings, seed, run_id, status, message, result FROM points JOIN runs USING "
        "(run_id) WHERE ?1 = '' OR study = ?1 ORDER BY study, number, repeat");
    rows.bind({study});
    while (rows.step()) {
        Json settings = Json::object();
        for (const config::Setting& one : settings_of(store, rows.text(3))) settings[one.key] = one.value;
        const Json begin{{"study", rows.text(0)},           {"point", rows.integer(1)},
                         {"settings", std::move(settings)}, {"repeat", rows.integer(2)},
                         {"seed", json_of(rows.value(4))},  {"run_id", rows.text(5)},
                         {"status", rows.text(6)},          {"message", json_of(rows.value(7))}};
        std::string line = one_line(begin);
        // The result is already JSON.
        line.back() = ',';
        line += "\"result\":" + (rows.value(8).index() == 0 ? "null" : rows.text(8)) + "}\n";
        lines.push_back({rows.text(0), rows.integer(1), rows.integer(2), std::move(line)});
    }
    return lines;
}

void write_derived(Store& store) {
    const std::filesystem::path directory = store.file().parent_path();
    Table table(store);
    write_file(directory / "results.csv", to_csv(table.select({{}, {}, {}, table.columns()})));
    std::string lines;
    for (const PointLine& point : point_lines(store)) lines += point.json;
    write_file(directory / "results.jsonl", lines);
}

}  // namespace syncline::batch
