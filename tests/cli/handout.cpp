#include "tests/cli/handout.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "sim/base/units.hpp"
#include "tests/catch.hpp"

namespace syncline::test {

namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> cells(const std::string& row) {
    std::istringstream stream(row.substr(1, row.size() - 2));
    std::vector<std::string> cells;
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(trimmed(cell));
    return cells;
}

enum class Kind { seconds, bytes, bandwidth, percent, plain };

constexpr std::optional<Dimension> dimension_of(Kind kind) {
    if (kind == Kind::seconds) return Dimension::seconds;
    if (kind == Kind::bytes) return Dimension::bytes;
    if (kind == Kind::bandwidth) return Dimension::bandwidth;
    return {};
}

struct Column {
    std::string field;
    Kind kind;
};

const std::map<std::string, Column> columns{
    {"iteration", {"iteration_time_s", Kind::seconds}},
    {"communication", {"communication_time_s", Kind::seconds}},
    {"exposed", {"exposed_communication_time_s", Kind::seconds}},
    {"computation on the path", {"path compute", Kind::seconds}},
    {"transfers on the path", {"path transfer", Kind::seconds}},
    {"latencies on the path", {"path latency", Kind::seconds}},
    {"device x2", {"what-if device x2", Kind::seconds}},
    {"ports x2", {"what-if link:nic x2", Kind::seconds}},
    {"latency x0.5", {"what-if latency x0.5", Kind::seconds}},
    {"samples/s", {"throughput_samples_per_s", Kind::plain}},
    {"bubble", {"pipeline_bubble", Kind::percent}},
    {"waiting", {"waiting_time_s", Kind::seconds}},
    {"busy", {"busy_share", Kind::percent}},
    {"staleness", {"updates.staleness_mean", Kind::plain}},
    {"updates/s", {"updates.rate_per_s", Kind::plain}},
    {"TFLOP/s", {"tflops_per_device", Kind::plain}},
    {"MFU", {"model_flops_utilisation", Kind::percent}},
    {"weights", {"memory.weights_bytes", Kind::bytes}},
    {"gradients", {"memory.gradients_bytes", Kind::bytes}},
    {"optimizer", {"memory.optimizer_bytes", Kind::bytes}},
    {"activations", {"memory.activations_bytes", Kind::bytes}},
    {"memory", {"memory.total_bytes", Kind::bytes}},
    {"sent by a rank", {"most_bytes_sent_by_rank", Kind::bytes}},
    {"efficiency", {"scaling_efficiency", Kind::percent}},
    {"bus bandwidth", {"bus_bandwidth_Bps", Kind::bandwidth}},
    {"time", {"completion_time_s", Kind::seconds}},
    {"spectral gap", {"spectral_gap", Kind::plain}},
};

double number(const std::string& text, Kind kind) {
    if (const std::optional<Dimension> dimension = dimension_of(kind)) {
        const Quantity quantity = parse_quantity(text, *dimension);
        CAPTURE(text, quantity.error);
        REQUIRE(quantity.value);
        return *quantity.value;
    }
    std::size_t end = 0;
    const double value = std::stod(text, &end);
    CAPTURE(text);
    CHECK(text.substr(end) == (kind == Kind::percent ? " %" : ""));
    return kind == Kind::percent ? value / 100 : value;
}

/// Reads "1343 ms", "43.4 GB", or "30081 images/s".
double measured(const std::string& text) {
    for (const Dimension dimension : {Dimension::seconds, Dimension::bytes})
        if (const Quantity quantity = parse_quantity(text, dimension); quantity.value) return *quantity.value;
    return std::stod(text);
}

/// Reads "88.98 ms ± 1 %"; without a tolerance it is 0.1 %, for rounding to four digits.
Statement stated(const std::string& cell, const Column& column) {
    const std::string sign = " ± ";
    const std::size_t tolerance = cell.find(sign);
    const double part =
        tolerance == std::string::npos ? 0.001 : number(cell.substr(tolerance + sign.size()), Kind::percent);
    const double value = number(cell.substr(0, tolerance), column.kind);
    // The tolerance of a time of zero is a nanosecond.
    return {"", column.field, {}, value, std::max(part * value, 1e-9)};
}

void read_row(const std::vector<std::string>& header, const std::vector<std::string>& row,
              std::vector<Statement>& all) {
    REQUIRE(row.size() == header.size());
    const std::size_t first = all.size();
    std::optional<std::uint64_t> bytes;
    for (std::size_t i = 1; i < row.size(); ++i) {
        CAPTURE(header[i], row[i]);
        if (header[i] == "size") {
            bytes = static_cast<std::uint64_t>(number(row[i], Kind::bytes));
        } else if (header[i].rfind("formula", 0) != 0) {
            REQUIRE(columns.count(header[i]) == 1);
            all.push_back(stated(row[i], columns.at(header[i])));
        }
    }
    REQUIRE(all.size() > first);
    for (std::size_t i = first; i < all.size(); ++i) {
        all[i].name = row[0];
        all[i].bytes = bytes;
    }
}

/// Returns the value of a field "path KIND" or "what-if CHANGE"; nothing for other fields.
std::optional<double> of_explanation(const json& explanation, const std::string& field) {
    const std::string word = field.substr(0, field.find(' '));
    const std::string rest = field.substr(std::min(word.size() + 1, field.size()));
    if (word == "path") {
        double seconds = 0;
        for (const json& piece : explanation.at("critical_path"))
            if (piece.at("kind") == rest)
                seconds += piece.at("end_s").get<double>() - piece.at("start_s").get<double>();
        return seconds;
    }
    if (word != "what-if") return {};
    for (const json& change : explanation.at("what_if"))
        if (change.at("change") == rest) return change.at("iteration_time_s").get<double>();
    FAIL("there is no what-if '" << rest << "'");
    return {};
}

}  // namespace

