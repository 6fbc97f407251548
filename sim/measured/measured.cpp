#include "sim/measured/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/units.hpp"
#include "sim/config/axis.hpp"
#include "sim/config/jobs_keys.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/config/resolved.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/measured/measured_overrides.hpp"
#include "sim/measured/measured_parts.hpp"
#include "sim/measured/measured_same.hpp"
#include "sim/measured/measured_texts.hpp"
#include "sim/output/field_units.hpp"

namespace syncline::config {

namespace {

constexpr const char* measured_key = "measured";
constexpr const char* no_unit = "none";

/// Returns the factor from `unit` to the field's own unit, or 0 if `field` cannot have this unit.
double factor_of(const std::string& unit, const std::string& field) {
    const Unit own = unit_of(field);
    if (own == Unit::number || own == Unit::share || own == Unit::money) return unit == no_unit ? 1 : 0;
    if (unit == symbol(own)) return 1;
    const auto dimension = [&]() -> std::optional<Dimension> {
        switch (own) {
            case Unit::seconds:
                return Dimension::seconds;
            case Unit::samples_per_s:
                return Dimension::rate;
            case Unit::bandwidth:
                return Dimension::bandwidth;
            case Unit::joules:
                return Dimension::energy;
            case Unit::watts:
                return Dimension::power;
            default:
                return std::nullopt;
        }
    }();
    return dimension ? parse_quantity("1 " + unit, *dimension).value.value_or(0) : 0;
}

/// Returns "2/64 KiB", with a dash for a key that stays as it is.
std::string joined(std::vector<std::string> settings) {
    std::replace(settings.begin(), settings.end(), std::string(kept_key), std::string("-"));
    return fmt::format("{}", fmt::join(settings, "/"));
}

}  // namespace

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
    left_out = expand_table(assembly, list);
    if (files.choose && assembly.sound()) {
        if (files.fits.empty()) choose_parameters();
        if (!files.fits.empty() || list.find("parameters")) choose_rows();
    }
    if (!files.fits.empty()) replace_parameters(assembly, list, files.fits);
    assembly.finish();
}

void MeasuredScenario::Parts::read() {
    MeasuredKeys keys;
    assembly.read(list, measured_key, [&](Fields& fields) { describe(fields, keys); });
    assembly.finish();
    measurements = std::move(keys.measurements);
    measurements.left_out = left_out;
    std::vector<std::size_t> count(measurements.series.size());
    for (const MeasuredRow& row : measurements.rows) places.push_back(count[row.series]++);
    for (std::size_t i = 0; i < measurements.parameters.size(); ++i) parameter_places.push_back(i);
    check_series();
    check_rows();
    check_parameters(keys);
    check_overrides(assembly, measurements, list, last);
    check_assumptions(keys);
    assembly.finish();
    check_scenarios();
    assembly.finish();
    if (last.empty()) check_effects();  // `--set` may have the last word on what they change
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
        if (series.unit_name == no_unit && series.unit > 0) series.unit_name.clear();
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
        if (row.name.empty()) row.name = joined(row.settings);
        row.name = row.name.empty() ? series.name : fmt::format("{} {}", series.name, row.name);
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
            Document tried = document(row, least);
            row.exchange_alone = tried.node.find("collective") != nullptr;
            forget_names(tried.node);
            known[resolve(std::move(tried.node), tried.files).text()].push_back(&row);
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
                        "add training.parallelism.model to `over` or `set`");
}

void MeasuredScenario::Parts::require_layers(const Model& model, const Node& names) {
    std::vector<std::string> known;
    for (const Layer& layer : model.layers) known.push_back(layer.name);
    for (const Node& one : names.items)
        if (!known.empty() && std::find(known.begin(), known.end(), one.scalar) == known.end())
            assembly.report(one.mark, fmt::format("workload '{}' has no layer '{}'", model.name, one.scalar),
                            did_you_mean(one.scalar, known,
                                         fmt::format("its layers go from '{}' to '{}'", known.front(), known.back())));
}

MeasuredScenario::Parts::Document MeasuredScenario::Parts::document(const MeasuredRow& row,
                                                                    const std::vector<std::optional<double>>& values,
                                                                    const Alternative* alternative) {
    const MeasuredSeries& series = measurements.series[row.series];
    const auto variant = std::find_if(file.variants.begin(), file.variants.end(),
                                      [&](const Entry& entry) { return entry.key == series.variant; });
    Node document = file.base;
    const auto merge_in = [&](Node changes) {
        split_paths(changes);
        change(assembly, document, changes);
    };
    merge_in(variant->value);
    if (const Node* set = node(series).find("set"); set && set->kind == Node::Kind::mapping) merge_in(*set);
    const bool changed = alternative && alternative->applies_to(row.series);
    if (changed && !alternative->over_rows) merge_in(alternative->changes);
    for (std::size_t i = 0; i < series.over.size(); ++i)
        if (row.settings[i] != kept_key)
            merge_in(document_of(series.over[i], item(node(series), "over", i).mark, item(node(row), "at", i)));
    if (changed && alternative->over_rows) merge_in(alternative->changes);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] && measurements.parameters[i].applies_to(row.series)) apply(document, i, *values[i]);
    for (const Node& changes : last) merge_in(changes);
    expand_jobs(assembly, document);
    const Node free_layers = changed ? alternative->free_layers : Node();
    std::string unnamed;
    GridChoices grids;
    const Variant read = read_variant(assembly, document, series.variant, unnamed, grids, inspect, 1, free_layers);
    require_layers(read.model, free_layers);
    if (!free_layers.items.empty()) document.entries.push_back({free_layers_key, free_layers.mark, free_layers});
    require_closed(row, read, grids);
    refuse_open(assembly, document, read);
    const std::vector<OtherFile> files = assembly.other_files();
    assembly.finish();  // forgets them
    return {std::move(document), files};
}

MeasuredScenario::MeasuredScenario(const MeasuredFiles& files, const Inspect& inspect)
    : parts_(std::make_unique<Parts>()) {
    parts_->inspect = inspect;
    parts_->load(files);
    parts_->read();
}
MeasuredScenario::~MeasuredScenario() = default;
MeasuredScenario::MeasuredScenario(MeasuredScenario&&) noexcept = default;
MeasuredScenario& MeasuredScenario::operator=(MeasuredScenario&&) noexcept = default;

const std::string& MeasuredScenario::name() const {
    return parts_->name;
}
const Measurements& MeasuredScenario::measurements() const {
    return parts_->measurements;
}
const std::vector<std::string>& MeasuredScenario::chosen() const {
    return parts_->chosen;
}
Resolved MeasuredScenario::resolved(const MeasuredRow& row, const std::vector<std::optional<double>>& values,
                                    const Alternative* alternative) const {
    Parts::Document document = parts_->document(row, values, alternative);
    return resolve(std::move(document.node), document.files);
}
void MeasuredScenario::require(const Alternative& alternative) const {
    check_alternative(parts_->assembly, parts_->measurements, alternative);
    parts_->assembly.finish();
}

bool is_measured(const std::string& path) {
    Assembly assembly;
    return assembly.library.load_argument(path).find(measured_key) != nullptr;
}

}  // namespace syncline::config
