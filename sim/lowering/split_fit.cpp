#include "sim/lowering/feasibility_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/base/diagnostics.hpp"

namespace syncline {

namespace {

void judge_names(const Model& model, const Plan& plan, Complaints& complaints) {
    const Parallelism& parallelism = plan.parallelism;
    std::vector<std::string> names;
    for (const Layer& layer : model.layers) names.push_back(layer.name);
    const auto find = [&](const std::string& key, const std::string& name) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            const auto near = closest(name, names);
            complaints.push_back({key, fmt::format("workload '{}' has no layer '{}'", model.name, name),
                                  near ? fmt::format("did you mean '{}'?", *near)
                                       : fmt::format("its layers go from '{}' to '{}'", names.front(), names.back())});
        }
        return found - names.begin();
    };
    std::vector<std::size_t> item_of(names.size(), 0);  // counted from 1; 0: in none
    for (std::size_t i = 0; i < parallelism.ranges.size(); ++i) {
        const LayerRange& range = parallelism.ranges[i];
        const std::string key = fmt::format("parallelism.layers.{}.", i);
        const auto first = find(key + "first", range.first);
        const auto last = range.last == range.first ? first : find(key + "last", range.last);
        if (std::max(first, last) == std::ssize(names)) continue;
        if (last < first)
            complaints.push_back({key + "last", fmt::format("'{}' is before '{}'", range.last, range.first), ""});
        for (auto layer = static_cast<std::size_t>(first); std::cmp_less_equal(layer, last); ++layer) {
            if (item_of[layer] != 0) {
                complaints.push_back(
                    {key + "first", fmt::format("layer '{}' is also in item {}", names[layer], item_of[layer]), ""});
                break;
            }
            item_of[layer] = i + 1;
        }
    }
}

void judge_virtual_stages(const Model& model, const Pipeline& pipeline, Complaints& complaints) {
    const std::int64_t layers = std::ssize(model.layers), stages = pipeline.stages * pipeline.virtual_stages;
    const std::int64_t listed = std::accumulate(pipeline.layers.begin(), pipeline.layers.end(), std::int64_t{0});
    if (stages > layers)
        complaints.push_back({"parallelism.pipeline.stages",
                              fmt::format("workload '{}' has {} layers, too few for {} {}stages", model.name, layers,
                                          stages, pipeline.virtual_stages > 1 ? "virtual " : ""),
                              ""});
    else if (!pipeline.layers.empty() && listed != layers)
        complaints.push_back({"parallelism.pipeline.layers",
                              fmt::format("these are {} layers, but workload '{}' has {}", listed, model.name, layers),
                              ""});
}

/// Judges the exchange of gradients for every number of ranks that share weights. The algorithms for sharded gradients
/// have no parameters and work for any group.
Complaints judge_gradients(const Cluster& cluster, const Plan& plan, const Arrangement& arrangement) {
    Complaints complaints;
    if (plan.parallelism.sharding != Sharding::none) return complaints;
    std::map<std::uint32_t, std::uint64_t> bytes_of;  // by the size of the group
    for (const PlacedLayer& layer : arrangement.layers) {
        bytes_of[layer.replicas.size] += layer.bytes;
        if (layer.experts) bytes_of[layer.experts->replicas.size] += layer.experts->bytes;
    }
    for (const auto& [members, bytes] : bytes_of) {
        if (plan.selection) {
            judge_selection(*plan.selection, "allreduce", cluster, members, bytes, complaints);
        } else if (members > 1) {
            judge_algorithm(plan.algorithm, members, bytes, complaints);
            if (complaints.empty()) continue;
            std::string& message = complaints.front().message;
            message = fmt::format("all-reduce of gradients among {} ranks: {}", members, message);
            break;
        }
    }
    return complaints;
}

