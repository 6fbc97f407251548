#include "sim/lowering/lowered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "sim/collective/every_rounds.hpp"
#include "sim/lowering/expert_parallelism.hpp"
#include "sim/lowering/input_load.hpp"
#include "sim/lowering/optimizer_step.hpp"
#include "sim/lowering/rank_kinds.hpp"
#include "sim/lowering/sharding.hpp"

namespace syncline {

namespace {

/// Returns by layer the times of its passes, with what is computed beside them: encoding, and what is computed again,
/// which delays the gradients of the layer and of those before it.
std::vector<LayerTime> pass_times(const Arrangement& arrangement) {
    std::vector<LayerTime> times;
    for (std::uint32_t i = 0; i < arrangement.layers.size(); ++i) {
        const PlacedLayer& layer = arrangement.layers[i];
        LayerTime& time = times.emplace_back(layer.time);
        double again_s = layer.recomputed ? 0 : layer.recompute_s;
        const LayerSpan again = arrangement.again_before(i);
        for (std::uint32_t each = again.first; each < again.end; ++each)
            again_s += arrangement.layers[each].recompute_s;
        time.input_gradient_s += again_s;
        time.weight_gradient_s += layer.compressed.encode_s;
    }
    return times;
}

/// Returns the gradients of a layer, and of its experts, that ranks exchange: its weights, with gossip.
std::vector<Gradient> gradients_of(const Lowered& training, std::uint32_t number, double ready_s) {
    const Plan& plan = training.plan;
    const PlacedLayer& layer = training.arrangement.layers[number];
    const std::uint32_t stage = training.arrangement.stage_of(layer.virtual_stage);
    const bool gossip = plan.exchange == ExchangeKind::gossip;
    std::uint64_t bytes = layer.bytes;
    // Every rank contributes its own values to an allgather, whose buffer contains all of them.
    if (plan.compression.any())
        bytes = layer.compressed.bytes * (plan.compression.kind == Compression::Kind::top_k ? layer.replicas.size : 1);
    std::vector<Gradient> gradients{{number, gossip ? layer.weight_bytes : bytes, ready_s, stage, layer.replicas,
                                     layer.contributors, layer.weight_bytes, layer.compressed, layer.shards}};
    if (const auto& experts = layer.experts)
        gradients.push_back({number,
                             gossip ? experts->weight_bytes : experts->bytes,
                             ready_s,
                             stage,
                             experts->replicas,
                             experts->replicas.stride,
                             experts->weight_bytes,
                             {},
                             experts->shards});
    return gradients;
}

std::vector<Bucket> plan_buckets(const Lowered& training) {
    const Plan& plan = training.plan;
    const Arrangement& arrangement = training.arrangement;
    const double start_s = plan.input_copy == InputCopy::blocking ? training.input_copy_s : 0;
    std::vector<double> ready_s(arrangement.layers.size(), 0);
    if (arrangement.stages == 1)
        ready_s = ready_times(pass_times(arrangement), start_s, arrangement.micro_batches, plan.overlap);
    std::vector<Bucket> buckets;
    for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) {
        std::vector<Gradient> of_layers, of_experts;
        for (auto i = static_cast<std::uint32_t>(arrangement.layers.size()); i-- > 0;) {
            if (arrangement.stage_of(arrangement.layers[i].virtual_stage) != stage) continue;
            const std::vector<Gradient> gradients = gradients_of(training, i, ready_s[i]);
            if (gradients.front().replicas.size > 1) of_layers.push_back(gradients.front());
            if (gradients.size() > 1 && gradients.back().replicas.size > 1) of_experts.push_back(gradients.back());
        }
        // Experts are fused among themselves, and buckets go in the order in which backward passes complete them.
        std::vector<Bucket> own = make_buckets(of_layers, plan);
        const std::vector<Bucket> more = make_buckets(of_experts, plan);
        own.insert(own.end(), more.begin(), more.end());
        std::stable_sort(own.begin(), own.end(),
                         [](const Bucket& a, const Bucket& b) { return a.layers.back() > b.layers.back(); });
        buckets.insert(buckets.end(), own.begin(), own.end());
    }
    return buckets;
}

/// Returns the places of a stage's first group. All groups are of one size, and it represents them, wherever the others
/// are.
std::vector<Place> first_group(const Lowered& training, std::uint32_t stage, const Grouping& grouping) {
    std::vector<Place> members;
    for (std::uint32_t member = 0; member < grouping.size; ++member)
        members.push_back(training.places[stage * training.arrangement.stage_ranks + grouping.index(0, member)]);
    return members;
}

/// Adds to each bucket the exchange that is chosen for `bytes_of(bucket)` in the groups of `grouping_of(bucket)`.
/// `finish` is called with it and the bucket.
template <class GroupingOf, class BytesOf, class Finish>
void add_exchanges(Lowered& training, Terrains& terrains, const AlgorithmSpec& named,
                   const std::optional<Selection>& selection, GroupingOf grouping_of, BytesOf bytes_of, Finish finish) {
    std::map<std::pair<std::uint32_t, Grouping>, Chooser> choosers;
    training.reductions.resize(training.buckets.size());
    for (std::size_t b = 0; b < training.buckets.size(); ++b) {
        const Bucket& bucket = training.buckets[b];
        const std::pair among(bucket.stage, grouping_of(bucket));
        auto found = choosers.find(among);
        if (found == choosers.end())
            found = choosers
                        .try_emplace(among, training.cluster, first_group(training, bucket.stage, among.second), named,
                                     selection, training.plan.channels, terrains)
                        .first;
        const std::uint64_t bytes = bytes_of(bucket);
        finish(training.reductions[b].emplace_back(BucketExchange{found->second.choose(bytes), among.second, bytes}),
               bucket);
    }
}

/// Chooses the exchanges of gradients.
void choose_reductions(Lowered& training, Terrains& terrains) {
    const Plan& plan = training.plan;
    if (training.served()) return;
    const auto bytes = [](const Bucket& bucket) { return bucket.bytes; };
    const auto replicas = [](const Bucket& bucket) { return bucket.replicas; };
    if (plan.parallelism.sharding == Sharding::none) {
        const auto selection = plan.exchange == ExchangeKind::allreduce ? plan.selection : std::nullopt;
        const auto add = [&](auto bytes_of, auto finish) {
            add_exchanges(training, terrains, plan.algorithm, selection, replicas, bytes_of, finish);
        };
        add(bytes, [](BucketExchange&, const Bucket&) {});
        if (plan.compression.kind == Compression::Kind::powersgd)
            add([](const Bucket& bucket) { return bucket.second_bytes; },
                [](BucketExchange& exchange, const Bucket& bucket) { exchange.before_s = bucket.between_s; });
        return;
    }
    const auto shards = [](const Bucket& bucket) { return bucket.shards; };
    AlgorithmSpec scattering = plan.parallelism.gradient_scattering();
    scattering.named = scattering.name != algorithm_names(scattering.operation).front();
    add_exchanges(
        training, terrains, scattering, plan.selection, shards, bytes, [&](BucketExchange& exchange, const Bucket&) {
            if (exchange.chosen.selection.empty())
                exchange.chosen.why =
                    fmt::format("`activations.reduce_scatter: {}`, because gradients are sharded", scattering.name);
        });
    if (std::ranges::all_of(training.buckets, [](const Bucket& one) { return one.shards.size == one.replicas.size; }))
        return;
    const auto copies = [](const Bucket& bucket) { return copies_of(bucket.replicas, bucket.shards); };
    add_exchanges(
        training, terrains, plan.algorithm, plan.selection, copies,
        [](const Bucket& bucket) { return bucket.shard_bytes(); },
        [](BucketExchange& exchange, const Bucket&) { exchange.apart = true; });
}

/// Makes exchanges among replicas, or groups that divide the weights of one, those of every few iterations.
void exchange_after_local_steps(Lowered& training) {
    const auto every = static_cast<std::uint32_t>(training.plan.local_steps);
    if (every == 1) return;
    const bool grouped = training.plan.parallelism.sharding != Sharding::none;
    std::map<const CollectiveAlgorithm*, std::shared_ptr<const CollectiveAlgorithm>> rare;
    for (std::vector<BucketExchange>& exchanges : training.reductions)
        for (BucketExchange& exchange : exchanges) {
            if (grouped && !exchange.apart) continue;
            std::shared_ptr<const CollectiveAlgorithm>& algorithm = exchange.chosen.algorithm;
            auto& one = rare[algorithm.get()];
            if (!one) one = std::make_shared<const EveryRounds>(algorithm, every);
            algorithm = one;
        }
}

/// Makes the other collectives: of activations, and of weights.
class OtherCollectives {
public:
    OtherCollectives(Lowered& training, Terrains& terrains) : training_(training), terrains_(terrains) {}

