#pragma once

#include <optional>
#include <string>

#include "sim/lowering/lowered.hpp"

/// Utilisation of the devices' peak by the ranks of a training.
///
/// Model FLOP: 2 for each multiply-accumulate of every layer and sample in the forward pass, and as many for each
/// gradient, of weights and of inputs (see has_input_gradient). With T the iteration time, N the number of ranks and F
/// the peak of a device:
///
///     model FLOP utilisation     model FLOP / (N·F·T)
///     hardware FLOP utilisation  executed FLOP / (N·F·T)
///     tokens per second          samples · tokens per sample / T, of all ranks together, or of each: / N
///
/// Model FLOP count all scores of attention ("full attention"), also those that a causal mask hides, as PaLM,
/// Megatron-LM, Llama 3 and most published figures do. Thus with long sequences and a kernel that skips hidden scores,
/// model FLOP utilisation can exceed hardware FLOP utilisation, and even 1.
///
/// Executed FLOP are those of the kernels (kernels.hpp), with Lowering::implicit: of the shares as ranks compute them,
/// all as large as the largest but for the load of experts; of forward passes that are computed again
/// (recomputed_flop); of flash attention without the scores that a causal mask hides, and with those that its backward
/// pass computes again. Sources: A. Chowdhery et al., "PaLM", arXiv 2204.02311, appendix B; V. Korthikanti et al.,
/// "Reducing activation recomputation in large transformer models", MLSys 2023, section 6.3.
///
/// Left out: normalisations, activation functions, softmax, additions, the optimizer. PaLM counts 6 FLOP per parameter
/// and token besides attention, including embeddings; here a lookup counts no multiplications.
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
