#pragma once

#include "sim/lowering/arrangement.hpp"

namespace syncline {

inline std::uint32_t narrow(std::int64_t number) {
    return static_cast<std::uint32_t>(number);
}

/// Returns the quotient, rounded up.
inline std::int64_t up(std::int64_t number, std::int64_t parts) {
    return (number + parts - 1) / parts;
}

/// Returns the size of `elements` elements in whole bytes. Throws ParallelismError if it is too large to be counted.
std::uint64_t whole_bytes(double elements, double element_bytes);

/// Plans the exchanges of layers, and between layers with different layouts: see arrange(). A layer with the previous
/// one's layout finds its inputs where it needs them (with sequence parallelism, in parts that it gathers).
class ExchangePlanner {
public:
    ExchangePlanner(const Model& model, const Plan& plan, std::vector<PlacedLayer>& layers)
        : model_(model), plan_(plan), parallelism_(plan.parallelism), layers_(layers) {}

    /// Throws ParallelismError.
    void add(std::uint32_t layer, const ActivationAlgorithms& algorithms);
    /// Returns the passage to this layer from the one before it, which is on another stage. Throws ParallelismError.
    Boundary boundary(std::uint32_t layer, const ActivationAlgorithms& algorithms);

private:
    /// Returns true if rows, which have different positions, gather those of the layer's inputs. Experts that are not
    /// shared get theirs otherwise (expert_parallelism.hpp).
    bool gathers_positions(std::uint32_t layer) const;
    /// Returns true if the layer's inputs, once gathered, are there in its backward pass: see Saved.
    bool keeps_gathered(const Layer& layer) const;
    void add_rows(std::uint32_t layer);
    void add_sequence(std::uint32_t layer);
    void add_halos(std::uint32_t layer);
    /// Adds the transition from the previous layer's layout. Returns true if it also sums the gradients of the inputs.
    bool add_transition(std::uint32_t layer);

    ActivationExchange make(const Grouping& groups, const std::string& operation, double elements,
                            std::uint32_t contributors = 0);
    ActivationExchange sum_over_rows(std::uint32_t layer, double elements);

    const Model& model_;
    const Plan& plan_;
    const Parallelism& parallelism_;
    std::vector<PlacedLayer>& layers_;
    const ActivationAlgorithms* algorithms_ = nullptr;
};

}  // namespace syncline
