#include "sim/measured/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/units.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/config/resolved.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/measured/measured_overrides.hpp"
#include "sim/measured/measured_same.hpp"
#include "sim/measured/measured_texts.hpp"
#include "sim/output/field_units.hpp"
#include "sim/study/axis.hpp"

namespace syncline::config {

namespace {

constexpr const char* measured_key = "measured";

/// Returns an item of a list that is known to exist.
const Node& item(const Node& mapping, std::string_view list, std::size_t number) {
    return mapping.find(list)->items[number];
}

const Mark& mark_of(const Node& mapping, std::string_view entry) {
    const Node* node = mapping.find(entry);
    return node ? node->mark : mapping.mark;
}

std::string meant(const std::string& word, const std::vector<std::string>& known) {
    return did_you_mean(word, known, known.empty() ? "" : fmt::format("there are '{}'", fmt::join(known, "', '")));
}

/// Returns the factor from `unit` to the field's own unit, or 0 if `field` cannot have this unit.
double factor_of(const std::string& unit, const std::string& field) {
    const Unit own = unit_of(field);
    if (own != Unit::seconds && own != Unit::bandwidth) return 0;
    const Quantity one = parse_quantity("1 " + unit, own == Unit::seconds ? Dimension::seconds : Dimension::bandwidth);
    return one.value.value_or(0);
}

}  // namespace

/// A scenario's file together with its measurements.
struct MeasuredScenario::Parts {
    Assembly assembly;
    Inspect inspect;
    std::string name;
    ScenarioFile file;
    std::vector<Node> last;  ///< `--set`
    Node list;               ///< the key's value
    Measurements measurements;
    std::vector<std::size_t> places;  ///< the number of each row within its series

    const Node& node(const MeasuredSeries& series) const {
        return item(list, "series", static_cast<std::size_t>(&series - measurements.series.data()));
    }
    const Node& node(const MeasuredRow& row) const {
        const auto number = static_cast<std::size_t>(&row - measurements.rows.data());
        return item(node(measurements.series[row.series]), "rows", places[number]);
    }

