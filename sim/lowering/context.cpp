#include "sim/lowering/context.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/collective/shift.hpp"
#include "sim/lowering/layer_exchanges.hpp"
#include "sim/workload/transformer.hpp"

namespace syncline {

namespace {

/// Returns the number of positions whose activations a layer passes on; 0: it has none.
std::int64_t positions_of(const Layer& layer) {
    struct Positions {
        std::int64_t operator()(const Custom&) const { return 0; }
        std::int64_t operator()(const Convolution&) const { return 0; }
        std::int64_t operator()(const Dense& dense) const { return dense.positions > 1 ? dense.positions : 0; }
        std::int64_t operator()(const Attention& attention) const { return attention.positions; }
        std::int64_t operator()(const FeedForward& forward) const { return forward.positions; }
        std::int64_t operator()(const ParallelBlock& block) const { return block.attention.positions; }
        std::int64_t operator()(const Experts& experts) const { return experts.positions; }
        std::int64_t operator()(const Embedding& embedding) const { return embedding.positions; }
        std::int64_t operator()(const EmbeddingBag&) const { return 0; }
        std::int64_t operator()(const PatchEmbedding&) const { return 0; }
    };
    return std::visit(Positions{}, layer.shape);
}

/// Plans the steps of an attention.
class AttentionSteps {
public:
    AttentionSteps(const Model& model, const Layer& layer, const Attention& shape, PlacedLayer& placed)
        : model_(model),
          layer_(layer),
          shape_(shape),
          placed_(placed),
          own_(head_elements(shape, placed.share.fraction)),
          ranks_(placed.layout.context) {}

    void add_ring() {
        const double each = 1 / static_cast<double>(ranks_);
        const double moved = samples() * (own_.keys + own_.values);
        LayerExchanges& exchanges = placed_.exchanges;
        for (std::int64_t block = 0; block < ranks_; ++block) {
            const bool first = block == 0, last = block + 1 == ranks_;
            exchanges.forward_core.push_back({last ? std::nullopt : std::optional(shift(moved)), each});
            // Keys and values are one block ahead, and their gradients one behind.
            exchanges.backward_core.push_back({shift(first || last ? moved : 2 * moved), each});
        }
    }

    void add_ulysses(const std::string& algorithm) {
        for (const auto& [heads, what] :
             {std::pair(shape_.heads, "heads"), std::pair(shape_.key_heads(), "heads of keys")})
            if (heads % (placed_.layout.rows * ranks_) != 0)
                throw ParallelismError("context",
                                       fmt::format("layer '{}': {} {} cannot be divided among {} ranks", layer_.name,
                                                   heads, what, placed_.layout.rows * ranks_),
                                       "write `exchange: ring`, or a number of ranks that divides the heads");
        const auto turn = [&](double each) { return CoreStep{all_to_all(algorithm, samples() * each), 0}; };
        const CoreStep queries = turn(own_.queries), keys = turn(own_.keys), values = turn(own_.values);
        const CoreStep sums = turn(own_.sums), core{std::nullopt, 1};
        placed_.exchanges.forward_core = {queries, keys, values, core, sums};
        placed_.exchanges.backward_core = {sums, core, queries, keys, values};
    }

private:
    Grouping group() const { return {narrow(ranks_), narrow(placed_.layout.rows)}; }
    /// Number of samples that have as many positions as the rank.
    double samples() const { return placed_.share.samples * placed_.share.area; }

    ActivationExchange shift(double elements) const {
        return {group(),
                {.operation = "shift", .name = ""},
                std::make_shared<const Shift>(),
                {whole_bytes(elements, activation_element(model_))},
                Phase::context};
    }
    ActivationExchange all_to_all(const std::string& algorithm, double elements) const {
        const AlgorithmSpec spec{.operation = "all-to-all", .name = algorithm};
        return {group(),
                spec,
                make_algorithm(spec, narrow(ranks_)),
                {whole_bytes(elements, activation_element(model_))},
                Phase::context};
    }

    const Model& model_;
    const Layer& layer_;
    const Attention& shape_;
    PlacedLayer& placed_;
    const HeadElements own_;  ///< of a sample, for the rank's part of the heads
    const std::int64_t ranks_;
};

}  // namespace

void add_context(const Model& model, const Layer& layer, const Parallelism& parallelism, const std::string& all_to_all,
                 PlacedLayer& placed) {
    const std::int64_t ranks = placed.layout.context, positions = positions_of(layer);
    if (positions == 0)
        throw ParallelismError(
            "context", fmt::format("layer '{}' has no sequence positions that can be divided among ranks", layer.name),
            "context parallelism applies to transformers only");
    if (positions % ranks != 0)
        throw ParallelismError(
            "context",
            fmt::format("layer '{}': {} positions cannot be divided among {} ranks", layer.name, positions, ranks),
            "write a number of ranks that divides the positions");
    const auto* block = std::get_if<ParallelBlock>(&layer.shape);
    const auto* attention = block ? &block->attention : std::get_if<Attention>(&layer.shape);
    if (!attention) return;
    AttentionSteps steps(model, layer, *attention, placed);
    if (parallelism.context_exchange == ContextExchange::ring)
        steps.add_ring();
    else
        steps.add_ulysses(all_to_all);
}

}  // namespace syncline