std::string Handout::scenario() const {
    return fs::path(file).replace_extension(".yaml").lexically_relative(SYNCLINE_SOURCE_DIR).string();
}

std::string Handout::section(const std::string& heading) const {
    std::string section;
    bool inside = false;
    for (const std::string& line : lines_of(text)) {
        if (line.rfind("## ", 0) == 0)
            inside = line == "## " + heading;
        else if (inside)
            section += line + "\n";
    }
    return section;
}

std::vector<Handout> handouts() {
    std::vector<Handout> all;
    for (const auto& entry : fs::directory_iterator(shipped("scenarios/lessons"))) {
        const std::string stem = entry.path().stem().string();
        if (entry.path().extension() != ".md" || stem == "README") continue;
        Handout handout{entry.path(), std::to_string(std::stoi(stem)), stem.substr(3), "", read_file(entry.path())};
        handout.title = lines_of(handout.text).front().substr(2);
        all.push_back(std::move(handout));
    }
    std::sort(all.begin(), all.end(), [](const Handout& a, const Handout& b) { return a.file < b.file; });
    return all;
}

std::vector<Statement> statements(const std::string& text) {
    std::vector<Statement> all;
    std::vector<std::string> header;
    for (const std::string& indented : lines_of(text)) {
        const std::string line = trimmed(indented);
        if (line.rfind("|---", 0) == 0) continue;
        if (line.rfind("|", 0) != 0)
            header.clear();
        else if (header.empty())
            header = cells(line);
        else
            read_row(header, cells(line), all);
    }
    return all;
}

std::vector<Measurement> measurements(const std::string& text) {
    std::vector<Measurement> all;
    for (const std::string& line : lines_of(text)) {
        if (line.rfind("|", 0) != 0 || line.rfind("|---", 0) == 0) continue;
        const std::vector<std::string> row = cells(line);
        CAPTURE(line);
        REQUIRE(row.size() == 3);
        if (row[0] == "row")
            CHECK(row == std::vector<std::string>{"row", "measured", "error below"});
        else
            all.push_back({row[0], measured(row[1]), number(row[2], Kind::percent)});
    }
    return all;
}

double found(const json& result, const Statement& statement) {
    json fields = result;
    const char* const list = result.contains("explanations") ? "explanations" : "results";
    if (result.contains(list)) {
        for (const json& variant : result.at(list))
            if (variant.at("variant") == statement.name) fields = variant;
        CAPTURE(statement.name);
        REQUIRE(fields.at("variant") == statement.name);
    } else {
        REQUIRE(result.at("name") == statement.name);
    }
    if (fields.contains("points")) {
        const json points = fields.at("points");
        const auto point = std::find_if(points.begin(), points.end(), [&](const json& one) {
            return statement.bytes ? one.at("bytes") == *statement.bytes : points.size() == 1;
        });
        REQUIRE(point != points.end());
        fields = *point;
    }
    if (const auto explained = of_explanation(fields, statement.field)) return *explained;
    std::string path = "/" + statement.field;
    std::replace(path.begin(), path.end(), '.', '/');
    return fields.at(json::json_pointer(path)).get<double>();
}

std::vector<std::string> items(const std::string& section) {
    std::vector<std::string> items;
    for (const std::string& line : lines_of(section)) {
        if (line.rfind(std::to_string(items.size() + 1) + ". ", 0) == 0) items.emplace_back();
        if (!items.empty()) items.back() += line + "\n";
    }
    return items;
}

std::vector<std::string> command(const std::string& item) {
    const std::string program = "build/release/syncline ";
    const std::size_t begin = item.find(program);
    REQUIRE(begin != std::string::npos);
    REQUIRE(item.find(program, begin + 1) == std::string::npos);
    std::vector<std::string> words(1);
    bool quoted = false;
    for (std::size_t i = begin + program.size(); quoted || item.at(i) != '\n'; ++i) {
        if (!quoted && item.compare(i, 2, "\\\n") == 0) {  // the command goes on in the next line
            i = item.find_first_not_of(' ', i + 2) - 1;
            continue;
        }
        if (item.at(i) == '\'')
            quoted = !quoted;
        else if (item.at(i) == ' ' && !quoted)
            words.emplace_back();
        else
            words.back() += item.at(i);
    }
    return words;
}

}  // namespace syncline::test