    void load(const MeasuredFiles& files);
    void read();
    void check_series();
    void check_rows();
    void check_parameters(const std::vector<std::vector<std::string>>& named);
    void find_rows(MeasuredParameter& parameter, const Node& node, const std::vector<std::string>& named);
    void check_uses();
    void check_scenarios();
    void check_repeated(const MeasuredRow& row, const std::vector<const MeasuredRow*>& same);
    Node document(const MeasuredRow& row, const std::vector<std::optional<double>>& values);
    void require_closed(const MeasuredRow& row, const Variant& variant, const GridChoices& grids);
};

void MeasuredScenario::Parts::load(const MeasuredFiles& files) {
    Node document = assembly.library.load_argument(files.scenario);
    const Mark top = document.mark;
    name = std::filesystem::path(files.scenario).stem().string();
    assembly.attempt([&] { split_paths(document); });
    Assignments changes = parse_assignments(assembly, files.assignments);
    for (const Node& further : changes.to_scenario) merge(document, further);
    last = std::move(changes.to_all);
    if (const Node* given = document.find("name"); given && given->kind == Node::Kind::scalar) name = given->scalar;
    file = take_apart(assembly, std::move(document));
    list = files.measured.empty()              ? std::move(file.measured)
           : is_measured_table(files.measured) ? measured_table(assembly, files.measured)
                                               : assembly.library.load_argument(files.measured);
    if (list.kind == Node::Kind::null && assembly.sound())
        assembly.report(top, "the scenario has no measurements: key 'measured' is missing",
                        "add it, or name a file that holds its content (`syncline calibrate --measured`)");
    if (!files.fits.empty()) replace_parameters(assembly, list, files.fits);
    assembly.finish();
}

void MeasuredScenario::Parts::read() {
    MeasuredKeys keys;
    assembly.read(list, measured_key, [&](Fields& fields) { describe(fields, keys); });
    assembly.finish();
    measurements = std::move(keys.measurements);
    std::vector<std::size_t> count(measurements.series.size());
    for (const MeasuredRow& row : measurements.rows) places.push_back(count[row.series]++);
    check_series();
    check_rows();
    check_parameters(keys.parameter_rows);
    check_overrides(assembly, measurements, list, last);
    assembly.finish();
    check_scenarios();
    assembly.finish();
}

void MeasuredScenario::Parts::check_series() {
    std::vector<std::string> variants;
    for (const Entry& entry : file.variants) variants.push_back(entry.key);
    for (MeasuredSeries& series : measurements.series) {
        const Node& node = this->node(series);
        if (series.variant.empty() && !file.has_variants) series.variant = variants.front();
        if (series.name.empty()) series.name = series.variant;
        if (std::find(variants.begin(), variants.end(), series.variant) == variants.end())
            assembly.report(mark_of(node, "variant"),
                            series.variant.empty() ? "the series does not name its variant"
                                                   : fmt::format("there is no variant '{}'", series.variant),
                            meant(series.variant, variants));
        if (!series.unit_name.empty()) series.unit = factor_of(series.unit_name, series.field);
        series.unit_at = locate(node.find("unit") ? node.find("unit")->mark : mark_of(list, "unit"));
        for (std::size_t i = 1; i < series.over.size(); ++i)
            if (std::find(series.over.begin(), series.over.begin() + static_cast<std::ptrdiff_t>(i), series.over[i]) !=
                series.over.begin() + static_cast<std::ptrdiff_t>(i))
                assembly.report(item(node, "over", i).mark, fmt::format("'{}' is listed twice", series.over[i]),
                                "remove one of them");
        series.field_at = locate(node.find("field") ? node.find("field")->mark : mark_of(list, "field"));
    }
}

void MeasuredScenario::Parts::check_rows() {
    std::vector<std::string> names;
    for (MeasuredRow& row : measurements.rows) {
        const Node& node = this->node(row);
        const MeasuredSeries& series = measurements.series[row.series];
        row.at = locate(node.mark);
        if (series.unit > 0) row.value *= series.unit;
        row.name = row.settings.empty() ? series.name : fmt::format("{} {}", series.name, fmt::join(row.settings, "/"));
        if (row.settings.size() != series.over.size())
            assembly.report(
                mark_of(node, "at"),
                fmt::format("'at' has {} values, but 'over' has {} keys", row.settings.size(), series.over.size()),
                fmt::format("write one value for each of '{}'", fmt::join(series.over, "', '")));
        if (std::find(names.begin(), names.end(), row.name) != names.end())
            assembly.report(node.mark, fmt::format("row '{}' is listed twice", row.name),
                            "give each series of one variant its own 'name'");
        names.push_back(row.name);
    }
}

void MeasuredScenario::Parts::check_parameters(const std::vector<std::vector<std::string>>& named) {
    for (std::size_t i = 0; i < measurements.parameters.size(); ++i) {
        MeasuredParameter& parameter = measurements.parameters[i];
        const Node& node = item(list, "parameters", i);
        parameter.at = locate(mark_of(node, "key"));
        for (std::size_t j = 0; j < i; ++j)
            if (measurements.parameters[j].key == parameter.key)
                assembly.report(mark_of(node, "key"), fmt::format("'{}' is listed twice", parameter.key),
                                "remove one of them");
        find_rows(parameter, node, named[i]);
    }
    if (assembly.sound()) check_uses();
}

void MeasuredScenario::Parts::find_rows(MeasuredParameter& parameter, const Node& node,
                                        const std::vector<std::string>& named) {
    std::vector<std::string> names;
    for (const MeasuredRow& row : measurements.rows) names.push_back(row.name);
    for (std::size_t i = 0; i < named.size(); ++i) {
        const Mark& mark = item(node, "rows", i).mark;
        const auto found = std::find(names.begin(), names.end(), named[i]);
        if (found == names.end()) {
            assembly.report(mark, fmt::format("there is no row '{}'", named[i]), meant(named[i], names));
            continue;
        }
        const auto number = static_cast<std::size_t>(found - names.begin());
        if (!measurements.rows[number].calibrates)
            assembly.report(mark,
                            fmt::format("row '{}' is a predicted row, so no parameter can be fitted to it", *found),
                            "write `calibrates: true` in the row, or remove it here");
        parameter.rows.push_back(number);
    }
    if (named.empty())
        for (std::size_t i = 0; i < names.size(); ++i)
            if (measurements.rows[i].calibrates) parameter.rows.push_back(i);
    if (parameter.rows.empty() && named.empty())
        assembly.report(mark_of(node, "key"), fmt::format("there is no calibration row for '{}'", parameter.key),
                        "write `calibrates: true` in some rows");
    std::sort(parameter.rows.begin(), parameter.rows.end());
    const auto repeated = std::unique(parameter.rows.begin(), parameter.rows.end());
    parameter.rows.erase(repeated, parameter.rows.end());
}

void MeasuredScenario::Parts::check_uses() {
    std::vector<bool> used(measurements.rows.size());
    for (const MeasuredParameter& parameter : measurements.parameters)
        for (const std::size_t row : parameter.rows) used[row] = true;
    for (std::size_t i = 0; i < used.size(); ++i) {
        const MeasuredRow& row = measurements.rows[i];
        if (!row.calibrates || used[i]) continue;
        if (measurements.parameters.empty())
            return assembly.report(node(row).mark, "there are calibration rows, but no parameters",
                                   "list them in 'parameters', or write `syncline calibrate --fit "
                                   "platform.fabric.bandwidth='1..12.5 GBps'`");
        assembly.report(
            node(row).mark, fmt::format("no parameter uses calibration row '{}'", row.name),
            "it would only be excluded from the score; remove `calibrates: true`, or list the row in a parameter");
    }
}

/// Reads every row's scenario with all parameters at their minimum and at their maximum. Rejects rows that repeat a
/// simulation under another name, which could then be fitted and predicted at the same time; rows that differ only by
/// what a parameter replaces are repetitions as well.
void MeasuredScenario::Parts::check_scenarios() {
    std::vector<std::optional<double>> least, most;
    for (const MeasuredParameter& parameter : measurements.parameters) {
        least.emplace_back(parameter.least);
        most.emplace_back(parameter.most);
    }
    std::map<std::string, std::vector<const MeasuredRow*>> known;
    for (MeasuredRow& row : measurements.rows) {
        assembly.attempt([&] {
            document(row, most);
            Node tried = document(row, least);
            row.exchange_alone = tried.find("collective") != nullptr;
            forget_names(tried);
            known[resolve(std::move(tried), assembly.other_files()).text()].push_back(&row);
        });
    }
    for (const auto& [text, rows] : known)
        for (std::size_t i = 1; i < rows.size(); ++i)
            check_repeated(*rows[i], {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i)});
}

