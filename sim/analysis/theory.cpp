#include "sim/analysis/theory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sim/analysis/carried_cost.hpp"
#include "sim/collective/axis_rings.hpp"
#include "sim/collective/every_rounds.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/iteration/forecast.hpp"
#include "sim/iteration/operations.hpp"
#include "sim/iteration/pass_times.hpp"
#include "sim/lowering/gradient_sync.hpp"
#include "sim/lowering/input_load.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

MessageCost flat_message_cost(const Cluster& cluster, double reduction_Bps) {
    const TopologySpec& star = cluster.fabric.topology;
    const double bandwidth_Bps = std::min(star.bandwidth_Bps.front(), cluster.transport.host_Bps);
    return {2 * star.latency_s.front(), 1 / bandwidth_Bps, 1 / reduction_Bps, latency_travels(cluster)};
}

/// Returns the end of the last pull if all ranks start together. `released`: buckets leave when they are, or at once.
std::optional<double> parameter_server_end(const Lowered& training, bool released) {
    const std::vector<Bucket>& buckets = training.buckets;
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    if (!message_cost(cluster, training.places, served_allreduce)) return std::nullopt;
    const std::vector<std::vector<ServerPart>> placed = place(buckets, plan.servers);
    const auto servers = static_cast<std::size_t>(plan.servers.count);
    const auto workers = static_cast<double>(plan.ranks);
    const bool colocated = plan.servers.colocated();
    const bool each = plan.servers.pull == PullStart::each;
    if (each && colocated) return std::nullopt;  // pushes and pulls share links
    if (plan.schedule != Schedule::fifo) return std::nullopt;
    const MessageCost message = flat_message_cost(cluster, cluster.host.reduction_Bps);
    // One server's messages with all workers; one worker may be on the server's own node.
    const auto transfer_s = [&](std::uint64_t bytes) {
        const auto size = static_cast<double>(bytes);
        const double remote_s = message.alpha_s + (colocated ? workers - 1 : workers) * size * message.beta_s_per_B;
        return std::max(remote_s, colocated ? size / cluster.host.loopback_Bps : 0);
    };

    std::vector<double> pushed(servers, 0), summed(servers, 0), pulled(servers, 0);
    std::set<std::uint32_t> active;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        for (const ServerPart& part : placed[b]) {
            double& push = pushed[part.server];
            push = std::max(push, released ? buckets[b].release_s : 0) + transfer_s(part.bytes);
            double& sum = summed[part.server];
            sum = std::max(sum, push) + static_cast<double>(part.bytes) * workers * message.gamma_s_per_B;
            double& pull = pulled[part.server];
            pull = (each ? std::max(pull, sum) : pull) + transfer_s(part.bytes);
            active.insert(part.server);
        }
    }
    if (active.size() > static_cast<std::size_t>(plan.ranks))
        return std::nullopt;  // the workers' links are the bottleneck
    const double last_s = *std::max_element(pulled.begin(), pulled.end());
    return each ? last_s : *std::max_element(summed.begin(), summed.end()) + last_s;
}

constexpr const char* none_of_kinds = "none where ranks of several kinds start an exchange at different times";
constexpr const char* never_together = "none where workers do not wait for all others";

/// Ranks that send to others at the same time.
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs ring_pairs(std::size_t ranks) {
    Pairs pairs;
    for (std::size_t rank = 0; rank < ranks; ++rank) pairs.emplace_back(rank, (rank + 1) % ranks);
    return pairs;
}

/// Returns the neighbours along all axes: in both directions, if there are channels for both.
Pairs grid_pairs(const MemberGrid& grid) {
    Pairs pairs;
    std::size_t stride = 1;
    for (const std::uint32_t size : grid.sizes) {
        for (std::size_t at = 0; at < grid.member.size(); ++at) {
            const std::size_t x = at / stride % size, next = at - x * stride + (x + 1) % size * stride;
            pairs.emplace_back(grid.member[at], grid.member[next]);
            if (grid.channels() > grid.sizes.size()) pairs.emplace_back(grid.member[next], grid.member[at]);
        }
        stride *= size;
    }
    return pairs;
}

