#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/lowered.hpp"
#include "sim/lowering/pipeline.hpp"

/// The program of an iteration's passes: what every rank of a stage does in one pass of a microbatch through a
/// virtual stage, as a flat list of operations. It is written once, from the lowered plan; the task graph
/// (iteration.hpp), the forecast's clocks (pass_times.hpp) and the size of a simulation (work.hpp) read it.
///
/// An operation runs on one of the rank's streams (computation, exchanges of activations, all-gathers of weights),
/// after the one before it on that stream, and after the operations that it names.
///
/// A layer's pass waits for its inputs after their exchange. Sequence parallelism's exchanges of inputs, outputs and
/// gradients of outputs are synchronous: they begin when the device has computed what was issued before. In the
/// backward pass inputs that were not kept are gathered beside the products that give their gradients, which are
/// exchanged beside the products that give the weights' (Megatron-Core, megatron/core/tensor_parallel/layers.py,
/// LinearWithGradAccumulationAndAsyncCommunication); both are the products that read the layer's inputs, or all where
/// these are not known apart. If Plan::hides_input_gradients() is false, the backward pass is one operation, and the
/// gradients are exchanged after it. Products may be computed in chunks
/// (chunked_products.hpp). With Sharding::parameters the weights of a unit are gathered before each pass. Layers that
/// are recomputed (recomputed_spans.hpp) run their forward passes and exchanges once more before the backward pass of
/// the span's last layer, when the gradients of its outputs have arrived, as with PyTorch's checkpoints; their weights
/// are gathered for both passes together. Where a schedule computes the gradients of weights later (Gradients), they
/// wait for nothing but the stream, and inputs that have to be gathered again are gathered for them.
///
/// A layer that exchanges data inside (LayerExchanges::forward_core) first computes everything except its core, then
/// the steps of the core, and in the backward pass the gradients of its weights last. Only the sum of what is computed
/// outside of the core counts, and the order of its parts is not modelled.
///
/// The weights of a unit (PlacedLayer::unit) are gathered before each of its passes: a transformer's block, attention
/// with the layers that follow it; layers that are recomputed together; otherwise one layer. The layers of a unit wait
/// for all of its weights. A unit is gathered from the moment at which the one before it begins to compute, and that
/// one's predecessor is released: at most two units' weights are there at a time. This is PyTorch's FSDP with blocks as
/// units, which limits itself to two gatherings (`limit_all_gathers`) and issues the next one before a unit computes,
/// forward and backward (Y. Zhao et al., "PyTorch FSDP", PVLDB 16(12), 2023, sections 3.3 and 3.4). Both, and that of
/// Megatron-Core (megatron/core/distributed/custom_fsdp/fully_sharded_data_parallel.py, _post_backward), exchange the
/// gradients of a unit after the whole unit's backward pass: its last operation completes all of them.
///
/// Left out: embedding and head of PyTorch's outermost unit, which stay gathered during an iteration; that a unit's
/// weights are one message, not one for each layer and one for its experts.
namespace syncline {

struct Operation {
    enum class Kind : std::uint8_t {
        compute,
        exchange,  ///< of activations, or one chunk of it
        gather,    ///< of a layer's weights, on ranks that have a part of the layer
        unit       ///< takes no time; the operations that follow belong to the next unit
    };
    using Number = std::int32_t;
    static constexpr Number input = -1;    ///< what the pass gets from the stage before, or from the pass before
    static constexpr Number nothing = -2;  ///< no operation

    Kind kind = Kind::compute;
    Phase phase = Phase::forward;
    std::uint32_t layer = 0;
    double seconds = 0;    ///< of a computation, on the slowest rank with a part of the layer; others take none
    double varying_s = 0;  ///< the part of it that differs with a microbatch's documents: attention's core
    /// `seconds` by member of the group that divides the layer's experts; empty: all take as long.
    std::vector<double> by_member = {};
    const ActivationExchange* exchange = nullptr;
    Number after = input;      ///< whose data it works on
    Number also = nothing;     ///< waits for this one, too
    bool begins = false;       ///< the first computation of the layer's pass
    LayerSpan completes = {};  ///< layers whose gradients of weights are complete after it
};

struct PassProgram {
    std::vector<Operation> operations;
    Operation::Number output = Operation::input;  ///< whose data leaves
};

/// The passes through a virtual stage.
struct VirtualStagePasses {
    PassProgram forward;
    PassProgram backward;  ///< of all gradients, or of those of inputs
    PassProgram later;     ///< of the gradients of weights, where the schedule computes them apart
    PassProgram whole;     ///< of all gradients, where the schedule computes only some apart

    const PassProgram& of(const Slot& slot) const {
        if (slot.forward) return forward;
        if (slot.gradients == Gradients::all && !whole.operations.empty()) return whole;
        return slot.gradients == Gradients::weights ? later : backward;
    }
};

/// Returns whether ranks of a stage exchange activations or weights during their passes.
bool exchange_within_stages(const std::vector<VirtualStagePasses>& parts);

/// Returns the passes of each virtual stage. They point to `training`, which must outlive them. With several kinds of
/// ranks the times are those of the slowest in the stage.
std::vector<VirtualStagePasses> passes_of(const Lowered& training);
/// Returns the same for ranks of each of Lowered::kinds, which differ in times alone; the one above, if there are none.
std::vector<std::vector<VirtualStagePasses>> passes_by_kind(const Lowered& training);

}  // namespace syncline
