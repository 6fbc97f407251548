#include "sim/analysis/split_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/analysis/carried_cost.hpp"
#include "sim/training/gradient_sync.hpp"

namespace syncline {

namespace {

constexpr double exactness = 1e-6;

/// Time of consecutive exchanges with every buffer rounded up, and rounded down, to equal blocks.
struct Span {
    double most_s = 0, least_s = 0;
};

/// Adds up exchanges until one has no closed form.
class Sum {
public:
    explicit Sum(const MessageCost& message) : message_(message) {}

    /// Adds an exchange, `times` times, in groups of `ranks` ranks; `bytes` are the buffer sizes of the groups.
    void add(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, const std::vector<std::uint64_t>& bytes,
             double times, const Protocol& protocol = {}) {
        if (ranks == 1 || !why_not_.empty()) return;
        const auto [fewest, largest] = std::minmax_element(bytes.begin(), bytes.end());
        const std::uint64_t least = *fewest / ranks * ranks, most = (*largest + ranks - 1) / ranks * ranks;
        const auto most_s = algorithm.cost(ranks, most, message_), least_s = algorithm.cost(ranks, least, message_);
        const Protocol plain;
        if (protocol.launch_s != plain.launch_s || protocol.between_latency_s != plain.between_latency_s ||
            protocol.bandwidth_factor != plain.bandwidth_factor)
            why_not_ = "none for a protocol's latencies";
        else if (algorithm.formula(message_.travels).empty())
            why_not_ = no_formula;
        else if (!most_s || !least_s || !in_step(algorithm, ranks, most))
            why_not_ =
                fmt::format("none where ranks run ahead of each other, as in {}", algorithm.formula(message_.travels));
        if (!why_not_.empty()) return;
        span_.most_s += times * *most_s;
        span_.least_s += times * *least_s;
        if (std::find(formulas_.begin(), formulas_.end(), algorithm.formula(message_.travels)) == formulas_.end())
            formulas_.push_back(algorithm.formula(message_.travels));
    }

    /// Takes off the time of an exchange, added before, that passes while its ranks compute for `beside_s`.
    void overlap(const ActivationExchange& exchange, double beside_s, double times) {
        const auto cost_s = exchange.algorithm->cost(exchange.groups.size, exchange.bytes.front(), message_);
        if (cost_s) overlapped_s_ += times * std::min(*cost_s, beside_s);
    }

    const Span& span() const { return span_; }
    double overlapped_s() const { return overlapped_s_; }
    const std::vector<std::string>& formulas() const { return formulas_; }
    const std::string& why_not() const { return why_not_; }

private:
    MessageCost message_;
    Span span_;
    double overlapped_s_ = 0;
    std::vector<std::string> formulas_;  ///< formulas of the algorithms, each once
    std::string why_not_;
};

/// Returns why a plan has no closed form regardless of its exchanges; empty if there is no obstacle.
std::string obstacle(const Cluster& cluster, const Plan& plan, const Arrangement& arrangement) {
    if (plan.parallelism.pipeline.stages > 1) return "none for a pipeline";
    // The next forward pass overlaps with the exchange of the last layer's outputs.
    if (arrangement.micro_batches > 1 && plan.parallelism.pipeline.schedule != PipelineSchedule::one_f_one_b)
        return "none where the next micro-batch starts before the exchanges of the previous one end";
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
    if (plan.offload == Offload::gradients)
        return "none where gradients are copied to the host during the backward pass";
    if (plan.parallelism.layout.context > 1 && speed_beside_exchange(cluster).slows())
        return "none where computation is slower beside exchanges";
    return "";
}

}  // namespace

ClosedForm split_closed_form(const Lowered& training) {
    const Arrangement& arrangement = training.arrangement;
    if (const std::string why_not = obstacle(training.cluster, training.plan, arrangement); !why_not.empty())
        return {why_not, {}, {}};
    // On one switch messages cost the same for all algorithms.
    const auto message = message_cost(training.cluster, training.places, "ring");
    if (!message) return {"none for this platform", {}, {}};

    const double times = arrangement.micro_batches, syncs = gradient_syncs(training.plan, arrangement);
    Sum exchanges(*message);
    double compute_s = training.steps.front().total_s();
    for (const PlacedLayer& layer : arrangement.layers) {
        compute_s += times * (layer.time.forward_s + layer.time.backward_s() + layer.recompute_s);
        const auto add = [&](const ActivationExchange& exchange) {
            exchanges.add(*exchange.algorithm, exchange.groups.size, exchange.bytes, times);
        };
        const auto overlap = [&](const std::vector<Round>& rounds, double core_s) {
            for (const Round& round : rounds)
                if (round.exchange) exchanges.overlap(*round.exchange, round.part * core_s, times);
        };
        LayerExchanges::each(layer.exchanges, add);
        overlap(layer.exchanges.forward_rounds, layer.time.core_forward_s);
        overlap(layer.exchanges.backward_rounds, layer.time.core_backward_s);
        if (!layer.recomputed) continue;
        LayerExchanges::each_forward(layer.exchanges, add);
        overlap(layer.exchanges.forward_rounds, layer.time.core_forward_s);
    }
    for (std::size_t b = 0; b < training.buckets.size(); ++b) {
        const Bucket& bucket = training.buckets[b];
        const Chosen& chosen = training.exchanges[b];
        exchanges.add(*chosen.algorithm, bucket.replicas.size, {bucket.bytes}, syncs, chosen.protocol);
    }
    if (!exchanges.why_not().empty()) return {exchanges.why_not(), {}, {}};

    const double copy_s = training.input_copy_s;
    if (training.plan.input_copy == InputCopy::blocking) compute_s += copy_s;
    const auto iteration_s = [&](double exchanges_s) {
        const double busy_s = compute_s + exchanges_s - exchanges.overlapped_s();
        return training.plan.input_copy == InputCopy::overlapped ? std::max(busy_s, copy_s) : busy_s;
    };
    const auto [most_s, least_s] = exchanges.span();
    if (iteration_s(most_s) - iteration_s(least_s) > exactness * iteration_s(least_s))
        return {"none for blocks of such unequal sizes", {}, {}};
    ClosedForm result{"computation", most_s, iteration_s(most_s)};
    if (!exchanges.formulas().empty())
        result.formula += fmt::format(" + Σ exchanges: {}", fmt::join(exchanges.formulas(), "; or "));
    return result;
}

}  // namespace syncline
