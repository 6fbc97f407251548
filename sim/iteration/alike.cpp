#include "sim/iteration/alike.hpp"

#include <algorithm>
#include <numeric>

#include "sim/collective/in_network.hpp"

namespace syncline {

namespace {

/// Returns true if something else than its layers and groups tells a rank from others.
bool tells_ranks_apart(const Lowered& training) {
    const Plan& plan = training.plan;
    const auto reduces_in_network = [](const std::vector<Chosen>& exchanges) {
        return std::ranges::any_of(exchanges, [](const Chosen& chosen) {
            return dynamic_cast<const InNetwork*>(chosen.algorithm.get()) != nullptr;
        });
    };
    return plan.noise.any() || plan.exchange != ExchangeKind::allreduce || plan.schedule != Schedule::fifo ||
           plan.fusion.negotiation != Negotiation::none || reduces_in_network(training.exchanges) ||
           reduces_in_network(training.shard_exchanges) ||
           std::ranges::any_of(training.arrangement.layers,
                               [](const PlacedLayer& layer) { return layer.experts && !layer.experts->loads.empty(); });
}

/// Collects what the shift must be a multiple of.
class LeastShift {
public:
    explicit LeastShift(std::uint32_t stage_ranks) : stage_ranks_(stage_ranks) {}

    void keep(std::uint64_t ranks) { least_ = std::lcm(least_, ranks); }
    void keep(const Grouping& groups) {
        if (groups.size <= 1) return;
        const std::uint32_t together = groups.size * groups.stride;
        keep(std::uint64_t{together == stage_ranks_ ? groups.stride : together});
    }
    std::uint64_t least() const { return least_; }

private:
    std::uint32_t stage_ranks_;
    std::uint64_t least_ = 1;
};

}  // namespace

std::vector<std::uint32_t> alike_ranks(const Lowered& training) {
    if (tells_ranks_apart(training)) return {};
    const Arrangement& arrangement = training.arrangement;
    LeastShift shift(arrangement.stage_ranks);
    const auto keep_exchange = [&](const ActivationExchange& exchange) { shift.keep(exchange.groups); };
    for (const PlacedLayer& layer : arrangement.layers) {
        shift.keep(static_cast<std::uint64_t>(layer.layout.replica()));
        LayerExchanges::each(layer.exchanges, keep_exchange);
        layer.each_weights([&](const Grouping& shards, std::uint64_t) { shift.keep(shards); });
    }
    for (const Boundary& boundary : arrangement.boundaries)
        for (const auto* gathering : {&boundary.activations, &boundary.gradients})
            if (*gathering) keep_exchange(**gathering);
    for (const Bucket& bucket : training.buckets) {
        shift.keep(bucket.replicas);
        shift.keep(bucket.shards);
        shift.keep(copies_of(bucket.replicas, bucket.shards));
    }
    std::vector<std::uint32_t> result;
    for (std::uint64_t ranks = shift.least(); ranks < arrangement.stage_ranks; ranks += shift.least())
        if (arrangement.stage_ranks % ranks == 0) result.push_back(static_cast<std::uint32_t>(ranks));
    return result;
}

}  // namespace syncline
