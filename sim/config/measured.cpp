#include "sim/config/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "sim/base/units.hpp"
#include "sim/config/axis.hpp"
#include "sim/config/override.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"

namespace syncline::config {

namespace {

constexpr const char* key = "measured";
constexpr double largest = 1e20;

void describe(Fields& fields, MeasuredRow& row) {
    std::vector<std::string> at;
    fields.texts({"at", "The values of the series' keys `over`, in their order.", true}, at);
    fields.number({"value", "What was measured.", true}, row.value, 0, largest);
    fields.flag({"calibrates", "Parameters are found on this row; it is not predicted."}, row.calibrates);
    if (row.value == 0) fields.reject("value", "'value' is zero", "it would be divided by");
    row.name = fmt::format("{}", fmt::join(at, "/"));
}

/// A value in `name` is this much in the field's own unit; 0: no unit.
double factor_of(const std::string& name) {
    for (const Dimension dimension : {Dimension::seconds, Dimension::bandwidth})
        if (const Quantity one = parse_quantity("1 " + name, dimension); one.value) return *one.value;
    return 0;
}

void describe_unit(Fields& fields, MeasuredSeries& series) {
    fields.text({"unit", "Of the values, a time's or a bandwidth's; by default the field's own."}, series.unit_name);
    series.unit = series.unit_name.empty() ? 1 : factor_of(series.unit_name);
    if (series.unit == 0)
        fields.reject("unit", fmt::format("'{}' is no unit of time or bandwidth", series.unit_name),
                      "us, ms, GBps; left out, values are in the field's own unit");
}

constexpr const char* field_doc =
    "A number of the variant's result, named as in JSON: throughput_samples_per_s, time_s.";

void describe(Fields& fields, Measurements& all, const MeasuredSeries& common) {
    MeasuredSeries series = common;
    fields.text({"variant", "Which one; left out where the file has no variants."}, series.variant);
    series.name = series.variant;
    fields.text({"name", "Of the series; by default the variant's."}, series.name);
    fields.text({"field", field_doc}, series.field);
    if (fields.given("unit")) describe_unit(fields, series);
    fields.texts({"over", "The keys by which its rows differ: training.ranks.", true}, series.over);
    // What they hold is read where it is applied.
    fields.section({"set", "Changes to the variant, for all rows."}, [](Fields&) {});
    fields.text({"doubt", "Why these rows are no fair test, if so: they are shown, and counted apart."}, series.doubt);
    const std::size_t number = all.series.size();
    fields.each({"rows", "The measurements.", true}, [&](Fields& item) {
        MeasuredRow& row = all.rows.emplace_back();
        describe(item, row);
        row.name = series.name + " " + row.name;
        row.value *= series.unit;
        row.series = number;
    });
    all.series.push_back(std::move(series));
}

void describe(Fields& fields, MeasuredParameter& parameter, std::vector<std::string>& rows) {
    fields.text({"key", "A path, as `--set` takes it.", true}, parameter.key);
    fields.text({"unit", "Of the values that are tried: GBps, us."}, parameter.unit);
    fields.number({"least", "The least value that makes sense, in this unit.", true}, parameter.least, 0, largest);
    fields.number({"most", "The greatest.", true}, parameter.most, 0, largest);
    fields.texts({"rows", "On which it is found; all of them calibrate.", true}, rows);
    if (parameter.least == 0) fields.reject("least", "'least' is zero", "values are tried by their ratios");
    if (parameter.most <= parameter.least) fields.reject("most", "'most' is not above 'least'", "");
}

/// What describe_measurements() visits, and the names of rows that parameters give.
struct Reading {
    Measurements measurements;
    std::vector<std::vector<std::string>> parameter_rows;
};

void describe_all(Fields& fields, Reading& reading) {
    Measurements& all = reading.measurements;
    fields.text({"source", "Who measured it, and where it is written.", true}, all.source);
    bool percent = false;
    fields.number_or_percent({"noise", "The spread that the source states: `5 %`."}, all.noise, percent, 0, 100);
    if (percent) all.noise /= 100;
    MeasuredSeries common;
    common.field = "throughput_samples_per_s";
    fields.text({"field", field_doc}, common.field);
    describe_unit(fields, common);
    fields.each({"series", "Measurements that differ by a few keys.", true},
                [&](Fields& item) { describe(item, all, common); });
    fields.each(
        {"parameters", "What is not known of the cluster, and on which rows it is found, in this order."},
        [&](Fields& item) { describe(item, all.parameters.emplace_back(), reading.parameter_rows.emplace_back()); });
}

Node mapping_of(const char* name, Node value) {
    Node document;
    document.kind = Node::Kind::mapping;
    document.mark = value.mark;
    document.entries.push_back({name, value.mark, std::move(value)});
    return document;
}

/// The item of a list that is known to be there.
const Node& item(const Node& mapping, std::string_view list, std::size_t number) {
    return mapping.find(list)->items[number];
}

std::string meant(const std::string& word, const std::vector<std::string>& known) {
    if (const auto near = closest(word, known)) return fmt::format("did you mean '{}'?", *near);
    return known.empty() ? "" : fmt::format("there are '{}'", fmt::join(known, "', '"));
}

}  // namespace

/// A scenario's file and what was measured, put together.
struct MeasuredScenario::Parts {
    Assembly assembly;
    Inspect inspect;
    std::string name;
    ScenarioFile file;
    std::vector<Node> last;  ///< `--set`
    Node list;               ///< the key's value
    Measurements measurements;
    std::vector<std::size_t> places;  ///< by row: its number within its series

