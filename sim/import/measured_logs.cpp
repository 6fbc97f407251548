#include "sim/import/measured_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

/// Returns "64 KiB", or "1000 B" if that is no multiple of a larger unit.
std::string size_text(std::uint64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
    std::size_t unit = 0;
    for (; unit + 1 < std::size(units) && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
    return fmt::format("{} {}", bytes, units[unit]);
}

Node list_of(const Mark& mark, std::vector<Node> items) {
    Node list = empty_at(mark, Node::Kind::sequence);
    list.items = std::move(items);
    return list;
}

Node text_at(const Mark& mark, const std::string& text) {
    Node node = scalar_at(mark, text);
    node.quoted = true;
    return node;
}

}  // namespace

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void add_measured(Imported& imported, const MeasuredCollective& measured) {
    constexpr std::size_t most_sizes = 1000;
    std::map<std::uint64_t, std::vector<const MeasuredPoint*>> sizes;
    for (const MeasuredPoint& point : measured.points) sizes[point.bytes].push_back(&point);
    if (sizes.size() > most_sizes)
        return imported.findings.fail(measured.mark, "this log has too many sizes",
                                      fmt::format("the maximum is {}", most_sizes));
    if (sizes.empty()) return imported.findings.fail(measured.mark, "this log has no measured times");
    std::vector<Node> rows;
    bool repeated = false;
    for (const auto& [bytes, points] : sizes) {
        const Mark& mark = points.front()->mark;
        std::vector<double> times;
        for (const MeasuredPoint* const point : points) times.push_back(point->us);
        repeated = repeated || times.size() > 1;
        rows.push_back(Written(mark)
                           .set("at", list_of(mark, {scalar_at(mark, size_text(bytes))}))
                           .set("value", fmt::format("{:.10g}", median_of(times)))
                           .take());
    }
    if (repeated) imported.findings.note(measured.mark, "of a size with several times the median is taken");
    Written collective(measured.mark);
    if (!measured.operation.empty()) collective.set("operation", measured.operation);
    if (measured.ranks > 0) collective.set("ranks", measured.ranks);
    imported.collective = collective.set("bytes", size_text(sizes.rbegin()->first)).take();
    Node series = Written(measured.mark)
                      .set("name", measured.operation.empty() ? "log" : measured.operation)
                      .set("over", list_of(measured.mark, {scalar_at(measured.mark, "collective.bytes")}))
                      .set("rows", list_of(measured.mark, std::move(rows)))
                      .take();
    imported.measured =
        Written(measured.mark)
            .set("source", text_at(measured.mark, fmt::format("{}, {}", measured.source, measured.mark.source->name)))
            .set("field", "completion_time_s")
            .set("unit", "us")
            .set("series", list_of(measured.mark, {std::move(series)}))
            .take();
}

void add_measured(Imported& imported, const MeasuredSteps& measured) {
    if (measured.steps.empty()) return imported.findings.fail(measured.mark, "this log has no measured steps");
    std::vector<MeasuredStep> steps = measured.steps;
    const std::int64_t first = steps.front().step;
    std::erase_if(steps, [&](const MeasuredStep& one) { return one.step == first; });
    if (steps.empty()) steps = measured.steps;
    if (steps.front().step == first && !measured.whole_run)
        imported.findings.note(steps.front().value.mark,
                               "only one step is reported; its time may hold the start of the program");
    std::vector<double> values;
    for (const MeasuredStep& one : steps) values.push_back(one.value.value);
    const double median = median_of(values);
    if (median <= 0) return imported.findings.fail(steps.front().value.mark, "the median of this log is zero");
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const Mark& mark = steps.front().value.mark;
    std::string name = "whole run", of = "mean of a whole run";
    if (!measured.whole_run && steps.size() == 1) {
        name = fmt::format("step {}", steps.front().step);
        of = "one reported step";
    } else if (!measured.whole_run) {
        name = fmt::format("steps {} to {}", steps.front().step, steps.back().step);
        of = fmt::format("median of {} reported steps", steps.size());
    }
    Node row = Written(mark).set("name", name).set("value", fmt::format("{:.10g}", median)).take();
    Written all(measured.mark);
    all.set("source",
            text_at(measured.mark, fmt::format("{}, {}: {}", measured.source, measured.mark.source->name, of)));
    if (*high > *low) all.set("noise", fmt::format("{:.2g} %", 50 * (*high - *low) / median));
    all.set("field", measured.field);
    if (*measured.unit != '\0') all.set("unit", measured.unit);
    Node series =
        Written(measured.mark).set("name", "log").set("rows", list_of(measured.mark, {std::move(row)})).take();
    imported.measured = all.set("series", list_of(measured.mark, {std::move(series)})).take();
}

}  // namespace syncline::config
