#include "sim/cli/runs_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>

#include "sim/config/assembly.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/measured/csv_text.hpp"

namespace syncline::cli {

namespace {

using config::Node;

/// Reads the fields of a line by the names of their columns.
class RunFields {
public:
    RunFields(config::Assembly& assembly, const std::vector<Node>& head, const std::vector<Node>& fields)
        : assembly_(assembly), head_(head), fields_(fields) {}

    void read(const char* column, std::string& value) const { value = field(column).scalar; }
    void read(const char* column, bool& value) const { value = field(column).scalar == "true"; }
    template <class Number>
    void read(const char* column, Number& value) const {
        const Node& node = field(column);
        const std::string& text = node.scalar;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size())
            assembly_.report(node.mark, fmt::format("'{}' is no number", text));
    }
    bool has(const char* column) const { return !field(column).scalar.empty(); }

private:
    const Node& field(const char* column) const {
        const auto found = std::ranges::find(head_, column, &Node::scalar);
        const auto at = static_cast<std::size_t>(found - head_.begin());
        if (at < fields_.size()) return fields_[at];
        assembly_.report(head_.front().mark, fmt::format("there is no column '{}'", column));
        assembly_.finish();
        return fields_.front();
    }

    config::Assembly& assembly_;
    const std::vector<Node>&head_, &fields_;
};

}  // namespace

std::vector<planning::PublishedRun> published_runs() {
    const std::filesystem::path path = config::data_folder("scenarios/published/llm") / "runs.csv";
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return {};
    config::Assembly assembly;
    const config::CsvText csv = config::read_csv(assembly, path.string());
    std::vector<planning::PublishedRun> runs;
    for (std::size_t i = 1; i < csv.lines.size(); ++i) {
        const RunFields line(assembly, csv.lines.front(), csv.lines[i]);
        planning::PublishedRun& run = runs.emplace_back();
        line.read("run", run.name);
        line.read("device", run.device);
        line.read("model", run.model);
        line.read("ranks", run.ranks);
        line.read("batch", run.batch);
        line.read("parameters", run.parameters);
        line.read("experts", run.experts);
        line.read("rows", run.rows);
        line.read("context", run.context);
        line.read("stages", run.stages);
        line.read("virtual_stages", run.virtual_stages);
        line.read("expert_rows", run.expert_rows);
        line.read("expert_ranks", run.expert_ranks);
        line.read("micro_batches", run.micro_batches);
        line.read("sequence", run.sequence);
        line.read("sharding", run.sharding);
        line.read("reliable", run.reliable);
        if (line.has("measured_by_predicted")) line.read("measured_by_predicted", run.measured_by_predicted);
    }
    assembly.finish();
    return runs;
}

}  // namespace syncline::cli