/// Returns the cost of a message between these ranks; empty unless all messages cost the same and no two share a link.
std::optional<MessageCost> common_message_cost(const Cluster& cluster, const std::vector<Place>& places,
                                               const Pairs& pairs) {
    Wiring wiring(cluster, first_free_node(places));
    if (wiring.adapts() || wiring.sprays()) return std::nullopt;
    std::vector<bool> taken(wiring.links(), false);
    std::optional<MessageCost> common;
    for (const auto& [from, to] : pairs) {
        std::vector<Wiring::Link> links;
        wiring.route(places[from], places[to], links);
        double narrowest_Bps = unlimited;
        for (const Wiring::Link link : links) {
            if (taken[link]) return std::nullopt;
            taken[link] = true;
            narrowest_Bps = std::min(narrowest_Bps, wiring.wire(link).bandwidth_Bps);
        }
        const MessageCost cost{wiring.latency_s(links), 1 / narrowest_Bps, 1 / reduction_Bps(cluster),
                               latency_travels(cluster)};
        if (!common) common = cost;
        if (cost.alpha_s != common->alpha_s || cost.beta_s_per_B != common->beta_s_per_B) return std::nullopt;
    }
    return common;
}

}  // namespace

std::optional<MessageCost> message_cost(const Cluster& cluster, const std::vector<Place>& places,
                                        const std::string& algorithm) {
    if (cluster.network != NetworkModel::exact || cluster.native || !cluster.faults.empty()) return std::nullopt;
    const bool served = algorithm == served_allreduce;
    if (served && !wires_only(cluster.transport)) return std::nullopt;
    const double rate_Bps = served ? cluster.host.reduction_Bps : reduction_Bps(cluster);
    if (is_flat(cluster)) return flat_message_cost(cluster, rate_Bps);
    const bool even = algorithm == "ring" || algorithm == in_network_allreduce;  // the same on every rank's links
    return even ? common_message_cost(cluster, places, ring_pairs(places.size())) : std::nullopt;
}

/// Returns the closed form of rings along axes. All axes are in use at any time, each by its own channels.
std::optional<double> axis_rings_cost(const Cluster& cluster, const std::vector<Place>& places, const MemberGrid& grid,
                                      const CollectiveAlgorithm& algorithm, std::uint64_t bytes) {
    if (cluster.network != NetworkModel::exact || !wires_only(cluster.transport) || !cluster.faults.empty())
        return std::nullopt;
    std::optional<MessageCost> message = common_message_cost(cluster, places, grid_pairs(grid));
    if (!message) return std::nullopt;
    message->beta_s_per_B /= algorithm.slices();
    return algorithm.cost(static_cast<std::uint32_t>(places.size()), bytes, *message);
}

std::optional<double> ExchangeCosts::of(const CollectiveAlgorithm& algorithm, const AlgorithmSpec& spec,
                                        std::uint64_t bytes, const Protocol& protocol) {
    if (const auto* switched = dynamic_cast<const InNetwork*>(&algorithm))
        return switched_cost(cluster_, places_, *switched, bytes);
    if (const auto* rare = dynamic_cast<const EveryRounds*>(&algorithm)) {
        const std::optional<double> once_s = of(rare->of(), spec, bytes, protocol);
        return once_s ? std::optional(*once_s / rare->every()) : std::nullopt;
    }
    const Protocol plain;
    if (const MemberGrid* const grid = grid_of(algorithm))
        return protocol == plain ? axis_rings_cost(cluster_, places_, *grid, algorithm, bytes) : std::nullopt;
    const auto [message, added] = messages_.try_emplace(spec.name);
    // Channels take the ranks in other orders, over links of which some are shared and others are not.
    if (algorithm.slices() > 1 && !is_flat(cluster_)) return std::nullopt;
    if (added) message->second = message_cost(cluster_, places_, spec.name);
    if (!message->second) return std::nullopt;
    return carried_cost(cluster_, places_, algorithm, bytes, *message->second, protocol);
}

namespace {

/// Returns whether all ranks exchange all gradients, and nothing else.
bool exchanges_only_gradients(const Lowered& training) {
    return training.arrangement.stages == 1 && training.plan.parallelism.sharding == Sharding::none &&
           std::ranges::all_of(training.buckets,
                               [&](const Bucket& bucket) { return bucket.replicas.size == training.places.size(); }) &&
           !exchange_within_stages(passes_of(training));
}

/// Closed forms as prices, which add up what they have priced, and remember why an exchange has none.
class ClosedForms : public Prices {
public:
    /// `split`: some exchanges are among groups of ranks. Their buffers are rounded up, or down, to equal blocks.
    ClosedForms(const Lowered& training, bool split, bool up = true)
        : training_(training), split_(split), up_(up), all_(training.cluster, training.places) {
        // On one switch messages cost the same for all algorithms.
        if (split) message_ = message_cost(training.cluster, training.places, "ring");
        if (split && !message_) fail("none for this platform");
    }

