#include "sim/training/open_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/training/inherited.hpp"

namespace syncline {

namespace {

std::string number_of_samples(std::int64_t count) {
    return count == 1 ? "1 sample" : fmt::format("{} samples", count);
}

/// Returns whether some layers have several rows, which can divide positions among them.
bool splits_weights(const Parallelism& parallelism) {
    return parallelism.layout.rows > 1 ||
           std::any_of(parallelism.ranges.begin(), parallelism.ranges.end(),
                       [](const LayerRange& range) { return range.layout && range.layout->rows > 1; });
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

/// Complains about what compressed gradients exclude by themselves.
void judge_compression(const Plan& plan, Complaints& complaints) {
    if (!plan.compression.any()) return;
    const auto refuse = [&](const char* what, const char* hint) { complaints.push_back({"compression", what, hint}); };
    if (plan.exchange == ExchangeKind::gossip)
        return refuse("gossip exchanges weights, not gradients", "remove it, or write `exchange: allreduce`");
    if (plan.exchange == ExchangeKind::parameter_server)
        return refuse("compression is modelled only for an all-reduce", "remove it, or write `exchange: allreduce`");
    if (plan.overlap == Overlap::across_iterations)
        refuse("gradients are decoded before the update, which 'across-iterations' does not wait for",
               "write `overlap: wait-free`");
    if (plan.schedule != Schedule::fifo)
        refuse("gradients are decoded in the order of their release", "write `schedule: fifo`");
    if (plan.partition_bytes > 0 && plan.compression.keeps_rest())
        refuse("values and factors of a bucket are not cut into pieces", "remove `partition`");
}

void judge_pipeline(const Plan& plan, Complaints& complaints) {
    const Pipeline& pipeline = plan.parallelism.pipeline;
    const std::string key = "parallelism.pipeline.";
    if (plan.parallelism.gradient_sync == GradientSync::each_micro_batch && !plan.parallelism.takes_turns())
        complaints.push_back({"parallelism.gradient_sync",
                              pipeline.stages > 1
                                  ? "a pipeline exchanges gradients after its last micro-batch"
                                  : "with this schedule the passes of several micro-batches are mixed on a rank",
                              "remove it, or write `last-micro-batch`"});
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    if (interleaved && pipeline.chunks == 1)
        complaints.push_back({key + "schedule", "an interleaved schedule needs several virtual stages",
                              "write for example `virtual_stages: 2`"});
    if (!interleaved && pipeline.chunks > 1)
        complaints.push_back({key + "virtual_stages",
                              fmt::format("{} virtual stages need an interleaved schedule", pipeline.chunks),
                              "write `schedule: interleaved`"});
    const std::int64_t parts = pipeline.stages * pipeline.chunks;
    if (!pipeline.layers.empty() && std::ssize(pipeline.layers) != parts)
        complaints.push_back({key + "layers",
                              fmt::format("{} stages × {} virtual stages are {} parts, but {} are listed",
                                          pipeline.stages, pipeline.chunks, parts, pipeline.layers.size()),
                              ""});
    if (plan.ranks % pipeline.stages != 0)
        complaints.push_back({key + "stages",
                              fmt::format("{} ranks cannot be divided into {} stages", plan.ranks, pipeline.stages),
                              ""});
}

/// Complains if the stages of an interleaved schedule cannot take turns.
void judge_turns(const Pipeline& pipeline, const char* blamed, Complaints& complaints) {
    if (pipeline.schedule != PipelineSchedule::interleaved || pipeline.micro_batches % pipeline.stages == 0) return;
    const std::string key = "parallelism.pipeline.";
    complaints.push_back(
        {key + blamed,
         fmt::format("with an interleaved schedule the {} stages must divide the number of micro-batches, {}",
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
        stages == 1 ? fmt::format("{} ranks", ranks) : fmt::format("{} ranks of each of {} stages", ranks, stages);
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

void judge_model_overlap(const Plan& plan, const OpenPlan& open, Complaints& complaints) {
    const Parallelism& parallelism = plan.parallelism;
    if (parallelism.model_overlap == ModelOverlap::as_gradients) return;
    const std::string key = "parallelism.model_overlap";
    if (!open.automatic() && !splits_weights(parallelism))
        complaints.push_back({key, "'model_overlap' needs more than one row", "write for example `model: 8`"});
    else if (parallelism.model_chunks > 1 && !parallelism.sequence)
        complaints.push_back({key, "'chunks' are those of the allgathers and reduce-scatters of `sequence`",
                              "write `sequence: true`, or `model_overlap: weight-gradients`"});
    if (parallelism.model_chunks > 1 && plan.compute == ComputeKind::measured)
        complaints.push_back({"compute", "measured times do not say how long a layer computes its products",
                              "write `model_overlap: weight-gradients`, or another `compute`"});
}

void judge_layouts(const Plan& plan, const OpenPlan& open, Complaints& complaints) {
    const Parallelism& parallelism = plan.parallelism;
    judge_factors(plan, parallelism.layout, open.grid.columns, "parallelism.", complaints);
    for (std::size_t i = 0; i < parallelism.ranges.size(); ++i)
        if (const auto& layout = parallelism.ranges[i].layout)
            judge_factors(plan, *layout, i < open.ranges.size() ? open.ranges[i].columns : 0,
                          fmt::format("parallelism.layers.{}.", i), complaints);
    if (parallelism.sequence && !open.automatic() && !splits_weights(parallelism))
        complaints.push_back(
            {"parallelism.sequence", "'sequence' needs more than one row", "write for example `model: 8`"});
    judge_model_overlap(plan, open, complaints);
    if (parallelism.gather == Gather::before_forward && !divides_updates(parallelism.sharding))
        complaints.push_back({"parallelism.gathering",
                              "only weights of which ranks update a share each are gathered before the forward pass",
                              "write `sharding: optimizer`, or remove it"});
    if (parallelism.device_queues == DeviceQueues::one && parallelism.sharding != Sharding::parameters)
        complaints.push_back({"parallelism.device_queues",
                              "only weights that are gathered before each pass can hold up the computation",
                              "write `sharding: parameters`, or remove it"});
}

void judge_context(const Plan& plan, Complaints& complaints) {
    const Parallelism& parallelism = plan.parallelism;
    if (parallelism.layout.context == 1) return;
    const auto cuts = [](const Layout& layout) { return layout.cells() > layout.context; };
    if (cuts(parallelism.layout) ||
        std::any_of(parallelism.ranges.begin(), parallelism.ranges.end(),
                    [&](const LayerRange& range) { return range.layout && cuts(*range.layout); }))
        complaints.push_back(
            {"parallelism.context", "'context' divides sequences, and 'domain' images", "remove one of them"});
    if (plan.compute == ComputeKind::measured && parallelism.context_exchange == ContextExchange::ring)
        complaints.push_back({"compute",
                              "measured times do not say how long a layer computes scores, which a ring overlaps",
                              "write `context: {ranks: …, exchange: ulysses}`, or another `compute`"});
}

void judge_experts(const Plan& plan, Complaints& complaints) {
    const Parallelism& parallelism = plan.parallelism;
    const ExpertGroups& experts = parallelism.experts;
    const auto refuse = [&](const char* key, std::string message, std::string hint) {
        complaints.push_back({key, std::move(message), std::move(hint)});
    };
    if (experts.ranks == 1 && experts.imbalance > 0)
        refuse("parallelism.experts", "an imbalance has no effect on a rank that has all experts",
               "write `experts: {ranks: 8, imbalance: 20 %}`, or remove it");
    if (experts.ranks == 1) return;
    if (experts.imbalance > 0 && parallelism.algorithms.all_to_all == "bruck")
        refuse("parallelism.activations.all_to_all", "'bruck' moves equal blocks, but experts have different loads",
               "write `direct` or `pairwise`");
    if (experts.imbalance > 0 && plan.compute == ComputeKind::measured)
        refuse("compute", "measured times do not say how long a layer computes its experts",
               "remove `imbalance`, or write another `compute`");
}

/// Complains about everything that is modelled only if every rank has the whole model.
void judge_combinations(const Plan& plan, Complaints& complaints) {
    const auto refuse = [&](const char* key, const std::string& what, const char* hint) {
        complaints.push_back(
            {key,
             fmt::format("'{}' is modelled only if every rank has the whole model and computes its whole batch at once",
                         what),
             hint});
    };
    if (plan.exchange != ExchangeKind::allreduce)
        refuse("exchange", plan.exchange == ExchangeKind::gossip ? "gossip" : served_allreduce,
               "`exchange: allreduce` works with every `parallelism`");
    if (plan.overlap == Overlap::across_iterations)
        refuse("overlap", "across-iterations", "`overlap: wait-free` works with every `parallelism`");
    if (plan.schedule != Schedule::fifo)
        refuse("schedule", plan.schedule == Schedule::priority ? "priority" : "random",
               "`schedule: fifo` works with every `parallelism`");
    if (plan.fusion.cycle_s > 0)
        refuse("fusion.cycle", "cycle", "remove it; buckets are then released when they are full");
    if (plan.fusion.negotiation != Negotiation::none) refuse("fusion.negotiation", "negotiation", "");
    if (plan.compression.any()) refuse("compression", "compression", "remove it");
    if (plan.parallelism.sharding != Sharding::none && plan.selection)
        complaints.push_back(
            {"selection", "'selection' has no effect on sharded gradients", "remove `selection` or `sharding`"});
}

/// Does what settle() does for a plan of which every value is written.
Complaints judge_alone(Plan& plan, const OpenPlan& open) {
    Complaints complaints;
    judge_stragglers(plan, complaints);
    judge_compression(plan, complaints);
    judge_context(plan, complaints);
    judge_experts(plan, complaints);
    if (plan.fusion.negotiation != Negotiation::none && plan.exchange == ExchangeKind::parameter_server)
        complaints.push_back({"fusion.negotiation", "ranks do not negotiate with a parameter server",
                              "remove it, or write `exchange: allreduce`"});
    else if (open.automatic() || !plan.parallelism.data_only())
        judge_combinations(plan, complaints);
    const std::size_t before = complaints.size();
    if (!open.everything) {  // a search judges each of its plans
        judge_pipeline(plan, complaints);
        if (open.micro_batch_size == 0) judge_turns(plan.parallelism.pipeline, "micro_batches", complaints);
        if (complaints.size() == before) judge_layouts(plan, open, complaints);
    }
    if (open.automatic() && open.batch == 0)
        complaints.push_back({open.automatic_key(),
                              open.everything
                                  ? "`parallelism: auto` compares plans at the same batch, but there is no 'batch'"
                                  : "`model: auto` compares grids at the same batch, but there is no 'batch'",
                              "write `batch`, the samples of all ranks together, in place of `batch_per_rank`"});
    if (!complaints.empty() || open.automatic()) return complaints;
    const bool whole = plan.parallelism.data_only();
    complaints = share_batch(plan, open);
    if (whole && !plan.parallelism.data_only()) judge_combinations(plan, complaints);
    return complaints;
}

}  // namespace

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
    const Complaints complaints = judge_alone(plan, open);
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
                     fmt::format("the {} of a replica cannot be divided into micro-batches of {}",
                                 number_of_samples(plan.batch_per_rank), size),
                     nearest_divisors(plan.batch_per_rank, size)}};
        pipeline.micro_batches = plan.batch_per_rank / size;
        Complaints complaints;
        judge_turns(pipeline, "micro_batch_size", complaints);
        return complaints;
    }
    if (plan.batch_per_rank % pipeline.micro_batches == 0) return {};
    return {{"parallelism.pipeline.micro_batches",
             fmt::format("the {} of a replica cannot be divided into {} micro-batches",
                         number_of_samples(plan.batch_per_rank), pipeline.micro_batches),
             ""}};
}

}  // namespace syncline
