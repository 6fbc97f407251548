#include "sim/iteration/operations.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace syncline {

namespace {

using Number = Operation::Number;

/// Writes the operations of one pass, layer by layer.
class Writer {
public:
    Writer(const Plan& plan, const Arrangement& arrangement)
        : plan_(plan), arrangement_(arrangement), uneven_(arrangement.documents && arrangement.documents->varying) {}

    void forward(std::uint32_t layer, Phase phase) {
        const PlacedLayer& placed = arrangement_.layers[layer];
        const LayerExchanges& around = placed.exchanges;
        const ChunkedProducts& chunked = placed.chunked;
        const Number weights = gather(layer);
        const std::vector<Number> inputs = exchange(around.before_forward, layer);
        const std::size_t first = pass_.operations.size();
        arriving(inputs, phase, layer, chunked.inputs_forward_s, weights);
        const bool core = !around.forward_core.empty();
        data_ = compute(phase, layer, weights, [&](const LayerTime& time) {
            return time.forward_s - (core ? time.core_forward_s : 0) - chunked.forward_s();
        });
        pass_.operations[first].begins = true;
        core_steps(around.forward_core, phase, layer, &LayerTime::core_forward_s);
        if (chunked.outputs_forward_s > 0)
            leaving(around.after_forward.front(), phase, layer, chunked.outputs_forward_s);
        else
            exchange(around.after_forward, layer);
    }

    /// `later`: weight_gradients() adds those of the weights.
    void backward(std::uint32_t layer, bool later) {
        const PlacedLayer& placed = arrangement_.layers[layer];
        const LayerExchanges& around = placed.exchanges;
        const bool core = !around.backward_core.empty();
        const bool hides = plan_.hides_input_gradients();
        const bool apart = later || core || (hides && !around.after_backward.empty());
        const Number weights = begin_backward(layer);
        const std::vector<Number> outputs = exchange(around.before_backward, layer);
        // Exchanges of the inputs and of their gradients overlap with the products that read the inputs, or with all.
        const bool edge = apart && hides && !later && placed.time.inputs_backward_s > 0;
        Number inputs = Operation::nothing;
        const auto gather_inputs = [&] {
            const Number gradients = data_;
            exchange(around.beside_backward, layer);
            // The gradients of the inputs do not wait for the inputs, which those of the weights need.
            if (apart && hides && !around.beside_backward.empty()) inputs = std::exchange(data_, gradients);
        };
        if (!later && !edge) gather_inputs();
        arriving(outputs, Phase::backward, layer, placed.chunked.outputs_backward_s, weights);
        Number complete = data_ = compute(Phase::backward, layer, weights, [&](const LayerTime& time) {
            const double all_s = apart ? time.input_gradient_s - (core ? time.core_backward_s : 0) : time.backward_s();
            const double others_s = edge ? time.other_weights_s() - time.inputs_backward_s : 0;
            return all_s + others_s - placed.chunked.backward_s();
        });
        core_steps(around.backward_core, Phase::backward, layer, &LayerTime::core_backward_s);
        if (edge) {
            gather_inputs();
            data_ = compute(Phase::backward, layer, Operation::nothing,
                            [](const LayerTime& time) { return time.inputs_backward_s; });
        }
        if (!later) {
            if (apart) complete = compute(Phase::backward, layer, inputs, edge ? inputs_weights_s : weight_gradients_s);
            const Number result = hides ? data_ : complete;
            completes(encoded(complete, layer), layer);
            data_ = result;
        }
        exchange(around.after_backward, layer);
    }

    void weight_gradients(std::uint32_t layer) {
        exchange(arrangement_.layers[layer].exchanges.beside_backward, layer);
        completes(encoded(compute(Phase::backward, layer, Operation::nothing, weight_gradients_s), layer), layer);
        data_ = Operation::input;
    }

    PassProgram take() {
        pass_.output = data_;
        return std::move(pass_);
    }

private:
    static LayerTime without_core(LayerTime time) {
        time.forward_s -= time.core_forward_s;
        time.input_gradient_s -= time.core_backward_s;
        time.core_forward_s = time.core_backward_s = 0;
        return time;
    }
    static double weight_gradients_s(const LayerTime& time) { return time.weight_gradient_s; }
    static double inputs_weights_s(const LayerTime& time) { return time.inputs_weights_s; }

    Number add(Operation operation) {
        operation.after = data_;
        pass_.operations.push_back(std::move(operation));
        return static_cast<Number>(pass_.operations.size()) - 1;
    }

