#include "sim/lowering/expert_parallelism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/collective/uneven_all_to_all.hpp"
#include "sim/lowering/expert_loads.hpp"
#include "sim/lowering/layer_exchanges.hpp"
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
    const double rest = static_cast<double>(layer.parameters) * placed.share.fraction - all * placed.share.fraction;
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
    ExpertRounds(const Model& model, const Layer& layer, bool sequence, const ActivationAlgorithms& algorithms,
                 const PlacedExperts& experts, PlacedLayer& placed)
        : element_(activation_element(model)),
          algorithms_(algorithms),
          placed_(placed),
          experts_(experts),
          gathers_(sequence && experts_.rows > 1) {
        const auto& shape = std::get<Experts>(layer.shape);
        const double tokens = placed.share.samples * placed.share.area * static_cast<double>(shape.positions);
        const double all = tokens * shape.copies() * static_cast<double>(shape.width);
        sent_ = sequence ? all / static_cast<double>(placed.layout.rows) : all;
        gathered_ = all * placed.share.routed_tokens();
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
        const std::uint64_t bytes = whole_bytes(sent_, element_);
        ActivationExchange exchange{
            experts_.group, {.operation = "all-to-all", .name = algorithms_.all_to_all}, {}, {bytes}, phase};
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

    const double element_;
    const ActivationAlgorithms& algorithms_;
    PlacedLayer& placed_;
    const PlacedExperts& experts_;
    const bool gathers_;
    /// Elements of the copies of tokens that a rank sends, and of those that arrive at a group of expert rows.
    double sent_ = 0, gathered_ = 0;
};

}  // namespace

void add_experts(const Model& model, const Layer& layer, bool sequence, const ActivationAlgorithms& algorithms,
                 PlacedLayer& placed) {
    if (!std::holds_alternative<Experts>(layer.shape)) return;
    PlacedExperts whole;  // on every rank, whose rows gather tokens like others
    whole.group = {1, narrow(placed.layout.rows)};
    whole.rows = narrow(placed.layout.rows);
    ExpertRounds(model, layer, sequence, algorithms, placed.experts ? *placed.experts : whole, placed).add();
}

}  // namespace syncline