    const Node& node(const MeasuredSeries& series) const {
        return item(list, "series", static_cast<std::size_t>(&series - measurements.series.data()));
    }
    const Node& node(const MeasuredRow& row) const {
        const auto number = static_cast<std::size_t>(&row - measurements.rows.data());
        return item(node(measurements.series[row.series]), "rows", places[number]);
    }

    void load(const std::string& path, const std::string& measured, const std::vector<std::string>& assignments);
    void read();
    void check_rows();
    void check_parameters(const std::vector<std::vector<std::string>>& rows);
    void check_repeated();
    Resolved resolved(const MeasuredRow& row, const std::vector<std::optional<double>>& values);
};

void MeasuredScenario::Parts::load(const std::string& path, const std::string& measured,
                                   const std::vector<std::string>& assignments) {
    Node document = assembly.library.load_argument(path);
    name = std::filesystem::path(path).stem().string();
    assembly.attempt([&] { split_paths(document); });
    for (const std::string& text : assignments)
        assembly.attempt([&] { last.push_back(parse_assignment(assembly.library, text)); });
    if (const Node* given = document.find("name"); given && given->kind == Node::Kind::scalar) name = given->scalar;
    const Mark top = document.mark;
    file = take_apart(assembly, std::move(document));
    list = measured.empty() ? std::move(file.measured) : assembly.library.load_argument(measured);
    if (list.kind == Node::Kind::null)
        assembly.report(top, "nothing was measured here: the scenario has no key 'measured'",
                        "write it, or name a file that holds what it would");
    assembly.finish();
}

void MeasuredScenario::Parts::read() {
    Reading reading;
    assembly.read(mapping_of(key, list), "scenario", [&](Fields& fields) {
        fields.section({key, ""}, [&](Fields& inner) { describe_all(inner, reading); });
    });
    assembly.finish();
    measurements = std::move(reading.measurements);
    std::vector<std::size_t> count(measurements.series.size());
    for (const MeasuredRow& row : measurements.rows) places.push_back(count[row.series]++);
    check_rows();
    check_parameters(reading.parameter_rows);
    assembly.finish();
    check_repeated();
    assembly.finish();
}

void MeasuredScenario::Parts::check_rows() {
    std::vector<std::string> variants, names;
    for (const Entry& entry : file.variants) variants.push_back(entry.key);
    for (MeasuredSeries& series : measurements.series) {
        const Node& node = this->node(series);
        if (series.variant.empty() && !file.has_variants) series.variant = variants.front();
        if (series.name.empty()) series.name = series.variant;
        const Node* place = node.find("variant");
        if (std::find(variants.begin(), variants.end(), series.variant) == variants.end())
            assembly.report(place ? place->mark : node.mark,
                            series.variant.empty() ? "which variant was measured?"
                                                   : fmt::format("there is no variant '{}'", series.variant),
                            meant(series.variant, variants));
        const Node* field = node.find("field") ? node.find("field") : list.find("field");
        series.field_at = locate(field ? field->mark : list.mark);
    }
    for (MeasuredRow& row : measurements.rows) {
        const Node& node = this->node(row);
        const MeasuredSeries& series = measurements.series[row.series];
        row.at = locate(node.mark);
        if (row.name.starts_with(' ')) row.name = series.name + row.name;
        if (node.find("at")->items.size() != series.over.size())
            assembly.report(
                node.find("at")->mark,
                fmt::format("{} values for the {} keys of 'over'", node.find("at")->items.size(), series.over.size()),
                fmt::format("it goes over '{}'", fmt::join(series.over, "', '")));
        if (std::find(names.begin(), names.end(), row.name) != names.end())
            assembly.report(node.mark, fmt::format("row '{}' is there twice", row.name),
                            "two series of one variant need a 'name' each");
        names.push_back(row.name);
    }
}

void MeasuredScenario::Parts::check_parameters(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::string> names;
    std::vector<bool> used(measurements.rows.size());
    for (const MeasuredRow& row : measurements.rows) names.push_back(row.name);
    for (std::size_t i = 0; i < measurements.parameters.size(); ++i) {
        MeasuredParameter& parameter = measurements.parameters[i];
        const Node& node = item(list, "parameters", i);
        parameter.at = locate(node.find("key")->mark);
        for (std::size_t j = 0; j < i; ++j)
            if (measurements.parameters[j].key == parameter.key)
                assembly.report(node.find("key")->mark, fmt::format("'{}' is there twice", parameter.key), "");
        for (std::size_t j = 0; j < rows[i].size(); ++j) {
            const Mark& mark = item(node, "rows", j).mark;
            const auto found = std::find(names.begin(), names.end(), rows[i][j]);
            if (found == names.end()) {
                assembly.report(mark, fmt::format("there is no row '{}'", rows[i][j]), meant(rows[i][j], names));
                continue;
            }
            const auto number = static_cast<std::size_t>(found - names.begin());
            used[number] = true;
            parameter.rows.push_back(number);
            if (!measurements.rows[number].calibrates)
                assembly.report(mark,
                                fmt::format("row '{}' is counted as predicted, so nothing can be fitted on it", *found),
                                "either the row says `calibrates: true`, and is not counted, or it is left out here");
        }
    }
    for (std::size_t i = 0; i < used.size(); ++i)
        if (measurements.rows[i].calibrates && !used[i])
            assembly.report(node(measurements.rows[i]).mark,
                            fmt::format("row '{}' calibrates, and no parameter is found on it", names[i]),
                            "it would only be taken out of the score");
}

/// The same simulation under another name could be fitted and counted at once.
void MeasuredScenario::Parts::check_repeated() {
    std::map<std::string, const MeasuredRow*> known;
    for (const MeasuredRow& row : measurements.rows) {
        assembly.attempt([&] {
            const std::string text = resolved(row, {}).text();
            const auto [other, fresh] = known.emplace(measurements.series[row.series].field + "\n" + text, &row);
            if (fresh) return;
            const bool both = other->second->calibrates != row.calibrates;
            assembly.report(node(row).mark,
                            fmt::format("row '{}' is the same simulation as row '{}'{}", row.name, other->second->name,
                                        both ? ", which would be fitted and counted as predicted" : ""),
                            fmt::format("that one stands in line {}", other->second->at.line));
        });
    }
}

Resolved MeasuredScenario::Parts::resolved(const MeasuredRow& row, const std::vector<std::optional<double>>& values) {
    const MeasuredSeries& series = measurements.series[row.series];
    const auto variant = std::find_if(file.variants.begin(), file.variants.end(),
                                      [&](const Entry& entry) { return entry.key == series.variant; });
    Node document = file.base;
    const auto apply = [&](Node changes) {
        split_paths(changes);
        change(assembly, document, changes);
    };
    apply(variant->value);
    if (const Node* set = node(series).find("set"); set && set->kind == Node::Kind::mapping) apply(*set);
    const Node& at = *node(row).find("at");
    for (std::size_t i = 0; i < series.over.size(); ++i)
        apply(document_of(series.over[i], node(series).find("over")->items[i].mark, at.items[i]));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i]) continue;
        const MeasuredParameter& parameter = measurements.parameters[i];
        Node value;
        value.kind = Node::Kind::scalar;
        value.mark = item(list, "parameters", i).mark;
        value.scalar = parameter.text(*values[i]);
        apply(document_of(parameter.key, value.mark, value));
    }
    for (const Node& changes : last) apply(changes);
    std::string unnamed;
    GridChoices grids;
    read_variant(assembly, document, series.variant, unnamed, grids, inspect);
    Resolved resolved = resolve(document, assembly.other_files());
    assembly.finish();
    return resolved;
}