    /// Adds a computation. `seconds` returns its time of a layer's.
    template <class Seconds>
    Number compute(Phase phase, std::uint32_t layer, Number also, Seconds seconds) {
        const PlacedLayer& placed = arrangement_.layers[layer];
        Operation operation{Operation::Kind::compute, phase, layer, std::max(0.0, seconds(placed.time))};
        if (placed.experts)
            for (const LayerTime& time : placed.experts->times)
                operation.by_member.push_back(std::max(0.0, seconds(time)));
        // Times are sums and differences of parts, so that this is what the core contributes.
        if (uneven_ && placed.time.core_forward_s > 0)
            operation.varying_s = std::max(0.0, operation.seconds - std::max(0.0, seconds(without_core(placed.time))));
        operation.also = also;
        return add(std::move(operation));
    }

    /// Adds the encoding of gradients that are complete after `computed`, if they are compressed.
    Number encoded(Number computed, std::uint32_t layer) {
        const double encode_s = arrangement_.layers[layer].compressed.encode_s;
        if (encode_s == 0) return computed;
        return compute(Phase::encode, layer, Operation::nothing, [&](const LayerTime&) { return encode_s; });
    }

    /// Adds what Recomputation::selective computes again. Returns the last all-gather of the layer's weights.
    Number begin_backward(std::uint32_t layer) {
        const PlacedLayer& placed = arrangement_.layers[layer];
        // The weights of a recomputed layer are there already.
        if (placed.recomputed) return Operation::nothing;
        const Number weights = gather(layer);
        // Attention's core has none.
        const bool needs_weights = plan_.recomputation != Recomputation::selective;
        if (placed.recompute_s > 0)
            data_ = compute(Phase::recompute, layer, needs_weights ? weights : Operation::nothing,
                            [&](const LayerTime&) { return placed.recompute_s; });
        return weights;
    }

    /// Adds the all-gathers of a unit when the pass comes to its first layer. Returns the last one.
    Number gather(std::uint32_t layer) {
        const LayerSpan& unit = arrangement_.layers[layer].unit;
        if (unit_ == unit) return gathered_;
        unit_ = unit;
        gathered_ = Operation::nothing;
        if (plan_.parallelism.sharding != Sharding::parameters) return gathered_;
        pass_.operations.push_back({Operation::Kind::unit, Phase::weights, layer});
        for (std::uint32_t each = unit.first; each < unit.end; ++each)
            for (const ActivationExchange& weights : arrangement_.layers[each].exchanges.weights)
                gathered_ = add_exchange(Operation::Kind::gather, weights, each);
        return gathered_;
    }

    Number add_exchange(Operation::Kind kind, const ActivationExchange& exchange, std::uint32_t layer) {
        Operation operation{kind, exchange.phase, layer};
        operation.exchange = &exchange;
        return add(std::move(operation));
    }

    /// Adds exchanges, one after the other. Returns the chunks of those that are exchanged in chunks.
    std::vector<Number> exchange(const std::vector<ActivationExchange>& exchanges, std::uint32_t layer) {
        std::vector<Number> chunks;
        for (const ActivationExchange& one : exchanges)
            for (std::uint32_t chunk = 0; chunk < one.chunks; ++chunk) {
                data_ = add_exchange(Operation::Kind::exchange, one, layer);
                if (one.chunks > 1) chunks.push_back(data_);
            }
        return chunks;
    }

    /// Adds products in chunks, each after its part of the last exchange.
    void arriving(const std::vector<Number>& chunks, Phase phase, std::uint32_t layer, double chunk_s, Number weights) {
        for (const Number chunk : chunks) {
            data_ = chunk;
            compute(phase, layer, weights, [&](const LayerTime&) { return chunk_s; });
        }
    }

    /// Adds products in chunks, each before its part of an exchange.
    void leaving(const ActivationExchange& whole, Phase phase, std::uint32_t layer, double chunk_s) {
        Number computed = data_, exchanged = data_;
        for (std::uint32_t chunk = 0; chunk < whole.chunks; ++chunk) {
            data_ = computed;
            data_ = computed = compute(phase, layer, Operation::nothing, [&](const LayerTime&) { return chunk_s; });
            exchanged = add_exchange(Operation::Kind::exchange, whole, layer);
        }
        data_ = exchanged;
    }

    /// Adds the steps of a layer's core: an exchange, and a computation beside it. After a last step that has both,
    /// what has arrived is added up, which takes no time.
    void core_steps(const std::vector<CoreStep>& steps, Phase phase, std::uint32_t layer, double LayerTime::*core_s) {
        Number beside = Operation::nothing;  // the computation of the step before, if it had an exchange
        for (const CoreStep& step : steps) {
            Number exchanged = Operation::nothing, computed = Operation::nothing;
            if (step.exchange) {
                exchanged = add_exchange(Operation::Kind::exchange, *step.exchange, layer);
                pass_.operations.back().also = beside;
            }
            if (step.fraction > 0)
                computed = compute(phase, layer, Operation::nothing,
                                   [&](const LayerTime& time) { return step.fraction * (time.*core_s); });
            data_ = exchanged == Operation::nothing ? computed : exchanged;
            beside = exchanged == Operation::nothing ? Operation::nothing : computed;
        }
        if (beside != Operation::nothing)
            data_ = compute(phase, layer, Operation::nothing, [](const LayerTime&) { return 0.0; });
    }

