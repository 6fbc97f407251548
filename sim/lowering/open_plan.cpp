#include "sim/lowering/open_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/counted.hpp"
#include "sim/lowering/rules.hpp"
#include "sim/plan/inherited.hpp"

namespace syncline {

namespace {

std::string number_of_samples(std::int64_t count) {
    return counted(count, "sample");
}

void judge_stragglers(const Plan& plan, Complaints& complaints) {
    const auto complain = [&](std::string message, std::string hint) {
        complaints.push_back({"stragglers.ranks", std::move(message), std::move(hint)});
    };
    const Stragglers& stragglers = plan.noise.stragglers;
    if (stragglers.count > plan.ranks)
        complain(fmt::format("{} stragglers exceed the number of ranks", stragglers.count),
                 fmt::format("there are {}", plan.ranks));
    std::set<std::int64_t> seen;
    for (const std::int64_t rank : stragglers.ranks) {
        if (rank >= plan.ranks)
            return complain(fmt::format("there is no rank {}", rank),
                            fmt::format("there are {}: 0 to {}", plan.ranks, plan.ranks - 1));
        if (!seen.insert(rank).second) return complain(fmt::format("rank {} is listed twice", rank), "");
    }
}

void judge_pipeline(const Plan& plan, Complaints& complaints) {
    const Pipeline& pipeline = plan.parallelism.pipeline;
    const std::string key = "parallelism.pipeline.";
    const std::int64_t all = pipeline.stages * pipeline.virtual_stages;
    if (!pipeline.layers.empty() && std::ssize(pipeline.layers) != all)
        complaints.push_back({key + "layers",
                              fmt::format("there are {} {}stages, but the layers of {} are listed", all,
                                          pipeline.virtual_stages > 1 ? "virtual " : "", pipeline.layers.size()),
                              ""});
    if (plan.ranks % pipeline.stages != 0)
        complaints.push_back({key + "stages",
                              fmt::format("{} ranks cannot be divided into {} stages", plan.ranks, pipeline.stages),
                              ""});
}

/// Complains if the stages of an interleaved schedule cannot take turns, or microbatches do not fill those of a V.
void judge_turns(const Pipeline& pipeline, const char* blamed, Complaints& complaints) {
    if (pipeline.schedule == PipelineSchedule::dualpipe_v && pipeline.micro_batches < 2 * pipeline.stages)
        complaints.push_back(
            {std::string("parallelism.pipeline.") + blamed,
             fmt::format("`dualpipe-v` needs twice as many microbatches as stages, {}, but there are {}",
                         2 * pipeline.stages, pipeline.micro_batches),
             "", "parallelism.pipeline.schedule"});
    if (pipeline.schedule != PipelineSchedule::interleaved || pipeline.micro_batches % pipeline.stages == 0) return;
    const std::string key = "parallelism.pipeline.";
    complaints.push_back(
        {key + blamed,
         fmt::format("with an interleaved schedule the {} stages must divide the number of microbatches, {}",
                     pipeline.stages, pipeline.micro_batches),
         "", key + "schedule"});
}

/// Says which sizes near `size` divide a batch.
std::string nearest_divisors(std::int64_t batch, std::int64_t size) {
    if (size > batch) return fmt::format("write at most {}", batch);
    std::int64_t below = size, above = size;
    while (batch % below != 0) --below;
    while (batch % above != 0) ++above;
    return fmt::format("write {} or {}", below, above);
}

/// Judges a layout whose factors have to multiply to the ranks of a stage. `key` is the mapping that gives it.
void judge_factors(const Plan& plan, const Layout& layout, std::int64_t columns, const std::string& key,
                   Complaints& complaints) {
    const std::int64_t ranks = plan.stage_ranks(), stages = plan.parallelism.pipeline.stages;
    const std::string whose =
        stages == 1 ? counted(ranks, "rank") : fmt::format("{} ranks of each of {} stages", ranks, stages);
    const bool sequences = layout.cells() == layout.context;
    const std::string parts = sequences ? fmt::format("{} parts of a sequence", layout.context)
                                        : fmt::format("{}×{} parts of an image", layout.height, layout.width);
    if (ranks % layout.rows != 0)
        complaints.push_back({key + "model", fmt::format("{} cannot be divided into {} rows", whose, layout.rows), ""});
    else if (ranks / layout.rows % layout.cells() != 0)
        complaints.push_back({sequences ? "parallelism.context" : key + "domain",
                              layout.rows == 1
                                  ? fmt::format("{} cannot be divided into {}", whose, parts)
                                  : fmt::format("{} cannot be divided into {} rows of {}", whose, layout.rows, parts),
                              ""});
    else if (columns != 0 && layout.replica() * columns != ranks)
        complaints.push_back(
            {key + "data",
             fmt::format("{} rows{} × {} columns are {} ranks, but there are {}", layout.rows,
                         layout.cells() == 1 ? "" : " × " + parts, columns, layout.replica() * columns, whose),
             fmt::format("write {} columns, or remove this key", ranks / layout.replica())});
}

void judge_layouts(const Plan& plan, const OpenPlan& open, Complaints& complaints) {
    const Parallelism& parallelism = plan.parallelism;
    judge_factors(plan, parallelism.layout, open.grid.columns, "parallelism.", complaints);
    for (std::size_t i = 0; i < parallelism.ranges.size(); ++i)
        if (const auto& layout = parallelism.ranges[i].layout)
            judge_factors(plan, *layout, i < open.ranges.size() ? open.ranges[i].columns : 0,
                          fmt::format("parallelism.layers.{}.", i), complaints);
}

/// Complains about numbers that do not divide, and divides the batch if all others do.
Complaints divide(Plan& plan, const OpenPlan& open) {
    Complaints complaints;
    judge_stragglers(plan, complaints);
    if (open.everything) return complaints;  // a search judges each of its plans
    const std::size_t before = complaints.size();
    judge_pipeline(plan, complaints);
    if (open.micro_batch_size == 0) judge_turns(plan.parallelism.pipeline, "micro_batches", complaints);
    if (complaints.size() == before) judge_layouts(plan, open, complaints);
    return complaints.empty() && !open.automatic() ? share_batch(plan, open) : complaints;
}

/// Gives what is not exchanged by an all-reduce an algorithm of its own: the weights of gossip, and the values of
/// top_k.
void choose_algorithm(Plan& plan) {
    if (plan.exchange == ExchangeKind::gossip) {
        plan.algorithm.operation = "neighbour-exchange";
        plan.algorithm.name = "gossip";
    } else if (plan.exchange == ExchangeKind::allreduce && plan.compression.kind == Compression::Kind::top_k) {
        plan.algorithm.operation = "allgather";
        plan.algorithm.name = plan.compression.allgather;
    }
}

/// Cuts DualPipe in half: see settle().
Complaints cut_in_half(Plan& plan, OpenPlan& open) {
    Pipeline& pipeline = plan.parallelism.pipeline;
    const std::string key = "parallelism.pipeline.", schedule = key + "schedule";
    if (open.everything)
        return {{schedule, "a search of plans does not know `dualpipe`", "write `dualpipe-v` and half as many stages"}};
    if (pipeline.stages < 4 || pipeline.stages % 2 != 0)
        return {
            {key + "stages",
             fmt::format("`dualpipe` needs an even number of stages, at least 4, but there are {}", pipeline.stages),
             "", schedule}};
    if (pipeline.virtual_stages != 1)
        return {{key + "virtual_stages", "a stage of `dualpipe` has its own layers and those of the stage opposite",
                 "remove this key", schedule}};
    const bool counted = open.micro_batch_size == 0;
    if (counted && (pipeline.micro_batches % 2 != 0 || pipeline.micro_batches < 2 * pipeline.stages))
        return {{key + "micro_batches",
                 fmt::format("`dualpipe` needs an even number of microbatches, at least twice as many as stages, {}, "
                             "but there are {}",
                             2 * pipeline.stages, pipeline.micro_batches),
                 "", schedule}};
    if (open.batch == 0 && plan.batch_per_rank % 2 != 0)
        return {{"batch_per_rank",
                 fmt::format("`dualpipe` begins at both ends of a pipeline, which cannot share {}",
                             number_of_samples(plan.batch_per_rank)),
                 "write an even number", schedule}};
    pipeline.schedule = PipelineSchedule::dualpipe_v;
    pipeline.stages /= 2;
    pipeline.virtual_stages = 2;
    if (counted) pipeline.micro_batches /= 2;
    if (open.batch == 0) plan.batch_per_rank /= 2;
    open.grid.columns *= 2;
    for (OpenPlan::Grid& range : open.ranges) range.columns *= 2;
    return {};
}

}  // namespace

bool splits_weights(const Parallelism& parallelism) {
    return parallelism.layout.rows > 1 ||
           std::any_of(parallelism.ranges.begin(), parallelism.ranges.end(),
                       [](const LayerRange& range) { return range.layout && range.layout->rows > 1; });
}

bool OpenPlan::automatic() const {
    return everything || grid.automatic ||
           std::any_of(ranges.begin(), ranges.end(), [](const Grid& one) { return one.automatic; });
}

std::string OpenPlan::automatic_key() const {
    if (everything) return "parallelism";
    if (grid.automatic) return "parallelism.model";
    const auto first = std::find_if(ranges.begin(), ranges.end(), [](const Grid& one) { return one.automatic; });
    return fmt::format("parallelism.layers.{}.model", first - ranges.begin());
}

Complaints settle(Plan& plan, const OpenPlan& open) {
    if (plan.parallelism.pipeline.schedule == PipelineSchedule::dualpipe) {
        OpenPlan halves = open;
        const Complaints complaints = cut_in_half(plan, halves);
        return complaints.empty() ? settle(plan, halves) : complaints;
    }
    choose_algorithm(plan);
    const Complaints divisions = divide(plan, open);
    Complaints complaints = broken_rules(plan, open);
    if (open.everything)
        std::erase_if(complaints, [](const Complaint& one) { return one.key.starts_with("parallelism."); });
    complaints.insert(complaints.end(), divisions.begin(), divisions.end());
    bool changed = false;
    for (const Complaint& complaint : complaints) changed = disinherit(plan, complaint.key) || changed;
    return changed ? settle(plan, open) : complaints;
}

Plan with_rows(Plan plan, const OpenPlan& open, std::int64_t rows) {
    Parallelism& parallelism = plan.parallelism;
    if (open.grid.automatic) parallelism.layout.rows = rows;
    for (std::size_t i = 0; i < open.ranges.size(); ++i)
        if (open.ranges[i].automatic) parallelism.ranges[i].layout->rows = rows;
    parallelism.sequence = parallelism.sequence && splits_weights(parallelism);
    return plan;
}

Complaints share_batch(Plan& plan, const OpenPlan& open) {
    const std::int64_t replicas = plan.replicas(), batch = open.batch;
    Pipeline& pipeline = plan.parallelism.pipeline;
    if (batch > 0) {
        if (batch % replicas != 0)
            return {{"batch", fmt::format("{} cannot be divided into {} replicas", number_of_samples(batch), replicas),
                     fmt::format("{} would divide evenly", number_of_samples((batch / replicas + 1) * replicas))}};
        plan.batch_per_rank = batch / replicas;
        plan.scaling = Scaling::strong;
    }
    if (const std::int64_t size = open.micro_batch_size; size > 0) {
        if (plan.batch_per_rank % size != 0)
            return {{"parallelism.pipeline.micro_batch_size",
                     fmt::format("the {} of a replica cannot be divided into microbatches of {}",
                                 number_of_samples(plan.batch_per_rank), size),
                     nearest_divisors(plan.batch_per_rank, size)}};
        pipeline.micro_batches = plan.batch_per_rank / size;
        Complaints complaints;
        judge_turns(pipeline, "micro_batch_size", complaints);
        return complaints;
    }
    if (plan.batch_per_rank % pipeline.micro_batches == 0) return {};
    return {{"parallelism.pipeline.micro_batches",
             fmt::format("the {} of a replica cannot be divided into {} microbatches",
                         number_of_samples(plan.batch_per_rank), pipeline.micro_batches),
             ""}};
}

}  // namespace syncline