/// Complains about channels of collectives in a plan that has none.
void judge_channels(const Lowered& training, Complaints& complaints) {
    if (training.plan.channels.value_or(1) <= 1 || !training.buckets.empty()) return;
    bool some = false;
    for (const PlacedLayer& layer : training.arrangement.layers) {
        LayerExchanges::each(layer.exchanges,
                             [&](const ActivationExchange& exchange) { some = some || exchange.in_library(); });
        some = some || !layer.exchanges.weights.empty();
    }
    if (!some)
        complaints.push_back({"channels", "channels are those of collectives, of which this plan has none",
                              "remove it; stages send their outputs in single messages"});
}

/// Lowers the plan, or returns why it cannot be carried out.
Complaints try_lower(const Cluster& cluster, const Model& model, const Plan& plan,
                     std::shared_ptr<const Lowered>& lowered) {
    try {
        lowered = std::make_shared<const Lowered>(lower(cluster, model, plan));
        Complaints complaints = judge_gradients(cluster, plan, lowered->arrangement);
        judge_channels(*lowered, complaints);
        return complaints;
    } catch (const ParallelismError& error) {
        return {{"parallelism." + error.key, error.what(), error.hint}};
    } catch (const AlgorithmError& error) {
        Complaints complaints = judge_gradients(cluster, plan, arrange(cluster, model, plan));
        if (complaints.empty()) complaints.push_back({error.key, error.what(), error.hint});
        return complaints;
    }
}

/// Returns the number of columns for `rows` rows in layouts that are left open, or nothing if they do not divide the
/// ranks.
std::optional<std::int64_t> columns_beside(const Plan& plan, const OpenPlan& open, std::int64_t rows) {
    const Parallelism& parallelism = plan.parallelism;
    std::vector<Layout> layouts;
    if (open.grid.automatic) layouts.push_back(parallelism.layout);
    for (std::size_t i = 0; i < open.ranges.size(); ++i)
        if (open.ranges[i].automatic) layouts.push_back(*parallelism.ranges[i].layout);
    for (const Layout& layout : layouts)
        if (plan.stage_ranks() % (rows * layout.cells()) != 0) return {};
    return plan.stage_ranks() / (rows * layouts.front().cells());
}

/// Returns the complaint about an open plan of which no choice fits. `why` has the first complaint of each choice.
Complaint no_grid_fits(const OpenPlan& open, const Complaints& why, const std::vector<std::string>& left_out) {
    const auto differs = [&](const Complaint& one) {
        return one.key != why.front().key || one.message != why.front().message;
    };
    // An error that all choices have in common does not depend on the grid.
    if (!why.empty() && std::none_of(why.begin(), why.end(), differs)) return why.front();
    return {open.automatic_key(), fmt::format("none of {} grids fits", left_out.size()),
            fmt::format("{}", fmt::join(left_out, "; "))};
}

}  // namespace

void judge_split(const Cluster& cluster, const Model& model, const Plan& plan, const OpenPlan& open,
                 Feasibility& found) {
    judge_names(model, plan, found.complaints);
    judge_virtual_stages(model, plan.parallelism.pipeline, found.complaints);
    if (!found.complaints.empty()) return;
    if (!open.automatic()) {
        if (!plan.parallelism.whole_model()) found.complaints = try_lower(cluster, model, plan, found.lowered);
        return;
    }
    GridChoices& choices = found.choices;
    Complaints why;  // the first one about each choice that is left out
    for (std::int64_t rows = 1; rows <= plan.stage_ranks(); ++rows) {
        const auto columns = columns_beside(plan, open, rows);
        if (!columns) continue;
        Plan chosen = with_rows(plan, open, rows);
        std::shared_ptr<const Lowered> lowered;
        Complaints complaints = share_batch(chosen, open);
        if (complaints.empty()) complaints = try_lower(cluster, model, chosen, lowered);
        if (complaints.empty()) {
            choices.fitting.push_back({rows, *columns, std::move(lowered)});
        } else {
            choices.left_out.push_back(fmt::format("{}x{}: {}", rows, *columns, complaints.front().message));
            why.push_back(std::move(complaints.front()));
        }
    }
    if (choices.fitting.empty()) found.complaints.push_back(no_grid_fits(open, why, choices.left_out));
}

}  // namespace syncline