    double exchange_s(StageRanks, const Grouping& groups, const CollectiveAlgorithm& algorithm,
                      const AlgorithmSpec& spec, std::uint64_t bytes, const Protocol& protocol) override {
        if (groups.size == 1) return 0;
        const std::string formula = algorithm.formula(latency_travels(training_.cluster));
        if (!formula.empty() && !is_request(spec) && !std::ranges::count(formulas_, formula))
            formulas_.push_back(formula);
        const auto cost_s =
            split_ ? of_group(algorithm, groups.size, bytes, protocol) : of_all(algorithm, spec, bytes, protocol);
        if (!cost_s) fail("");
        total_s_ += cost_s.value_or(0);
        return cost_s.value_or(0);
    }

    double transfer_s(StageRanks, std::uint32_t, std::uint64_t) override {
        fail("none for a pipeline");
        return 0;
    }

    std::uint64_t decisive(const std::vector<std::uint64_t>& sizes) const override {
        const auto [fewest, most] = std::minmax_element(sizes.begin(), sizes.end());
        return up_ ? *most : *fewest;
    }

    bool known() const { return known_; }
    double total_s() const { return total_s_; }
    const std::string& why_not() const { return why_not_; }
    /// Returns the formulas of the algorithms, each once.
    std::string formulas() const {
        return formulas_.empty() ? no_formula : fmt::format("{}", fmt::join(formulas_, "; or "));
    }
    bool any() const { return !formulas_.empty(); }

private:
    static bool is_request(const AlgorithmSpec& spec) { return spec.operation == "push" || spec.operation == "pull"; }

    void fail(const std::string& why_not) {
        known_ = false;
        if (why_not_.empty()) why_not_ = why_not;
    }

    std::optional<double> of_group(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                                   const Protocol& protocol) {
        if (!message_) return std::nullopt;
        const std::uint64_t equal = (up_ ? bytes + ranks - 1 : bytes) / ranks * ranks;
        const std::string formula = algorithm.formula(message_->travels);
        const auto cost_s = algorithm.cost(ranks, equal, *message_);
        if (protocol.replaces_transport())
            fail("none for a protocol's latencies");
        else if (formula.empty())
            fail(no_formula);
        else if (!cost_s || !in_step(algorithm, ranks, equal))
            fail(fmt::format("none where ranks run ahead of each other, as in {}", formula));
        return known_ ? cost_s : std::nullopt;
    }

    std::optional<double> of_all(const CollectiveAlgorithm& algorithm, const AlgorithmSpec& spec, std::uint64_t bytes,
                                 const Protocol& protocol) {
        const Cluster& cluster = training_.cluster;
        const auto ranks = static_cast<std::uint32_t>(training_.places.size());
        if (is_request(spec)) {
            if (!is_flat(cluster) || !wires_only(cluster.transport)) return std::nullopt;
            return algorithm.cost(ranks, bytes, flat_message_cost(cluster, unlimited));
        }
        const auto* const rare = dynamic_cast<const EveryRounds*>(&algorithm);
        const auto [idle, added] = idle_.try_emplace(rare ? &rare->of() : &algorithm);
        // After a chain whose latency travels the first ranks are ahead of the last ones in the next exchange.
        if (added)
            idle->second =
                leaves_idle(*idle->first, ranks) || (spec.peers == Peers::machine && latency_travels(cluster));
        // If some rank ends before the others, its next request overlaps with their remaining exchange.
        const bool negotiates = training_.plan.fusion.negotiation != Negotiation::none;
        if (idle->second || training_.plan.compression.kind == Compression::Kind::powersgd ||
            (negotiates && !in_step(algorithm, ranks, bytes)))
            return std::nullopt;
        return all_.of(algorithm, spec, bytes, protocol);
    }