std::string MeasuredParameter::text(double value) const {
    return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

MeasuredScenario::MeasuredScenario(const std::string& path, const std::string& measured,
                                   const std::vector<std::string>& assignments, const Inspect& inspect)
    : parts_(std::make_unique<Parts>()) {
    parts_->inspect = inspect;
    parts_->load(path, measured, assignments);
    parts_->read();
}
MeasuredScenario::~MeasuredScenario() = default;
MeasuredScenario::MeasuredScenario(MeasuredScenario&&) noexcept = default;

const std::string& MeasuredScenario::name() const {
    return parts_->name;
}
const Measurements& MeasuredScenario::measurements() const {
    return parts_->measurements;
}
Resolved MeasuredScenario::resolved(const MeasuredRow& row, const std::vector<std::optional<double>>& values) const {
    return parts_->resolved(row, values);
}

bool is_measured(const std::string& path) {
    Assembly assembly;
    return assembly.library.load_argument(path).find(key) != nullptr;
}

void describe_measurements(Fields& fields, Measurements& measurements) {
    fields.section({key, "What somebody has measured of this; `syncline validate` compares."}, [&](Fields& inner) {
        Reading reading;
        describe_all(inner, reading);
        measurements = std::move(reading.measurements);
    });
}

}  // namespace syncline::config