    /// With weights that are gathered by unit, the gradients of a unit's layers are complete together, with those of
    /// the first one, which are computed last.
    void completes(Number operation, std::uint32_t layer) {
        const LayerSpan& unit = arrangement_.layers[layer].unit;
        LayerSpan& complete = pass_.operations[static_cast<std::size_t>(operation)].completes;
        if (plan_.parallelism.sharding != Sharding::parameters)
            complete = {layer, layer + 1};
        else if (unit.first == layer)
            complete = unit;
    }

    const Plan& plan_;
    const Arrangement& arrangement_;
    const bool uneven_;
    PassProgram pass_;
    Number data_ = Operation::input;        ///< whose result the next operation works on
    std::optional<LayerSpan> unit_;         ///< of the pass, if it has begun one ...
    Number gathered_ = Operation::nothing;  ///< ... and its last all-gather
};

VirtualStagePasses passes_of(const Plan& plan, const Arrangement& arrangement, std::uint32_t part, bool apart,
                             bool some) {
    const std::uint32_t first = arrangement.first_layer[part], end = arrangement.first_layer[part + 1];
    Writer forward(plan, arrangement), backward(plan, arrangement), later(plan, arrangement), whole(plan, arrangement);
    for (std::uint32_t layer = first; layer < end; ++layer) forward.forward(layer, Phase::forward);
    for (std::uint32_t layer = end; layer-- > first;) {
        const LayerSpan again = arrangement.again_before(layer);
        const auto add = [&](Writer& pass, bool without_weights) {
            for (std::uint32_t each = again.first; each < again.end; ++each) pass.forward(each, Phase::recompute);
            pass.backward(layer, without_weights);
        };
        add(backward, apart);
        if (apart) later.weight_gradients(layer);
        if (some) add(whole, false);
    }
    return {forward.take(), backward.take(), later.take(), whole.take()};
}

std::vector<VirtualStagePasses> passes_of(const Plan& plan, const Arrangement& arrangement) {
    const Pipeline& pipeline = plan.parallelism.pipeline;
    const bool apart = pipeline.computes_weights_apart();
    const bool some = apart && pipeline.schedule == PipelineSchedule::dualpipe_v;
    std::vector<VirtualStagePasses> parts;
    for (std::uint32_t part = 0; part + 1 < arrangement.first_layer.size(); ++part)
        parts.push_back(passes_of(plan, arrangement, part, apart, some));
    return parts;
}

/// Throws std::logic_error unless the passes differ in times alone.
void require_same_operations(const PassProgram& one, const PassProgram& other) {
    const auto same = [](const Operation& a, const Operation& b) {
        return a.kind == b.kind && a.layer == b.layer && a.phase == b.phase && a.after == b.after && a.also == b.also &&
               a.by_member.size() == b.by_member.size();
    };
    if (!std::ranges::equal(one.operations, other.operations, same))
        throw std::logic_error("ranks of different kinds have different operations");
}

}  // namespace

bool exchange_within_stages(const std::vector<VirtualStagePasses>& parts) {
    const auto exchanges = [](const PassProgram& pass) {
        return std::ranges::any_of(pass.operations, [](const Operation& operation) { return operation.exchange; });
    };
    return std::ranges::any_of(
        parts, [&](const VirtualStagePasses& part) { return exchanges(part.forward) || exchanges(part.backward); });
}

std::vector<VirtualStagePasses> passes_of(const Lowered& training) {
    return passes_of(training.plan, training.arrangement);
}

std::vector<std::vector<VirtualStagePasses>> passes_by_kind(const Lowered& training) {
    const std::vector<VirtualStagePasses> usual = passes_of(training);
    if (training.kinds.empty()) return {usual};
    std::vector<std::vector<VirtualStagePasses>> all;
    for (const RankKind& kind : training.kinds) {
        all.push_back(passes_of(training.plan, kind.arrangement));
        for (std::size_t part = 0; part < usual.size(); ++part)
            for (PassProgram VirtualStagePasses::*const pass :
                 {&VirtualStagePasses::forward, &VirtualStagePasses::backward, &VirtualStagePasses::later,
                  &VirtualStagePasses::whole})
                require_same_operations(usual[part].*pass, all.back()[part].*pass);
    }
    return all;
}

}  // namespace syncline
