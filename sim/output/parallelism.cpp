#include "sim/output/parallelism.hpp"

#include <fmt/format.h>

#include <vector>

#include "sim/output/text.hpp"

namespace syncline {

namespace {

std::int64_t columns(const Parallelism& parallelism, const Layout& layout, std::int64_t ranks) {
    return ranks / parallelism.pipeline.stages / layout.replica();
}

// The names of the keys' values in files.
const char* name_of(PipelineSchedule schedule) {
    switch (schedule) {
        case PipelineSchedule::gpipe:
            return "gpipe";
        case PipelineSchedule::one_f_one_b:
            return "1f1b";
        case PipelineSchedule::interleaved:
            return "interleaved";
    }
    return "";
}
const char* name_of(Sharding sharding) {
    switch (sharding) {
        case Sharding::none:
            return "none";
        case Sharding::optimizer:
            return "optimizer";
        case Sharding::gradients:
            return "gradients";
        case Sharding::parameters:
            return "parameters";
    }
    return "";
}

/// Returns an empty text without stages.
std::string schedule_of(const Parallelism& parallelism) {
    return parallelism.pipeline.stages == 1 ? "" : name_of(parallelism.pipeline.schedule);
}

std::string layers_of(const LayerRange& range) {
    return range.first == range.last ? range.first : range.first + ".." + range.last;
}

Json layout_of(const Layout& layout, std::int64_t columns) {
    return {{"rows", layout.rows}, {"columns", columns}, {"height", layout.height}, {"width", layout.width}};
}

std::string ways_of(const Layout& layout, std::int64_t columns) {
    std::vector<std::string> ways;
    if (layout.rows > 1) ways.push_back(fmt::format("model {}", layout.rows));
    if (layout.cells() > 1) ways.push_back(fmt::format("domain {}x{}", layout.height, layout.width));
    if (columns > 1 || ways.empty()) ways.push_back(fmt::format("data {}", columns));
    return fmt::format("{}", fmt::join(ways, ", "));
}

}  // namespace

Json to_json(const Parallelism& parallelism, std::int64_t ranks) {
    const Pipeline& pipeline = parallelism.pipeline;
    Json json = layout_of(parallelism.layout, columns(parallelism, parallelism.layout, ranks));
    json["stages"] = pipeline.stages;
    json["micro_batches"] = pipeline.micro_batches;
    json["schedule"] = text_or_null(schedule_of(parallelism));
    json["chunks"] = pipeline.chunks;
    json["sharding"] = name_of(parallelism.sharding);
    json["sequence"] = parallelism.sequence;
    Json ranges = Json::array();
    for (const LayerRange& range : parallelism.ranges) {
        if (!range.layout) continue;
        Json item{{"first", range.first}, {"last", range.last}};
        item.update(layout_of(*range.layout, columns(parallelism, *range.layout, ranks)));
        ranges.push_back(std::move(item));
    }
    json["ranges"] = std::move(ranges);
    return json;
}

const char* const text::parallelism_columns =
    "parallelism_rows,parallelism_columns,parallelism_height,parallelism_width,parallelism_stages,"
    "parallelism_micro_batches,parallelism_schedule,parallelism_chunks,parallelism_sharding,parallelism_sequence,"
    "parallelism_ranges";

std::string text::parallelism_fields(const Parallelism& parallelism, std::int64_t ranks) {
    const Layout& layout = parallelism.layout;
    const Pipeline& pipeline = parallelism.pipeline;
    std::vector<std::string> ranges;
    for (const LayerRange& range : parallelism.ranges) {
        if (!range.layout) continue;
        const Layout& its = *range.layout;
        ranges.push_back(fmt::format("{} {}x{}", layers_of(range), its.rows, columns(parallelism, its, ranks)));
        if (its.cells() > 1) ranges.back() += fmt::format("x{}x{}", its.height, its.width);
    }
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", layout.rows, columns(parallelism, layout, ranks),
                       layout.height, layout.width, pipeline.stages, pipeline.micro_batches, schedule_of(parallelism),
                       pipeline.chunks, name_of(parallelism.sharding), parallelism.sequence,
                       quoted(fmt::format("{}", fmt::join(ranges, "; "))));
}

std::string text::split(const Parallelism& parallelism, std::int64_t ranks) {
    const Pipeline& pipeline = parallelism.pipeline;
    std::string result;
    if (pipeline.stages > 1) result = fmt::format("pipeline {}, ", pipeline.stages);
    result += ways_of(parallelism.layout, columns(parallelism, parallelism.layout, ranks));
    for (const LayerRange& range : parallelism.ranges)
        if (range.layout && *range.layout != parallelism.layout)
            result += fmt::format("; {} {}", layers_of(range),
                                  ways_of(*range.layout, columns(parallelism, *range.layout, ranks)));
    if (pipeline.micro_batches > 1) result += fmt::format("; {} micro-batches", pipeline.micro_batches);
    if (pipeline.stages > 1) result += fmt::format(" {}", schedule_of(parallelism));
    if (pipeline.chunks > 1) result += fmt::format(", {} chunks", pipeline.chunks);
    if (parallelism.sequence) result += "; sequence";
    if (parallelism.sharding != Sharding::none) result += fmt::format("; sharded {}", name_of(parallelism.sharding));
    return result;
}

}  // namespace syncline
