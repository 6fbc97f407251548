#include "sim/training/experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/collective/uneven_all_to_all.hpp"
#include "sim/training/expert_loads.hpp"
#include "sim/training/layer_exchanges.hpp"
#include "sim/training/sharding.hpp"
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

}  // namespace

void place_experts(const Model& model, std::uint32_t number, const Plan& plan, PlacedLayer& placed) {
    const Layer& layer = model.layers[number];
    const auto* shape = std::get_if<Experts>(&layer.shape);
    const std::int64_t ranks = plan.parallelism.experts.ranks;
    if (ranks == 1 || !shape) return;
    if (shape->experts % ranks != 0)
        throw ParallelismError(
            "experts",
            fmt::format("layer '{}': {} experts cannot be divided among {} ranks", layer.name, shape->experts, ranks),
            "write a number of ranks that divides the experts");
    if (placed.replicas.size % ranks != 0)
        throw ParallelismError("experts",
                               fmt::format("layer '{}': {} replicas cannot be divided into groups of {} ranks",
                                           layer.name, placed.replicas.size, ranks),
                               "write a number of ranks that divides the replicas, columns × context");
    if (placed.contributors < placed.layout.rows)
        throw ParallelismError(
            "experts",
            fmt::format("layer '{}': {} hidden units of an expert leave some of {} rows without a part", layer.name,
                        shape->hidden, placed.layout.rows),
            "use fewer rows");
    const double routed = static_cast<double>(shape->experts * expert_parameters(*shape)) * placed.share.part;
    const double rest = static_cast<double>(layer.parameters) * placed.share.part - routed;
    const auto bytes = [](double parameters, double element) {
        return static_cast<std::uint64_t>(std::ceil(parameters * element));
    };
    const double own = routed / static_cast<double>(ranks);
    placed.bytes = bytes(rest, gradient_element(model));
    placed.weight_bytes = bytes(rest, weight_element(model));
    const Grouping group{narrow(ranks), placed.replicas.stride};
    placed.experts = PlacedExperts{.group = group,
                                   .bytes = bytes(own, gradient_element(model)),
                                   .weight_bytes = bytes(own, weight_element(model)),
                                   .replicas = copies_of(placed.replicas, group),
                                   .shards = expert_shards_of(plan, layer, placed.replicas, placed.shards, group),
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
                 PlacedLayer& placed)
        : element_(activation_element(model)),
          algorithms_(algorithms),
          placed_(placed),
          experts_(*placed.experts),
          rows_(narrow(placed.layout.rows)),
          gathers_(sequence && rows_ > 1) {
        const auto& shape = std::get<Experts>(layer.shape);
        const double tokens = placed.share.samples * placed.share.area * static_cast<double>(shape.positions);
        sent_ = tokens * shape.copies() * static_cast<double>(shape.width);
    }

    void add() {
        std::vector<Round> rounds{{turn(Phase::dispatch), 0}, {std::nullopt, 1}, {turn(Phase::combine), 0}};
        if (gathers_) {
            const ActivationExchange gather = between_rows("allgather", algorithms_.allgather);
            rounds.insert(rounds.end() - 1, {between_rows("reduce-scatter", algorithms_.reduce_scatter), 0});
            rounds.insert(rounds.begin() + 1, {gather, 0});
            placed_.exchanges.beside_backward.push_back(gather);
        }
        placed_.exchanges.forward_rounds = placed_.exchanges.backward_rounds = rounds;
    }

private:
    /// Returns the all-to-all of tokens, or of results, in the groups.
    ActivationExchange turn(Phase phase) const {
        const std::uint64_t bytes = whole_bytes(gathers_ ? sent_ / rows_ : sent_, element_);
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

    /// Returns the exchange of what has arrived among the rows, which have the same experts.
    ActivationExchange between_rows(const char* operation, const std::string& name) const {
        const AlgorithmSpec spec{.operation = operation, .name = name};
        ActivationExchange exchange{{rows_, 1}, spec, make_algorithm(spec, rows_), {}, Phase::activations};
        if (experts_.loads.empty()) exchange.bytes = {whole_bytes(sent_, element_)};
        for (const double load : experts_.loads) exchange.bytes.push_back(whole_bytes(sent_ * load, element_));
        return exchange;
    }

    const double element_;
    const ActivationAlgorithms& algorithms_;
    PlacedLayer& placed_;
    const PlacedExperts& experts_;
    const std::uint32_t rows_;
    const bool gathers_;
    double sent_ = 0;  ///< elements of the tokens that a rank sends, of all rows together if these have different ones
};

}  // namespace

void add_experts(const Model& model, const Layer& layer, bool sequence, const ActivationAlgorithms& algorithms,
                 PlacedLayer& placed) {
    if (placed.experts) ExpertRounds(model, layer, sequence, algorithms, placed).add();
}

}  // namespace syncline
