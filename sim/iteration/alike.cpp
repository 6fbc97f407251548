#include "sim/iteration/alike.hpp"

#include <algorithm>
#include <set>

#include "sim/collective/in_network.hpp"

namespace syncline {

namespace {

/// Returns true if something else than its layers and groups tells a rank from others.
bool tells_ranks_apart(const Lowered& training) {
    const Plan& plan = training.plan;
    const bool reduced_in_network = std::ranges::any_of(training.reductions, [](const auto& exchanges) {
        return std::ranges::any_of(exchanges, [](const BucketExchange& exchange) {
            return dynamic_cast<const InNetwork*>(exchange.chosen.algorithm.get()) != nullptr;
        });
    });
    return plan.noise.any() || plan.exchange != ExchangeKind::allreduce || plan.schedule != Schedule::fifo ||
           plan.fusion.negotiation != Negotiation::none || reduced_in_network ||
           std::ranges::any_of(training.arrangement.layers,
                               [](const PlacedLayer& layer) { return layer.experts && !layer.experts->loads.empty(); });
}

/// Visits the exchanges of activations.
template <class Visitor>
void each_exchange(const Arrangement& arrangement, Visitor visit) {
    for (const PlacedLayer& layer : arrangement.layers) LayerExchanges::each(layer.exchanges, visit);
    for (const Boundary& boundary : arrangement.boundaries)
        for (const auto* gathering : {&boundary.activations, &boundary.gradients})
            if (*gathering) visit(**gathering);
}

/// Returns the groupings of all exchanges, each once.
std::set<Grouping> groupings_of(const Lowered& training) {
    std::set<Grouping> all;
    each_exchange(training.arrangement, [&](const ActivationExchange& exchange) { all.insert(exchange.groups); });
    for (const PlacedLayer& layer : training.arrangement.layers)
        layer.each_weights([&](const Grouping& shards, std::uint64_t) { all.insert(shards); });
    for (const Bucket& bucket : training.buckets) all.insert(bucket.shards);
    for (const std::vector<BucketExchange>& exchanges : training.reductions)
        for (const BucketExchange& exchange : exchanges) all.insert(exchange.among);
    for (const BucketExchange& gathering : training.gatherings) all.insert(gathering.among);
    std::erase_if(all, [](const Grouping& groups) { return groups.size <= 1; });
    return all;
}

bool keeps(const Rotation& rotation, const Grouping& groups) {
    const std::uint32_t together = groups.size * groups.stride;
    const bool moves_them = rotation.period % together == 0;
    const bool permutes_them = together % rotation.span == 0 && rotation.period % groups.stride == 0;
    const bool moves_members_alike = groups.stride % rotation.span == 0;
    return moves_them || permutes_them || moves_members_alike;
}

bool keeps(const Rotation& rotation, const PlacedLayer& layer) {
    const auto rows = static_cast<std::uint32_t>(layer.layout.rows);
    return rotation.period % rows == 0 || layer.contributors == rows;
}

bool keeps(const Rotation& rotation, const ActivationExchange& exchange) {
    const std::vector<std::uint64_t>& bytes = exchange.bytes;
    const std::size_t repeats = exchange.groups.size * exchange.groups.stride * bytes.size();
    return rotation.period % repeats == 0 || std::ranges::count(bytes, bytes.front()) == std::ssize(bytes);
}

/// Returns whether the rotation takes ranks to ranks that compute for the same times.
bool keeps_kinds(const Rotation& rotation, const Lowered& training) {
    if (!training.kinds_differ) return true;
    const std::vector<std::uint32_t>& kinds = training.kind_of_rank;
    for (std::uint32_t rank = 0; rank < kinds.size(); ++rank)
        if (kinds[rank] != kinds[shifted(rank, rotation.span, rotation.period)]) return false;
    return true;
}

}  // namespace

std::vector<Rotation> alike_ranks(const Lowered& training) {
    std::vector<Rotation> found;
    if (tells_ranks_apart(training)) return found;
    const Arrangement& arrangement = training.arrangement;
    const std::set<Grouping> groupings = groupings_of(training);
    const auto alike = [&](const Rotation& rotation) {
        const auto kept = [&](const auto& one) { return keeps(rotation, one); };
        bool all = keeps_kinds(rotation, training) && std::ranges::all_of(groupings, kept) &&
                   std::ranges::all_of(arrangement.layers, kept);
        if (all) each_exchange(arrangement, [&](const ActivationExchange& exchange) { all = all && kept(exchange); });
        return all;
    };
    // Replicas whose documents differ are not alike, but the ranks of each are.
    const auto replica = static_cast<std::uint32_t>(training.plan.parallelism.layout.replica());
    for (const std::uint32_t span : spans_within(training.documents_vary() ? replica : arrangement.stage_ranks))
        for (std::uint32_t period = 1; period < span; ++period) {
            if (span % period != 0 || !alike({span, period})) continue;
            found.push_back({span, period});
            break;
        }
    return found;
}

}  // namespace syncline
