#include "sim/lowering/expert_parallelism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/collective/uneven_all_to_all.hpp"
#include "sim/lowering/expert_loads.hpp"
#include "sim/lowering/layer_exchanges.hpp"
#include "sim/lowering/node_all_to_all.hpp"
#include "sim/lowering/sharding.hpp"
#include "sim/workload/experts.hpp"

namespace syncline {

namespace {

/// Returns the loads of the members of a group, in units of an equal share; empty if they are equal.
std::vector<double> loads_of(const Experts& shape, const Plan& plan, std::uint32_t layer) {
    const ExpertGroups& groups = plan.parallelism.experts;
    if (groups.imbalance == 0 || shape.capacity > 0) return {};
    std::vector<double> members(static_cast<std::size_t>(groups.ranks), 0);
    const std::vector<double> all = expert_loads(shape.experts, shape.top_k, groups.imbalance, plan.noise.seed, layer);
    const std::size_t each = all.size() / members.size();
    for (std::size_t expert = 0; expert < all.size(); ++expert)
        members[expert / each] += all[expert] / static_cast<double>(each);
    return members;
}

/// Gives the layer's experts `rows` expert rows, which are not the layer's rows. These divide the rest evenly.
void divide_apart(const Layer& layer, const Experts& shape, std::int64_t rows, const Plan& plan, PlacedLayer& placed) {
    const std::int64_t all = placed.layout.rows;
    if (rows > all || all % rows != 0)
        throw ParallelismError("experts.model",
                               fmt::format("layer '{}': {} rows cannot be divided into groups of {}, which would "
                                           "divide each expert",
                                           layer.name, all, rows),
                               fmt::format("write a divisor of {}", all));
    if (!plan.parallelism.sequence)
        throw ParallelismError("experts.model",
                               fmt::format("layer '{}': {} rows have the same tokens, but only {} of them would divide "
                                           "each expert",
                                           layer.name, all, rows),
                               "write `sequence: true`, with which each row has its own positions");
    const std::int64_t each = up(shape.hidden, rows);
    if (up(shape.hidden, each) < rows)
        throw ParallelismError("experts.model",
                               fmt::format("layer '{}': {} hidden units of an expert leave some of {} ranks without a "
                                           "part",
                                           layer.name, shape.hidden, rows),
                               "use fewer ranks");
    placed.contributors = narrow(all);
    placed.padded = 1;
    placed.share.fraction = 1 / static_cast<double>(all);
    placed.share.routed = {.fraction = static_cast<double>(each) / static_cast<double>(shape.hidden),
                           .tokens = static_cast<double>(rows) / static_cast<double>(all)};
}

}  // namespace

void place_experts(const Model& model, std::uint32_t number, const Plan& plan, PlacedLayer& placed) {
    const Layer& layer = model.layers[number];
    const auto* shape = std::get_if<Experts>(&layer.shape);
    if (!shape) return;
    const std::int64_t ranks = plan.parallelism.experts.ranks;
    const std::int64_t rows = plan.parallelism.experts.rows_of(placed.layout.rows);
    if (rows != placed.layout.rows)
        divide_apart(layer, *shape, rows, plan, placed);
    else if (ranks == 1)
        return;
    if (shape->experts % ranks != 0)
        throw ParallelismError(
            "experts",
            fmt::format("layer '{}': {} experts cannot be divided among {} ranks", layer.name, shape->experts, ranks),
            "write a number of ranks that divides the experts");
    const Grouping alike{narrow(plan.stage_ranks() / rows), narrow(rows)};  // the ranks with the same part of an expert
    if (alike.size % ranks != 0) {
        const bool apart = placed.share.routed.has_value();
        throw ParallelismError(
            "experts",
            fmt::format("layer '{}': {} {} cannot be divided into groups of {}{}", layer.name, alike.size,
                        apart ? "ranks with the same part of each expert" : "replicas", ranks, apart ? "" : " ranks"),
            fmt::format("write a number of ranks that divides {}", apart ? "them" : "the replicas, columns × context"));
    }
    if (placed.contributors < placed.layout.rows)
        throw ParallelismError(
            "experts",
            fmt::format("layer '{}': {} hidden units of an expert leave some of {} rows without a part", layer.name,
                        shape->hidden, placed.layout.rows),
            "use fewer rows");
    const auto all = static_cast<double>(shape->experts * expert_parameters(*shape));
    const double rest = row_parameters(layer, placed.share.fraction) - all * placed.share.fraction;
    const auto bytes = [](double parameters, double element) {
        return static_cast<std::uint64_t>(std::ceil(parameters * element));
    };
    const double own = all * placed.share.routed_fraction() / static_cast<double>(ranks);
    placed.bytes = bytes(rest, gradient_element(model));
    placed.weight_bytes = bytes(rest, weight_element(model));
    const Grouping group{narrow(ranks), alike.stride};
    placed.experts = PlacedExperts{.group = group,
                                   .rows = narrow(rows),
                                   .bytes = bytes(own, gradient_element(model)),
                                   .weight_bytes = bytes(own, weight_element(model)),
                                   .replicas = copies_of(alike, group),
                                   .shards = expert_shards_of(plan, layer, alike, placed.shards, group),
                                   .loads = loads_of(*shape, plan, number),
                                   .times = {}};
    placed.share.experts = 1 / static_cast<double>(ranks);
}

void time_experts(const ComputeModel& computation, std::uint32_t number, PlacedLayer& placed) {
    if (!placed.experts) return;
    PlacedExperts& experts = *placed.experts;
    for (const double load : experts.loads) {
        Share share = placed.share;
        share.load = load;
        experts.times.push_back(computation.time(number, share));
    }
    if (experts.loads.empty()) return;
    const auto slowest = std::max_element(experts.loads.begin(), experts.loads.end());
    placed.share.load = *slowest;
    placed.time = experts.times[static_cast<std::size_t>(slowest - experts.loads.begin())];
}

namespace {

/// Plans the exchanges of a layer's experts.
class ExpertRounds {
public:
    ExpertRounds(const Model& model, const Layer& layer, const Plan& plan, const ActivationAlgorithms& algorithms,
                 const PlacedExperts& experts, PlacedLayer& placed)
        : element_(activation_element(model)),
          dispatched_(plan.parallelism.experts.fp8_dispatch ? fp8_bytes : element_),
          algorithms_(algorithms),
          placed_(placed),
          experts_(experts),
          gathers_(plan.parallelism.sequence && experts_.rows > 1) {
        const auto& shape = std::get<Experts>(layer.shape);
        const double tokens = placed.share.samples * placed.share.area * static_cast<double>(shape.positions) *
                              static_cast<double>(shape.width);
        double copies = shape.copies();
        if (experts_.node_ranks > 0) {
            const double ranks = experts_.group.size, nodes = ranks / experts_.node_ranks;
            spread_ = token_spread(nodes, experts_.node_ranks, static_cast<double>(shape.experts) / ranks, copies,
                                   static_cast<double>(plan.parallelism.experts.token_nodes));
            copies = spread_.ranks;
        }
        sent_ = tokens * (experts_.node_ranks > 0 ? 1 : copies);
        if (plan.parallelism.sequence) sent_ /= static_cast<double>(placed.layout.rows);
        gathered_ = tokens * copies * placed.share.routed_tokens();
    }

