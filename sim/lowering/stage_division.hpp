#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/parallelism.hpp"

/// Division of a model's layers among the virtual stages of a pipeline, where a plan names none.
///
/// With one virtual stage on each stage the slowest one is as fast as possible: balance(). Where a stage has several,
/// what counts is the sum of them, and that they keep pace with one another. Three divisions are compared by the time
/// of their passes, with free transfers and at most four times as many microbatches as stages, and the first of the
/// fastest is taken (to 1e-9): the balanced one; the even one, which divides all layers but the first and the last
/// (embedding and head) evenly, as Megatron-LM does; and that with the boundaries where the costs before them are
/// nearest to equal shares.
///
/// Left out: transfers, memory, and divisions between these, some of which moved() finds.
namespace syncline {

/// Time of a microbatch on a layer, or on several.
struct PassTimes {
    double forward_s = 0, inputs_s = 0, weights_s = 0;  ///< forward pass, gradients of inputs, gradients of weights

    double all() const { return forward_s + inputs_s + weights_s; }
    PassTimes& operator+=(const PassTimes& other);
};

/// Returns the number of layers of each virtual stage. Throws std::logic_error like balance(), and like slots() of
/// pipeline.hpp if stages have several.
std::vector<std::int64_t> divide(const Pipeline& pipeline, const std::vector<PassTimes>& layers);

/// Returns the division after moves of one layer from the slowest stage to another one: the layers between shift, too.
/// Each time the move is made after which the passes, timed as divide() does, end first, while it makes them shorter.
/// Throws like divide().
std::vector<std::int64_t> moved(const Pipeline& pipeline, const std::vector<PassTimes>& layers,
                                std::vector<std::int64_t> lengths);

/// Returns the time until all microbatches have passed the virtual stages, in both directions, if transfers are free.
/// Throws like slots().
double passes_s(const Pipeline& pipeline, const std::vector<PassTimes>& virtual_stages);

/// Cuts a sequence of layers into `parts` non-empty parts with the smallest largest sum of `costs`, and returns the
/// number of layers of each: of equally good cuts (to 1e-9) the one whose first parts are shortest. Dynamic programming
/// in O(parts · layers · log layers). Throws std::logic_error if there are fewer layers than parts, no parts, or costs
/// that are negative or whose sum is not finite.
std::vector<std::int64_t> balance(const std::vector<double>& costs, std::uint32_t parts);

}  // namespace syncline
