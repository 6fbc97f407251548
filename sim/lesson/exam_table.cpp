#include "sim/lesson/exam_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "sim/base/units.hpp"

namespace syncline::lesson {

namespace {

using Kind = AnswerColumn::Kind;

constexpr AnswerColumn columns[]{
    {"iteration", "iteration_time_s", Kind::seconds},
    {"time", "completion_time_s", Kind::seconds},
    {"communication", "communication_time_s", Kind::seconds},
    {"exposed", "exposed_communication_time_s", Kind::seconds},
    {"samples/s", "throughput_samples_per_s", Kind::plain},
    {"efficiency", "scaling_efficiency", Kind::percent},
    {"bubble", "pipeline_bubble", Kind::percent},
    {"memory", "memory.total_bytes", Kind::bytes},
    {"TFLOP/s", "tflops_per_device", Kind::plain},
    {"staleness", "updates.staleness_mean", Kind::plain},
};

}  // namespace

const AnswerColumn* answer_column(std::string_view heading) {
    const auto found = std::ranges::find(columns, heading, &AnswerColumn::heading);
    return found == std::end(columns) ? nullptr : found;
}

std::string shown(double value, AnswerColumn::Kind kind) {
    if (kind == Kind::seconds) return format_quantity(value, Dimension::seconds);
    if (kind == Kind::bytes) return format_quantity(value, Dimension::bytes);
    return kind == Kind::percent ? fmt::format("{:.4g} %", value * 100) : fmt::format("{:.5g}", value);
}

bool is_formula(std::string_view heading) {
    return heading.starts_with("formula");
}

Table table_of(const std::string& section) {
    const std::vector<Table> all = tables("## Answer\n" + section, "Answer");
    return all.empty() ? Table{} : all.front();
}

}  // namespace syncline::lesson