    void make() {
        const Parallelism& parallelism = training_.plan.parallelism;
        Arrangement& arrangement = training_.arrangement;
        for (std::uint32_t virtual_stage = 0; virtual_stage < arrangement.boundaries.size(); ++virtual_stage) {
            Boundary& boundary = arrangement.boundaries[virtual_stage];
            make(boundary.gradients, arrangement.stage_of(virtual_stage));
            make(boundary.activations, arrangement.stage_of(virtual_stage + 1));
        }
        for (PlacedLayer& layer : arrangement.layers) {
            const std::uint32_t stage = arrangement.stage_of(layer.virtual_stage);
            LayerExchanges::each(layer.exchanges, [&](ActivationExchange& exchange) {
                if (exchange.in_library()) choose(exchange, stage);
            });
            if (parallelism.sharding != Sharding::parameters) continue;
            layer.each_weights([&](const Grouping& shards, std::uint64_t bytes) {
                const AlgorithmSpec spec = parallelism.weight_gathering();
                if (bytes == 0 || shards.size == 1) return;
                layer.exchanges.weights.push_back({shards, spec, nullptr, {bytes}, Phase::weights});
                choose(layer.exchanges.weights.back(), stage);
            });
        }
        if (divides_updates(parallelism.sharding))
            for (const Bucket& bucket : training_.buckets) {
                const AlgorithmSpec spec = parallelism.weight_gathering();
                training_.gatherings.push_back({chosen(bucket.stage, bucket.shards, spec, bucket.weight_bytes),
                                                bucket.shards, bucket.weight_bytes});
            }
    }

private:
    void make(std::optional<ActivationExchange>& exchange, std::uint32_t stage) {
        if (exchange) choose(*exchange, stage);
    }

