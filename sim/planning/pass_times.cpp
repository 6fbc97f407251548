#include "sim/planning/pass_times.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/training/gradient_sync.hpp"
#include "sim/training/passes.hpp"

namespace syncline::planning {

namespace {

/// The clocks of a rank during a pass.
class Walk {
public:
    /// `fresh`: no pass on the same stage precedes it, during which its first weights could be gathered.
    Walk(const Lowered& training, WireCosts& wires, std::uint32_t part, bool fresh = false)
        : training_(training), wires_(wires), ranks_(training.arrangement.stage_ranks), fresh_(fresh) {
        stage_ = {part % training.arrangement.stages * ranks_, ranks_};
    }

    void forward(const PlacedLayer& layer) {
        const LayerExchanges& around = layer.exchanges;
        const double gathered_s = weights(layer);
        exchange(around.before_forward);
        const double core_s = around.forward_rounds.empty() ? 0 : layer.time.core_forward_s;
        arriving(layer.chunked.inputs_forward_s, gathered_s);
        compute(layer.time.forward_s - core_s - layer.chunked.forward_s(), gathered_s);
        run(around.forward_rounds, core_s);
        if (layer.chunked.outputs_forward_s > 0)
            leaving(around.after_forward.front(), layer.chunked.outputs_forward_s);
        else
            exchange(around.after_forward);
    }

    /// Returns the time at which the layer's gradients are complete.
    double backward(const PlacedLayer& layer) {
        const LayerExchanges& around = layer.exchanges;
        const double gathered_s = begin_backward(layer);
        const std::vector<double> chunks_s = arrivals_s_;
        const double outputs_s = data_s_;
        exchange(around.beside_backward);
        const double chunked_s = layer.chunked.backward_s();
        const bool overlaps = training_.plan.hides_input_gradients();
        if (weights_apart(training_.plan, around)) {
            const double core_s = around.backward_rounds.empty() ? 0 : layer.time.core_backward_s;
            const double inputs_s = overlaps ? std::exchange(data_s_, outputs_s) : data_s_;
            arrivals_s_ = chunks_s;
            arriving(layer.chunked.outputs_backward_s, gathered_s);
            compute(layer.time.input_gradient_s - core_s - chunked_s, gathered_s);
            run(around.backward_rounds, core_s);
            computed_s_ = std::max({computed_s_, data_s_, inputs_s}) + layer.time.weight_gradient_s;
            if (!overlaps) data_s_ = computed_s_;
        } else {
            arriving(layer.chunked.outputs_backward_s, gathered_s);
            compute(layer.time.backward_s() - chunked_s, gathered_s);
        }
        const double gradients_s = computed_s_;
        exchange(around.after_backward);
        return gradients_s;
    }

    /// The two parts of a backward pass whose gradients of weights are computed later.
    void input_gradients(const PlacedLayer& layer) {
        const LayerExchanges& around = layer.exchanges;
        const double gathered_s = begin_backward(layer);
        const double core_s = around.backward_rounds.empty() ? 0 : layer.time.core_backward_s;
        arriving(layer.chunked.outputs_backward_s, gathered_s);
        compute(layer.time.input_gradient_s - core_s - layer.chunked.backward_s(), gathered_s);
        run(around.backward_rounds, core_s);
        exchange(around.after_backward);
    }
    double weight_gradients(const PlacedLayer& layer) {
        exchange(layer.exchanges.beside_backward);
        compute(layer.time.weight_gradient_s, 0);
        data_s_ = 0;  // the next layer's wait for nothing
        return computed_s_;
    }

    PassTime time(bool exchanges_first) const { return {data_s_, computed_s_, quiet_s_, exchanges_first}; }

private:
    double begin_backward(const PlacedLayer& layer) {
        // The weights of a recomputed layer are there already.
        const double gathered_s = layer.recomputed ? 0 : weights(layer);
        if (!layer.recomputed && layer.recompute_s > 0) compute(layer.recompute_s, gathered_s);
        exchange(layer.exchanges.before_backward);
        return gathered_s;
    }

    void compute(double seconds, double gathered_s) {
        computed_s_ = data_s_ = std::max({computed_s_, data_s_, gathered_s}) + seconds;
    }

    void exchange(const std::vector<ActivationExchange>& exchanges) {
        arrivals_s_.clear();
        for (const ActivationExchange& one : exchanges) {
            const std::uint64_t bytes = *std::max_element(one.bytes.begin(), one.bytes.end());
            // Neighbours of a halo send each other one message.
            const double seconds = wires_.exchange_s(stage_, one.groups, *one.algorithm, one.spec, bytes);
            for (std::uint32_t chunk = 0; chunk < one.chunks; ++chunk) {
                quiet_s_ = data_s_ = std::max(quiet_s_, data_s_) + seconds;
                arrivals_s_.push_back(data_s_);
            }
        }
    }

    /// Computes a product in chunks, each after its part of the last exchange.
    void arriving(double chunk_s, double gathered_s) {
        if (chunk_s == 0) return;
        for (const double arrival_s : arrivals_s_)
            computed_s_ = std::max({computed_s_, arrival_s, gathered_s}) + chunk_s;
    }