    const Lowered& training_;
    const bool split_, up_;
    ExchangeCosts all_;
    std::optional<MessageCost> message_;
    std::map<const CollectiveAlgorithm*, bool> idle_;
    std::vector<std::string> formulas_;
    double total_s_ = 0;
    bool known_ = true;
    std::string why_not_;
};

/// Returns why the iteration has no closed form, although its exchanges may have one; else nothing.
std::string why_none_of_iteration(const Lowered& training) {
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    if (plan.overlap == Overlap::across_iterations) return "none for overlapping iterations";
    if (plan.exchange_delay > 0) return "none where an exchange has several iterations";
    if (plan.local_steps > 1 && plan.overlap != Overlap::none)
        return "none where some iterations exchange and overlap, and others do not exchange";
    if (plan.noise.any()) return "none for iterations with jitter or stragglers";
    if (training.documents_vary()) return "none where documents make the work of microbatches differ";
    if (plan.offload == Offload::gradients)
        return "none where gradients are copied to the host during the backward pass";
    if (plan.compression.any()) return "none where gradients are encoded and decoded";
    const bool overlaps = plan.overlap != Overlap::none || plan.fusion.negotiation == Negotiation::ahead;
    if (overlaps && slows_beside_exchange(cluster)) return "none where exchanges slow down concurrent computation";
    return "";
}

/// Returns why exchanges that have no closed form have none.
std::string why_none_of_exchanges(const Lowered& training) {
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    const bool costs = !wires_only(cluster.transport), flat = is_flat(cluster);
    if (cluster.native) return "none for a platform in SimGrid's format";
    if (!cluster.faults.empty()) return "none for a platform with faults";
    if (training.served()) {
        if (costs) return "none for a parameter server if the transport has costs";
        if (!flat) return "none for a parameter server, except on one switch";
        if (plan.servers.pull == PullStart::each && plan.servers.colocated())
            return "none where pushes and pulls share links";
        if (plan.schedule != Schedule::fifo) return "none for a parameter server, except with `schedule: fifo`";
        return "none if more servers than ranks are in use";
    }
    const auto ring = [](const Chosen& chosen) { return chosen.spec.name == "ring"; };
    if (!flat && !std::ranges::all_of(training.first_exchanges(), ring))
        return "none on this fabric, except for a ring";
    if (plan.fusion.negotiation != Negotiation::none && (costs || !flat))
        return "none with negotiation, except on one switch without costs of the transport";
    if (!flat) return "none where routes of a ring share links or differ, or blocks differ in size";
    return costs ? "none where blocks differ in size, or ranks are idle or kept out of step by the transport's costs"
                 : "none where blocks differ in size, or ranks are idle or out of step";
}

/// Returns why an iteration whose ranks exchange in groups has no closed form, regardless of its exchanges; else
/// nothing.
std::string why_none_of_groups(const Lowered& training) {
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    const Arrangement& arrangement = training.arrangement;
    if (plan.parallelism.pipeline.stages > 1) return "none for a pipeline";
    // The next forward pass overlaps with the exchange of the last layer's outputs.
    if (arrangement.micro_batches > 1 && plan.parallelism.pipeline.schedule != PipelineSchedule::one_f_one_b)
        return "none where the next microbatch starts before the exchanges of the previous one end";
    if (plan.parallelism.pipeline.pairs) return "none where the passes of two microbatches run together";
    if (plan.parallelism.sharding != Sharding::none) return "none for sharded weights, gradients or optimizer states";
    if (plan.overlap != Overlap::none || plan.hides_input_gradients() || plan.parallelism.model_chunks > 1)
        return "none for a split model whose exchanges overlap";
    if (!is_flat(cluster) || !wires_only(cluster.transport))
        return "none for a split model, except on one switch without a transport";
    for (const PlacedLayer& layer : arrangement.layers)
        if (layer.experts && !layer.experts->loads.empty()) return "none where ranks' experts have different loads";
    for (const PlacedLayer& layer : arrangement.layers)
        if (layer.contributors < layer.layout.rows) return "none where a layer has fewer parts than rows";
    if (plan.noise.any()) return "none with jitter or stragglers";
    if (training.documents_vary()) return "none where documents make the work of microbatches differ";
    if (training.kinds_differ) return none_of_kinds;
    if (plan.offload == Offload::gradients)
        return "none where gradients are copied to the host during the backward pass";
    if (plan.exchange == ExchangeKind::gossip || plan.compression.any() || plan.fusion.tick_s() > 0 ||
        plan.fusion.negotiation != Negotiation::none)
        return "none for a split model with gossip, compression, cycles or negotiation";
    if (plan.parallelism.layout.context > 1 && slows_beside_exchange(cluster))
        return "none where computation is slower beside exchanges";
    return "";
}

/// Returns the closed form of an iteration whose ranks exchange in groups.
ClosedForm form_of_groups(const Lowered& training) {
    if (const std::string why_not = why_none_of_groups(training); !why_not.empty()) return {why_not, {}, {}, why_not};
    ClosedForms of_passes(training, true), most(training, true), least(training, true, false);
    virtual_stage_times(training, of_passes);
    const double most_s = forecast(training, most).time_s, least_s = forecast(training, least).time_s;
    if (!most.known()) return {most.why_not(), {}, {}, most.why_not()};
    constexpr double exactness = 1e-6;
    if (most_s - least_s > exactness * least_s) {
        const std::string why_not = "none for blocks of such unequal sizes";
        return {why_not, {}, {}, why_not};
    }
    const double passes_s = of_passes.total_s(), times = training.arrangement.micro_batches;
    const double syncs = gradient_syncs(training.plan, training.arrangement);
    return {most.any() ? "computation + Σ exchanges: " + most.formulas() : "computation",
            times * passes_s + syncs * (most.total_s() - passes_s), most_s};
}

/// Returns the formula of a parameter server.
std::string formula_of_servers(const Plan& plan) {
    return plan.servers.pull == PullStart::each ? "per tensor: α + N·S·β, reduction, α + N·S·β, each in order"
                                                : "2(α + max over servers of its bytes·N·β) + reductions";
}

/// Returns the time of an iteration whose last gradients are there after `gradients_s`.
double iteration_s(const Lowered& training, double gradients_s) {
    const double copy_s = training.input_copy_s;
    double busy_s = training.plan.input_copy == InputCopy::blocking ? copy_s : 0;
    for (const PlacedLayer& layer : training.arrangement.layers)
        busy_s +=
            training.arrangement.micro_batches * (layer.time.forward_s + layer.time.backward_s() + layer.recompute_s);
    busy_s = std::max(busy_s, gradients_s) + training.steps.front().total_s();
    return with_input_load(training,
                           training.plan.input_copy == InputCopy::overlapped ? std::max(busy_s, copy_s) : busy_s);
}

/// Returns the closed form of an iteration in which all ranks exchange all gradients, and nothing else.
ClosedForm form_of_gradients(const Lowered& training) {
    std::string why_not = why_none_of_iteration(training);
    const std::uint32_t syncs = gradient_syncs(training.plan, training.arrangement);
    if (why_not.empty() && syncs > 1 && training.plan.fusion.tick_s() > 0)
        why_not = "none for a cycle with exchanges after each microbatch";
    // Nothing overlaps with an exchange, or waits for one, where there is none.
    if (why_not.empty() && training.kinds_differ) why_not = none_of_kinds;
    const bool alone = training.buckets.empty() && !training.plan.noise.any() && !training.documents_vary() &&
                       training.cluster.faults.empty();
    if (alone && training.plan.offload != Offload::gradients) why_not.clear();
    ClosedForm result{no_exchange, 0.0, {}, why_not};
    const Servers& servers = training.plan.servers;
    if (training.served() && !training.buckets.empty() && (servers.independent() || servers.backup_workers > 0))
        return {never_together, {}, {}, never_together};
    if (training.served() && !training.buckets.empty()) {
        result.formula = formula_of_servers(training.plan);
        result.communication_time_s = parameter_server_end(training, false);
        if (const auto end_s = parameter_server_end(training, true))
            result.iteration_time_s = iteration_s(training, *end_s);
    } else {
        ClosedForms prices(training, false);
        const double time_s = forecast(training, prices).time_s;
        if (!training.buckets.empty()) {
            result.formula = prices.formulas();
            if (result.formula == no_formula) return {no_formula, {}, {}, no_formula};
            result.communication_time_s = prices.known() ? std::optional(syncs * prices.total_s()) : std::nullopt;
        }
        if (prices.known()) result.iteration_time_s = time_s;
    }
    if (why_not.empty() && !result.iteration_time_s) result.why_not = why_none_of_exchanges(training);
    if (why_not.empty()) return result;
    result.iteration_time_s.reset();
    if (!training.buckets.empty()) result.formula += "; " + why_not;
    return result;
}

}  // namespace

ClosedForm closed_form(const Lowered& training) {
    if (training.cluster.network != NetworkModel::exact) {
        const std::string why_not = "none for this network model";
        return {why_not, {}, {}, why_not};
    }
    return exchanges_only_gradients(training) ? form_of_gradients(training) : form_of_groups(training);
}

}  // namespace syncline