    void choose(ActivationExchange& exchange, std::uint32_t stage) {
        const Chosen one = chosen(stage, exchange.groups, exchange.spec, exchange.bytes.front());
        exchange.spec.name = one.spec.name;
        exchange.algorithm = one.algorithm;
        exchange.protocol = one.protocol;
    }

    Chosen chosen(std::uint32_t stage, const Grouping& grouping, AlgorithmSpec spec, std::uint64_t bytes) {
        const auto key =
            std::tuple(stage, grouping, fmt::format("{} {} {}", spec.operation, spec.name, spec.contributors));
        auto found = choosers_.find(key);
        if (found == choosers_.end()) {
            // An operation's default leaves the choice to the transport.
            spec.named = spec.name != algorithm_names(spec.operation).front();
            found = choosers_
                        .try_emplace(key, training_.cluster, first_group(training_, stage, grouping), spec,
                                     training_.plan.selection, training_.plan.channels, terrains_)
                        .first;
        }
        return found->second.choose(bytes);
    }

    Lowered& training_;
    Terrains& terrains_;
    std::map<std::tuple<std::uint32_t, Grouping, std::string>, Chooser> choosers_;
};

std::uint32_t averaged_iterations(const Lowered& training) {
    constexpr std::uint32_t enough = 12;  // comes round after 1, 2, 3, 4 or 6 patterns
    std::set<const CollectiveAlgorithm*> seen;
    std::uint32_t period = 1;
    bool idle = false;
    for (const std::vector<BucketExchange>& exchanges : training.reductions) {
        for (const BucketExchange& exchange : exchanges) {
            const CollectiveAlgorithm& algorithm = *exchange.chosen.algorithm;
            const auto* const rare = dynamic_cast<const EveryRounds*>(&algorithm);
            if (&exchange != &exchanges.front() && rare == nullptr) continue;
            if (!seen.insert(&algorithm).second) continue;
            period = std::lcm(period, algorithm.period());
            idle = idle || leaves_idle(rare ? rare->of() : algorithm, exchange.among.size);
        }
    }
    // Where reading, copying and computing wait for each other in turn, an iteration takes their sum by the number of
    // batches under way only on average: input_load.hpp.
    const Plan& plan = training.plan;
    if (plan.loading && plan.input_copy == InputCopy::overlapped &&
        (plan.loading->prefetch == 1 || training.input_copy_s > training.input_load_s))
        period = std::lcm(period, static_cast<std::uint32_t>(plan.loading->prefetch) + 1);
    const std::uint32_t window = idle ? enough * period : period;
    // One iteration of a random process says little, and there is no steady state to look for.
    // Workers of different speeds do not repeat together either.
    const bool all = training.iterations_differ() || plan.independent_updates();
    // A fault changes some iterations: all count, from the first one on.
    if (!training.cluster.faults.empty() && !plan.independent_updates())
        return static_cast<std::uint32_t>(plan.iterations);
    // Whole patterns: parts of one would weigh some of its iterations more.
    return all ? std::max(window, (static_cast<std::uint32_t>(plan.iterations) - 1) / window * window) : window;
}

}  // namespace

Model with_precision(Model model, const Plan& plan) {
    if (plan.precision.given()) model.precision = plan.precision;
    return model;
}

Lowered lower(Cluster cluster, Model model, Plan plan) {
    Lowered training;
    training.cluster = std::move(cluster);
    training.model = with_precision(std::move(model), plan);
    training.plan = std::move(plan);
    training.places =
        place_ranks(training.cluster, training.plan.placement, static_cast<std::uint32_t>(training.plan.ranks));
    forget_unused_kinds(training.cluster, training.places);
    // See averaged_iterations().
    if (training.plan.documents && !training.cluster.faults.empty() && !training.plan.independent_updates())
        training.plan.documents->first_counts = true;
    training.arrangement = arrange(training.cluster, training.model, training.plan);
    check_nodes(training.plan, training.arrangement, training.places);
    check_expert_nodes(training.arrangement, training.places);
    add_kinds(training);
    if (training.plan.loading) training.input_load_s = input_load_seconds(training);
    training.buckets = plan_buckets(training);
    Terrains terrains(training.cluster, first_free_node(training.places));
    choose_reductions(training, terrains);
    exchange_after_local_steps(training);
    OtherCollectives(training, terrains).make();
    share_exchanges(training);
    training.averaged = averaged_iterations(training);
    return training;
}

}  // namespace syncline