    void add() {
        const bool turns = experts_.group.size > 1;
        std::vector<CoreStep> steps;
        if (turns) steps.push_back({turn(Phase::dispatch), 0});
        if (gathers_) {
            const ActivationExchange gather = between_rows("allgather", algorithms_.allgather);
            steps.push_back({gather, 0});
            placed_.exchanges.beside_backward.push_back(gather);
        }
        if (turns || gathers_) steps.push_back({std::nullopt, 1});
        if (gathers_) steps.push_back({between_rows("reduce-scatter", algorithms_.reduce_scatter), 0});
        if (turns) steps.push_back({turn(Phase::combine), 0});
        placed_.exchanges.forward_core = placed_.exchanges.backward_core = steps;
    }

private:
    /// Returns the all-to-all of tokens, or of results, in the groups.
    ActivationExchange turn(Phase phase) const {
        const std::uint64_t bytes = whole_bytes(sent_, phase == Phase::dispatch ? dispatched_ : element_);
        ActivationExchange exchange{
            experts_.group, {.operation = "all-to-all", .name = algorithms_.all_to_all}, {}, {bytes}, phase};
        if (experts_.node_ranks > 0) {
            const double ranks = experts_.group.size;
            exchange.spec.name.clear();
            exchange.algorithm = std::make_shared<const NodeAllToAll>(
                experts_.node_ranks, spread_.nodes * experts_.node_ranks / ranks, spread_.ranks / ranks,
                phase == Phase::dispatch ? NodeAllToAll::Direction::apart : NodeAllToAll::Direction::together);
            return exchange;
        }
        if (experts_.loads.empty()) {
            exchange.algorithm = make_algorithm(exchange.spec, experts_.group.size);
            return exchange;
        }
        using Direction = UnevenAllToAll::Direction;
        std::vector<double> shares;
        for (const double load : experts_.loads) shares.push_back(load / static_cast<double>(experts_.loads.size()));
        exchange.spec.name.clear();
        exchange.algorithm = std::make_shared<const UnevenAllToAll>(
            shares, phase == Phase::dispatch ? Direction::apart : Direction::together,
            algorithms_.all_to_all == "pairwise");
        return exchange;
    }

