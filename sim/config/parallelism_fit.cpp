#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/diagnostics.hpp"
#include "sim/config/exchange.hpp"
#include "sim/config/parallelism.hpp"

namespace syncline::config {

namespace {

/// An error, with the path from `training` to the key at fault.
struct Misfit {
    std::string key, message, hint;
};

std::string samples(std::int64_t count) {
    return count == 1 ? "1 sample" : fmt::format("{} samples", count);
}

/// Gives each replica its part of the batch, if the batch of all ranks is given.
std::optional<Misfit> share_batch(Plan& plan, std::int64_t batch) {
    const std::int64_t replicas = plan.replicas(), micro_batches = plan.parallelism.pipeline.micro_batches;
    if (batch > 0) {
        if (batch % replicas != 0)
            return Misfit{"batch", fmt::format("{} cannot be divided into {} replicas", samples(batch), replicas),
                          fmt::format("{} would divide evenly", samples((batch / replicas + 1) * replicas))};
        plan.batch_per_rank = batch / replicas;
        plan.scaling = Scaling::strong;
    }
    if (plan.batch_per_rank % micro_batches == 0) return {};
    return Misfit{"parallelism.pipeline.micro_batches",
                  fmt::format("the {} of a replica cannot be divided into {} micro-batches",
                              samples(plan.batch_per_rank), micro_batches),
                  ""};
}

/// Rejects what is modelled only if every rank has the whole model.
void check_combinations(Fields& training, const Plan& plan) {
    const auto refuse = [&](const char* key, const char* what, const char* hint) {
        training.reject(
            key,
            fmt::format("'{}' is modelled only if every rank has the whole model and computes its whole batch at once",
                        what),
            hint);
    };
    if (plan.exchange != ExchangeKind::allreduce)
        refuse("exchange", plan.exchange == ExchangeKind::gossip ? "gossip" : served_allreduce.c_str(),
               "`exchange: allreduce` works with every `parallelism`");
    if (plan.overlap == Overlap::across_iterations)
        refuse("overlap", "across-iterations", "`overlap: wait-free` works with every `parallelism`");
    if (plan.schedule != Schedule::fifo)
        refuse("schedule", plan.schedule == Schedule::priority ? "priority" : "random",
               "`schedule: fifo` works with every `parallelism`");
    if (plan.fusion.cycle_s > 0)
        refuse("fusion.cycle", "cycle", "remove it; buckets are then released when they are full");
    if (plan.fusion.negotiation) refuse("fusion.negotiation", "negotiation", "");
    if (plan.parallelism.sharding == Sharding::none) return;
    if (plan.selection)
        training.reject("selection", "'selection' has no effect on sharded gradients",
                        "remove `selection` or `sharding`");
    for (const char* key : {"overlay", "segment", "peers"})
        if (training.given(key))
            training.reject(key, fmt::format("'{}' has no effect on sharded gradients", key),
                            "set `activations: {reduce_scatter, allgather}` of `parallelism` instead");
}

/// Returns the number of the layer called `name`; rejects `key` if there is none.
std::optional<std::size_t> find_layer(Fields& training, const std::string& key, const Model& model,
                                      const std::string& name) {
    std::vector<std::string> names;
    for (const Layer& layer : model.layers) names.push_back(layer.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const auto near = closest(name, names);
    training.reject(key, fmt::format("workload '{}' has no layer '{}'", model.name, name),
                    near ? fmt::format("did you mean '{}'?", *near)
                         : fmt::format("its layers go from '{}' to '{}'", names.front(), names.back()));
    return {};
}

void check_ranges(Fields& training, const Model& model, const Parallelism& parallelism) {
    std::vector<std::size_t> item_of(model.layers.size(), 0);  // counted from 1; 0: in none
    for (std::size_t i = 0; i < parallelism.ranges.size(); ++i) {
        const LayerRange& range = parallelism.ranges[i];
        const std::string key = fmt::format("parallelism.layers.{}", i);
        const auto first = find_layer(training, key + ".first", model, range.first);
        const auto last = range.last == range.first ? first : find_layer(training, key + ".last", model, range.last);
        if (!first || !last) continue;
        if (*last < *first) {
            training.reject(key + ".last", fmt::format("'{}' is before '{}'", range.last, range.first), "");
            continue;
        }
        for (std::size_t layer = *first; layer <= *last; ++layer) {
            if (item_of[layer] != 0) {
                training.reject(key + ".first",
                                fmt::format("layer '{}' is also in item {}", model.layers[layer].name, item_of[layer]),
                                "");
                break;
            }
            item_of[layer] = i + 1;
        }
    }
}

void check_parts(Fields& training, const Model& model, const Pipeline& pipeline) {
    const auto layers = static_cast<std::int64_t>(model.layers.size());
    const std::int64_t parts = pipeline.stages * pipeline.chunks;
    std::int64_t listed = 0;
    for (const std::int64_t count : pipeline.layers) listed += count;
    if (parts > layers)
        training.reject("parallelism.pipeline.stages",
                        fmt::format("workload '{}' has {} layers, too few for {} parts", model.name, layers, parts),
                        "");
    else if (!pipeline.layers.empty() && listed != layers)
        training.reject("parallelism.pipeline.layers",
                        fmt::format("these are {} layers, but workload '{}' has {}", listed, model.name, layers), "");
}

/// Returns all bytes of gradients by the number of ranks with the same weights.
std::map<std::uint32_t, std::uint64_t> gradient_groups(const Arrangement& arrangement) {
    std::map<std::uint32_t, std::uint64_t> groups;
    for (const PlacedLayer& layer : arrangement.layers) groups[layer.replicas.size] += layer.bytes;
    return groups;
}

/// Returns why the algorithm cannot exchange the gradients, if it cannot. The algorithms for sharded gradients have
/// none of its parameters and work for any group.
std::optional<Misfit> gradients_misfit(const Arrangement& arrangement, const Plan& plan) {
    if (plan.selection || plan.parallelism.sharding != Sharding::none) return {};
    for (const auto& [members, bytes] : gradient_groups(arrangement)) {
        if (members == 1) continue;
        try {
            make_algorithm(plan.algorithm, members)->program(0, members, bytes, 0);
        } catch (const AlgorithmError& error) {
            return Misfit{error.key, fmt::format("all-reduce of gradients among {} ranks: {}", members, error.what()),
                          error.hint};
        }
    }
    return {};
}

/// Checks the selection's rows for every size of group.
void check_selections(Fields& training, const Cluster& cluster, const Plan& plan, const Arrangement& arrangement) {
    if (!plan.selection) return;
    for (const auto& [members, bytes] : gradient_groups(arrangement))
        check_selection(training, *plan.selection, "allreduce", cluster, members, bytes);
}

/// Lowers the plan, or returns why it cannot be carried out. Rejects errors of a selection at their place.
std::optional<Misfit> try_lower(Fields& training, const Cluster& cluster, const Model& model, const Plan& plan,
                                std::shared_ptr<const Lowered>& lowered) {
    try {
        lowered = std::make_shared<const Lowered>(lower(cluster, model, plan));
        if (auto misfit = gradients_misfit(lowered->arrangement, plan)) return misfit;
        check_selections(training, cluster, plan, lowered->arrangement);
        return {};
    } catch (const ParallelismError& error) {
        return Misfit{"parallelism." + error.key, error.what(), error.hint};
    } catch (const AlgorithmError& error) {
        const Arrangement arrangement = arrange(cluster, model, plan);
        if (auto misfit = gradients_misfit(arrangement, plan)) return misfit;
        check_selections(training, cluster, plan, arrangement);
        if (!training.sound()) return {};
        return Misfit{error.key, error.what(), error.hint};
    }
}

void reject(Fields& training, const Misfit& misfit) {
    // Rows may be given by two keys.
    const bool model = misfit.key == "parallelism.grid" && training.given("parallelism.model");
    training.reject(model ? "parallelism.model" : misfit.key, misfit.message, misfit.hint);
}

Plan with_rows(Plan plan, const OpenPlan& open, std::int64_t rows) {
    Parallelism& parallelism = plan.parallelism;
    if (open.grid) parallelism.layout.rows = rows;
    for (const std::size_t range : open.ranges) parallelism.ranges[range].layout->rows = rows;
    parallelism.sequence = parallelism.sequence && splits_weights(parallelism);
    return plan;
}

/// Returns the key of the first `grid: auto`.
std::string automatic_key(const OpenPlan& open) {
    return open.grid ? "parallelism.grid" : fmt::format("parallelism.layers.{}.grid", open.ranges.front());
}

/// Returns the number of columns for `rows` rows in layouts that are left open, or nothing if they do not divide the
/// ranks.
std::optional<std::int64_t> columns_beside(const Plan& plan, const OpenPlan& open, std::int64_t rows) {
    const Parallelism& parallelism = plan.parallelism;
    std::vector<Layout> layouts;
    if (open.grid) layouts.push_back(parallelism.layout);
    for (const std::size_t range : open.ranges) layouts.push_back(*parallelism.ranges[range].layout);
    for (const Layout& layout : layouts)
        if (plan.stage_ranks() % (rows * layout.cells()) != 0) return {};
    return plan.stage_ranks() / (rows * layouts.front().cells());
}

}  // namespace

void settle_parallelism(Fields& training, Plan& plan, const OpenPlan& open) {
    if (open.automatic() || !plan.parallelism.data_only()) check_combinations(training, plan);
    if (training.given("batch") && training.given("batch_per_rank"))
        training.reject("batch", "'batch' and 'batch_per_rank' exclude each other", "remove one of the two");
    if (open.automatic() && open.batch == 0)
        training.reject(automatic_key(open), "`grid: auto` compares grids at the same batch, but there is no 'batch'",
                        "write `batch`, the samples of all ranks together, in place of `batch_per_rank`");
    if (!training.sound() || open.automatic()) return;
    if (const auto misfit = share_batch(plan, open.batch)) reject(training, *misfit);
}

GridChoices check_parallelism(Fields& training, Variant& variant, const OpenPlan& open) {
    const Plan& plan = variant.plan;
    check_ranges(training, variant.model, plan.parallelism);
    check_parts(training, variant.model, plan.parallelism.pipeline);
    GridChoices choices;
    if (!training.sound() || (plan.parallelism.data_only() && !open.automatic())) return choices;
    std::shared_ptr<const Lowered> lowered;
    if (!open.automatic()) {
        if (const auto misfit = try_lower(training, variant.cluster, variant.model, plan, lowered))
            reject(training, *misfit);
        else
            variant.keep(std::move(lowered));
        return choices;
    }
    for (std::int64_t rows = 1; rows <= plan.stage_ranks(); ++rows) {
        const auto columns = columns_beside(plan, open, rows);
        if (!columns) continue;
        Plan chosen = with_rows(plan, open, rows);
        auto misfit = share_batch(chosen, open.batch);
        if (!misfit) misfit = try_lower(training, variant.cluster, variant.model, chosen, lowered);
        if (misfit) {
            choices.left_out.push_back(fmt::format("{}x{}: {}", rows, *columns, misfit->message));
            continue;
        }
        choices.fitting.push_back({rows, *columns, std::move(lowered)});
    }
    if (choices.fitting.empty())
        training.reject(automatic_key(open), fmt::format("none of {} grids fits", choices.left_out.size()),
                        choices.left_out.empty() ? "" : choices.left_out.front());
    return choices;
}

}  // namespace syncline::config
