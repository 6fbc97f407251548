#pragma once

#include <optional>
#include <string>

#include "sim/lowering/lowered.hpp"

/// Utilisation of the devices' peak by the ranks of a training.
///
/// Model FLOP are the operations that an iteration requires independently of how it is executed: 2 for each
/// multiply-accumulate of every layer in the forward pass, and as many again for each gradient of the backward pass, of
/// the weights and of the inputs (the first layer of an image model needs no gradient of its inputs, see
/// has_input_gradient), for all samples. For a transformer, which begins with an embedding, this equals three forward
/// passes. With T the iteration time, N the number of ranks and F the peak of a device:
///
///     model FLOP utilisation     model FLOP / (N·F·T)
///     hardware FLOP utilisation  executed FLOP / (N·F·T)
///     tokens per second          samples · tokens per sample / T, of all ranks together, or of each: / N
///
/// Executed FLOP count the shares as the ranks compute them: if the parts of a layer do not divide evenly among rows,
/// or images among cells, all ranks with a part compute as much as the one with the largest. With
/// Plan::recomputation they include the forward passes that are computed again (recomputed_flop). Otherwise they equal
/// the model FLOP. Sources: A. Chowdhery et al., "PaLM", arXiv 2204.02311, appendix B; V.
/// Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023, section 6.3.
///
/// Left out: normalisations, activation functions, softmax, additions, the optimizer; a causal mask halves nothing.
/// PaLM counts 6 FLOP per parameter and token in addition to the attention, including embeddings; here the lookup in an
/// embedding table counts no multiplications.
namespace syncline {

/// Values are empty if the peak of the device or the model's multiply-accumulates are unknown, or if no time passes.
struct Utilisation {
    std::optional<double> model_flops, hardware_flops;  ///< fractions of the peak
    std::optional<double> flop;                         ///< model FLOP of an iteration, of all ranks together
    std::optional<double> tflops_per_device;            ///< model FLOP / (N·T), in 10¹² per second
    /// Empty for models without an embedding.
    std::optional<double> tokens_per_s, tokens_per_s_per_device;
};

Utilisation utilisation_of(const Lowered& training, double iteration_s);

/// Returns a note for a utilisation above the peak, which only a measured throughput, measured times, or an efficiency
/// curve above 1 can cause; otherwise nothing.
std::string above_peak_note(const Utilisation& utilisation, const Device& device);

}  // namespace syncline