    /// Returns the exchange of what has arrived among the expert rows, which have the same experts.
    ActivationExchange between_rows(const char* operation, const std::string& name) const {
        const AlgorithmSpec spec{.operation = operation, .name = name};
        ActivationExchange exchange{
            {experts_.rows, 1}, spec, make_algorithm(spec, experts_.rows), {}, Phase::activations};
        if (experts_.loads.empty()) exchange.bytes = {whole_bytes(gathered_, element_)};
        for (const double load : experts_.loads) exchange.bytes.push_back(whole_bytes(gathered_ * load, element_));
        return exchange;
    }

    static constexpr double fp8_bytes = 1 + 4.0 / 128;  ///< with a scale of 4 B for each 128 elements

    const double element_, dispatched_;  ///< bytes of an element of results, and of tokens
    const ActivationAlgorithms& algorithms_;
    PlacedLayer& placed_;
    const PlacedExperts& experts_;
    const bool gathers_;
    TokenSpread spread_;
    /// Elements of the copies of tokens that a rank sends, and of those that arrive at a group of expert rows.
    double sent_ = 0, gathered_ = 0;
};

/// Returns the number of the group's members on each node of so many devices.
std::uint32_t members_of_node(const Layer& layer, const Grouping& group, std::int64_t devices) {
    const std::int64_t stride = group.stride, own = std::min<std::int64_t>(devices / stride, group.size);
    if (own < 1 || devices % stride != 0 || group.size % own != 0)
        throw ParallelismError(
            "experts",
            fmt::format("layer '{}': tokens cannot be deduplicated by node, because groups of {} ranks that are {} "
                        "apart do not consist of nodes of {} devices",
                        layer.name, group.size, stride, devices),
            "write `exchange: copies`, or a number of ranks that divides the devices of a node, or is a multiple");
    return narrow(own);
}

}  // namespace

TokenSpread token_spread(double nodes, double ranks, double experts, double top_k, double limit) {
    const double used = limit > 0 ? std::min(limit, nodes) : nodes;
    const double all = used * ranks * experts;
    // 1 - C(all-part, K)/C(all, K), by the factors of the quotient.
    const auto needed = [&](double part) {
        double none = 1;
        for (double k = 0; k < top_k; ++k) none *= std::max(0.0, all - part - k) / (all - k);
        return 1 - none;
    };
    return {used * needed(ranks * experts), used * ranks * needed(experts)};
}

void check_expert_nodes(const Arrangement& arrangement, const std::vector<Place>& places) {
    for (const PlacedLayer& layer : arrangement.layers) {
        if (!layer.experts || layer.experts->node_ranks == 0) continue;
        const Grouping& group = layer.experts->group;
        for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
            const std::uint32_t index = rank % arrangement.stage_ranks, member = group.member(index);
            const std::uint32_t first = rank - member % layer.experts->node_ranks * group.stride;
            if (places[rank].node != places[first].node)
                throw ParallelismError(
                    "experts",
                    fmt::format("ranks {} and {}, whose tokens would arrive together, are on different nodes", first,
                                rank),
                    "write `placement: packed`, or `exchange: copies`");
        }
        return;  // layers of one model have the same groups
    }
}

void add_experts(const Model& model, const Layer& layer, const Plan& plan, std::int64_t devices,
                 const ActivationAlgorithms& algorithms, PlacedLayer& placed) {
    const auto* shape = std::get_if<Experts>(&layer.shape);
    if (!shape) return;
    const ExpertGroups& groups = plan.parallelism.experts;
    if (placed.experts && groups.exchange == ExpertExchange::deduplicated) {
        if (shape->capacity > 0)
            throw ParallelismError(
                "experts",
                fmt::format("layer '{}': buffers of a capacity have a row for each copy of a token", layer.name),
                "write `exchange: copies`, or remove the capacity");
        placed.experts->node_ranks = members_of_node(layer, placed.experts->group, devices);
        const double each = static_cast<double>(shape->experts) / placed.experts->group.size *
                            placed.experts->node_ranks * static_cast<double>(groups.token_nodes);
        if (groups.token_nodes > 0 && each < static_cast<double>(shape->top_k))
            throw ParallelismError("experts",
                                   fmt::format("layer '{}': {} nodes have {} experts, but a token has {}", layer.name,
                                               groups.token_nodes, each, shape->top_k),
                                   "write a larger `token_nodes`");
    }
    PlacedExperts whole;  // on every rank, whose rows gather tokens like others
    whole.group = {1, narrow(placed.layout.rows)};
    whole.rows = narrow(placed.layout.rows);
    ExpertRounds(model, layer, plan, algorithms, placed.experts ? *placed.experts : whole, placed).add();
}

}  // namespace syncline