    /// Computes a product in chunks, each before its part of an exchange.
    void leaving(const ActivationExchange& whole, double chunk_s) {
        ActivationExchange one = whole;
        one.chunks = 1;
        for (std::uint32_t chunk = 0; chunk < whole.chunks; ++chunk) {
            data_s_ = computed_s_ = std::max(computed_s_, chunk == 0 ? data_s_ : 0) + chunk_s;
            exchange({one});
        }
    }

    /// Runs the exchanges inside a layer, beside which parts of its core are computed.
    void run(const std::vector<Round>& rounds, double core_s) {
        for (const Round& round : rounds) {
            const double start_s = data_s_;
            if (round.exchange) exchange({*round.exchange});
            if (round.part == 0) continue;
            computed_s_ = std::max(computed_s_, start_s) + round.part * core_s;
            data_s_ = std::max(data_s_, computed_s_);
        }
    }

    /// Returns the time at which the weights of a layer's unit are gathered. Those of the first unit are gathered
    /// during the pass before, those of the others from the moment at which the unit before can compute.
    double weights(const PlacedLayer& layer) {
        if (unit_ == layer.unit) return gathered_s_;
        const double from_s = std::exchange(begun_s_, computed_s_);
        double seconds = 0;
        const AlgorithmSpec spec = training_.plan.parallelism.weight_gathering();
        for (std::uint32_t i = layer.unit.first; i < layer.unit.end; ++i)
            PlacedLayer::each_weights(training_.arrangement.layers[i],
                                      [&](const Grouping& shards, std::uint64_t bytes, const auto& gathering) {
                                          if (gathering)
                                              seconds += wires_.exchange_s(stage_, shards, *gathering, spec, bytes);
                                      });
        const bool before = !unit_ && !fresh_;
        unit_ = layer.unit;
        if (!before && seconds > 0) gathered_s_ = std::max(gathered_s_, from_s) + seconds;
        return gathered_s_;
    }

    const Lowered& training_;
    WireCosts& wires_;
    const std::uint32_t ranks_;
    StageRanks stage_;
    double data_s_ = 0, computed_s_ = 0, quiet_s_ = 0, gathered_s_ = 0;
    std::vector<double> arrivals_s_;  ///< of the chunks of the last exchange
    double begun_s_ = 0;              ///< the device is free for the current unit
    std::optional<Segment> unit_;     ///< whose weights are there
    const bool fresh_;
};

PartTime part_time(const Lowered& training, WireCosts& wires, std::uint32_t part) {
    const Arrangement& arrangement = training.arrangement;
    const std::uint32_t first = arrangement.first_layer[part], end = arrangement.first_layer[part + 1];
    PartTime result;
    const bool fresh = part == 0 && gradient_syncs(training.plan, arrangement) == arrangement.micro_batches;
    Walk forward(training, wires, part, fresh), backward(training, wires, part), later(training, wires, part);
    const Pipeline& pipeline = training.plan.parallelism.pipeline;
    const bool apart = pipeline.schedule == PipelineSchedule::zero_bubble_h1 && pipeline.stages > 1;
    for (std::uint32_t i = first; i < end; ++i) {
        const PlacedLayer& layer = arrangement.layers[i];
        forward.forward(layer);
        result.compute_s += layer.time.forward_s + layer.time.backward_s() + layer.recompute_s;
    }
    result.gradients_left.resize(end - first);
    for (std::uint32_t i = end; i-- > first;) {
        const PlacedLayer& layer = arrangement.layers[i];
        const Segment again = arrangement.again_before(i);
        for (std::uint32_t each = again.first; each < again.end; ++each) backward.forward(arrangement.layers[each]);
        if (!apart) {
            result.gradients_left[i - first] = backward.backward(layer);
            continue;
        }
        backward.input_gradients(layer);
        result.gradients_left[i - first] = later.weight_gradients(layer);
        result.later_compute_s += layer.time.weight_gradient_s;
    }
    // The gradients of a unit are complete together: see weight_gathering.hpp.
    if (training.plan.parallelism.sharding == Sharding::parameters)
        for (std::uint32_t i = first; i < end; ++i)
            result.gradients_left[i - first] = result.gradients_left[arrangement.layers[i].unit.first - first];
    const LayerExchanges &at_start = arrangement.layers[first].exchanges,
                         &at_end = arrangement.layers[end - 1].exchanges;
    result.forward = forward.time(!at_start.before_forward.empty());
    result.backward = backward.time(!at_end.before_backward.empty() || (!apart && !at_end.beside_backward.empty()));
    result.later = later.time(!at_end.beside_backward.empty());
    const PassTime& last = apart ? result.later : result.backward;
    const double all_s = std::max(last.data_s, last.computed_s);
    for (double& left_s : result.gradients_left) left_s = all_s - left_s;
    return result;
}

}  // namespace

std::vector<PartTime> part_times(const Lowered& training, WireCosts& wires) {
    std::vector<PartTime> result;
    for (std::uint32_t part = 0; part + 1 < training.arrangement.first_layer.size(); ++part)
        result.push_back(part_time(training, wires, part));
    return result;
}

}  // namespace syncline::planning
