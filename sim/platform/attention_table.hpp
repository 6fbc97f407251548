#pragma once

#include <array>
#include <map>
#include <vector>

/// Rates of a kernel of fused attention by the shape of its work, from published measurements: of one software, for the
/// forward and the backward pass, each size of a head, with and without a causal mask, by sequence (T. Dao,
/// "FlashAttention-2", ICLR 2024, figures 4 to 7; J. Shah et al., "FlashAttention-3", NeurIPS 2024, figures 5 and 6). A
/// rate counts FLOP as these sources do: two products forward and five backward, and half of the scores with a causal
/// mask.
///
/// Between measured points the logarithm of the rate is linear in the logarithms of the sequence and of the head's
/// size; outside of them it is that of the nearest one. A pass measured with only one of the masks has the same rate
/// with the other. Left out: the number of sequences and heads, which must fill the device (the sources have 16 Ki
/// tokens and 2048 elements in all heads together), dropout.
namespace syncline {

/// The shape of a kernel of fused attention, on which its rate depends.
struct AttentionWork {
    bool backward = false;
    bool causal = false;
    double head_size = 0;
    double sequence = 0;  ///< tokens that a token looks at, without the mask
};

class AttentionTable {
public:
    struct Row {
        AttentionWork work;
        double flops_per_s = 0;
    };

    /// Throws std::invalid_argument if a pass has no row.
    explicit AttentionTable(const std::vector<Row>& rows);

    /// Returns the FLOP per second of this work.
    double rate(const AttentionWork& work) const;

private:
    using Curve = std::map<double, double>;     // logarithm of the rate, by that of the sequence
    using Curves = std::map<double, Curve>;     // by the logarithm of the head's size
    std::array<std::array<Curves, 2>, 2> all_;  // by the pass, by the mask
};

}  // namespace syncline
