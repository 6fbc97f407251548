#pragma once

#include <optional>

#include "sim/training/lowered.hpp"

/// How much of their devices' peak the ranks of a training reach.
///
/// Model FLOP are those that an iteration needs, however it is carried out: 2 for each multiply-accumulate of every
/// layer in the forward pass, and as many again for each gradient of the backward pass, of the weights and of the
/// inputs (the first layer of an image needs none of its inputs, see has_input_gradient), for all samples. Of a
/// transformer, that begins with an embedding, they are three forward passes. With T the time of an iteration, N ranks
/// and F the peak of a device:
///
///     model FLOP utilisation     model FLOP / (N·F·T)
///     hardware FLOP utilisation  executed FLOP / (N·F·T)
///     tokens per second          samples · tokens of a sample / T, of all ranks together
///
/// Executed FLOP are those of the ranks' shares as they compute them: where parts of a layer do not divide among rows,
/// or images among cells, all that have a part take as long as the largest. They equal the model's otherwise, since
/// nothing is recomputed. Sources: A. Chowdhery et al., "PaLM", arXiv 2204.02311, appendix B; V. Korthikanti et al.,
/// "Reducing activation recomputation in large transformer models", MLSys 2023, section 6.3.
///
/// Left out: normalisations, activation functions, softmax, additions, the optimiser; a causal mask halves nothing.
/// PaLM counts 6 FLOP per parameter and token beside the attention, embeddings included; here a table that is looked up
/// multiplies nothing.
namespace syncline {

/// Nothing where the peak of the device, or the model's multiply-accumulates, are not known, or no time passes.
struct Utilisation {
    std::optional<double> model_flops, hardware_flops;  ///< parts of the peak
    std::optional<double> tflops_per_device;            ///< model FLOP / (N·T), in 10¹² per second
    std::optional<double> tokens_per_s;                 ///< nothing of models without an embedding
};

Utilisation utilisation_of(const Lowered& training, double iteration_s);

}  // namespace syncline