void MeasuredScenario::Parts::check_repeated(const MeasuredRow& row, const std::vector<const MeasuredRow*>& same) {
    for (const MeasuredRow* other : same) {
        const bool both = other->calibrates != row.calibrates;
        if (!both && measurements.series[other->series].field != measurements.series[row.series].field) continue;
        return assembly.report(node(row).mark,
                               fmt::format("row '{}' is the same simulation as row '{}'{}", row.name, other->name,
                                           both ? ", which would be fitted and predicted" : ""),
                               fmt::format("the other row is in line {}", other->at.line));
    }
}

void MeasuredScenario::Parts::require_closed(const MeasuredRow& row, const Variant& variant, const GridChoices& grids) {
    if (variant.collective && !variant.collective->sweep.empty())
        assembly.report(node(row).mark, "this row has several sizes, but a measurement has one",
                        "add collective.bytes to `over` or `set`");
    if (!grids.fitting.empty())
        assembly.report(node(row).mark, "this row leaves its grid open, but a measurement has one",
                        "add training.parallelism.grid to `over` or `set`");
}

Node MeasuredScenario::Parts::document(const MeasuredRow& row, const std::vector<std::optional<double>>& values) {
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
    for (std::size_t i = 0; i < series.over.size(); ++i)
        apply(document_of(series.over[i], item(node(series), "over", i).mark, item(node(row), "at", i)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i]) continue;
        const MeasuredParameter& parameter = measurements.parameters[i];
        const Mark& mark = mark_of(item(list, "parameters", i), "key");
        apply(document_of(parameter.key, mark, scalar_at(mark, parameter.text(*values[i]))));
    }
    for (const Node& changes : last) apply(changes);
    std::string unnamed;
    GridChoices grids;
    const Variant read = read_variant(assembly, document, series.variant, unnamed, grids, inspect);
    require_closed(row, read, grids);
    assembly.finish();
    return document;
}

MeasuredScenario::MeasuredScenario(const MeasuredFiles& files, const Inspect& inspect)
    : parts_(std::make_unique<Parts>()) {
    parts_->inspect = inspect;
    parts_->load(files);
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
    Node document = parts_->document(row, values);
    return resolve(std::move(document), parts_->assembly.other_files());
}

bool is_measured(const std::string& path) {
    Assembly assembly;
    return assembly.library.load_argument(path).find(measured_key) != nullptr;
}

}  // namespace syncline::config
