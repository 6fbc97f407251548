#include "sim/output/parallelism_text.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "sim/output/cells.hpp"

namespace syncline {

namespace {

const char* name_of(PipelineSchedule schedule) {
    constexpr std::array names{"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe-v", "dualpipe"};
    return names[static_cast<std::size_t>(schedule)];
}

std::string layers_of(const LayerRange& range) {
    return range.first == range.last ? range.first : range.first + ".." + range.last;
}

std::string ways_of(const Layout& layout, std::int64_t columns) {
    std::vector<std::string> ways;
    if (layout.rows > 1) ways.push_back(fmt::format("model {}", layout.rows));
    if (layout.cells() > layout.context) ways.push_back(fmt::format("domain {}x{}", layout.height, layout.width));
    if (layout.context > 1) ways.push_back(fmt::format("context {}", layout.context));
    if (columns > 1 || ways.empty()) ways.push_back(fmt::format("data {}", columns));
    return fmt::format("{}", fmt::join(ways, ", "));
}

}  // namespace

std::int64_t columns(const Parallelism& parallelism, const Layout& layout, std::int64_t ranks) {
    return ranks / parallelism.pipeline.stages / layout.replica();
}

const char* name_of(Sharding sharding) {
    constexpr std::array names{"none", "optimizer", "gradients", "parameters"};
    return names[static_cast<std::size_t>(sharding)];
}

const char* name_of(ContextExchange exchange) {
    return exchange == ContextExchange::ring ? "ring" : "ulysses";
}

std::string schedule_of(const Parallelism& parallelism) {
    return parallelism.pipeline.stages == 1 ? "" : name_of(parallelism.pipeline.schedule);
}

std::string transfers_of(const Parallelism& parallelism) {
    if (parallelism.pipeline.stages == 1) return "";
    return parallelism.pipeline.blocks() ? "blocking" : "overlapped";
}

std::string gathering_of(const Parallelism& parallelism) {
    if (!divides_updates(parallelism.sharding)) return "";
    return parallelism.gather == Gather::before_forward ? "before-forward" : "after-update";
}

std::string gradient_sync_of(const Parallelism& parallelism) {
    if (parallelism.pipeline.micro_batches == 1) return "";
    return parallelism.syncs_each_micro_batch() ? "each-micro-batch" : "last-micro-batch";
}

std::string device_queues_of(const Parallelism& parallelism) {
    return parallelism.device_queues == DeviceQueues::one ? "one" : "";
}

Json ranges_of(const Parallelism& parallelism, std::int64_t ranks) {
    Json ranges = Json::array();
    for (const LayerRange& range : parallelism.ranges) {
        if (!range.layout) continue;
        const Layout& its = *range.layout;
        ranges.push_back({{"first", range.first},
                          {"last", range.last},
                          {"rows", its.rows},
                          {"columns", columns(parallelism, its, ranks)},
                          {"height", its.height},
                          {"width", its.width}});
    }
    return ranges;
}

std::string text::ranges(const Parallelism& parallelism, std::int64_t ranks) {
    std::vector<std::string> texts;
    for (const LayerRange& range : parallelism.ranges) {
        if (!range.layout) continue;
        const Layout& its = *range.layout;
        texts.push_back(fmt::format("{} {}x{}", layers_of(range), its.rows, columns(parallelism, its, ranks)));
        if (its.cells() > its.context) texts.back() += fmt::format("x{}x{}", its.height, its.width);
    }
    return fmt::format("{}", fmt::join(texts, "; "));
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
    if (pipeline.micro_batches > 1) result += fmt::format("; {} microbatches", pipeline.micro_batches);
    if (pipeline.stages > 1) result += fmt::format(" {}", schedule_of(parallelism));
    if (pipeline.virtual_stages > 1) result += fmt::format(", {} virtual stages", pipeline.virtual_stages);
    const std::int64_t expert_rows = parallelism.experts.rows_of(parallelism.layout.rows);
    if (parallelism.experts.ranks > 1 || expert_rows != parallelism.layout.rows)
        result += fmt::format("; experts {}", parallelism.experts.ranks);
    if (expert_rows != parallelism.layout.rows) result += fmt::format(" × model {}", expert_rows);
    if (parallelism.experts.imbalance > 0) result += fmt::format(" ±{:.3g} %", 100 * parallelism.experts.imbalance);
    if (parallelism.layout.context > 1 && parallelism.context_exchange == ContextExchange::ulysses)
        result += "; ulysses";
    if (parallelism.sequence) result += "; sequence";
    if (parallelism.model_chunks > 1) result += fmt::format(", GEMMs in {} chunks", parallelism.model_chunks);
    if (parallelism.sharding == Sharding::none) return result;
    result += fmt::format("; sharded {}", name_of(parallelism.sharding));
    if (parallelism.shard_ranks)
        result += *parallelism.shard_ranks == ranks_of_node ? std::string(" within nodes")
                                                            : fmt::format(" among {}", *parallelism.shard_ranks);
    if (gathering_of(parallelism) == "before-forward") result += ", gathered before the forward pass";
    if (device_queues_of(parallelism) == "one") result += ", one device queue";
    return result;
}

}  // namespace syncline
