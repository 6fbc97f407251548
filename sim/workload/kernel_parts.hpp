#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/kernels.hpp"
#include "sim/workload/real.hpp"

/// Kernels of which layers' passes consist.
namespace syncline {

/// Returns a kernel of `batch` matrix products of the same size.
inline Kernel gemm(std::string name, double m, double n, double k, double batch = 1) {
    return {std::move(name), 2 * m * n * k * batch, (m * n + m * k + k * n) * batch, 1, MatrixProduct{m, n, k, batch}};
}

/// Returns a kernel whose arithmetic is negligible compared with the data it moves.
inline Kernel moving(std::string name, double elements) {
    return {std::move(name), 0, elements};
}

/// Returns the normalisation of this many vectors of this width.
inline Kernel normalisation(Norm norm, double vectors, double width) {
    return moving("normalisation", 2 * vectors * width + (norm == Norm::rms ? 1 : 2) * width);
}

/// Reads the normalised values and their gradient and writes the gradient of the input; scale and shift have gradients
/// too.
inline Kernel normalisation_gradient(Norm norm, double vectors, double width) {
    return moving("normalisation", 3 * vectors * width + (norm == Norm::rms ? 2 : 4) * width);
}

/// Returns the activation function on this many hidden units: GELU reads and writes each; a gated one reads both
/// factors.
inline Kernel activation(bool gated, double units) {
    return gated ? moving("gated activation", 3 * units) : moving("GELU", 2 * units);
}

/// Reads the gradient and the inputs and writes the inputs' gradients.
inline Kernel activation_gradient(bool gated, double units) {
    return gated ? moving("gated activation", 5 * units) : moving("GELU", 3 * units);
}

/// Adds kernels at the end.
inline void append(std::vector<Kernel>& kernels, std::vector<Kernel> more) {
    std::move(more.begin(), more.end(), std::back_inserter(kernels));
}

/// Marks kernels as part of the layer's core.
inline std::vector<Kernel> core(std::vector<Kernel> kernels) {
    for (Kernel& kernel : kernels) kernel.core = true;
    return kernels;
}

/// Return the kernels of layers that are lowered in only one way.
std::vector<Kernel> kernels_of(const Attention& attention, Pass pass, const Share& share);
std::vector<Kernel> kernels_of(const FeedForward& forward, Pass pass, const Share& share);
std::vector<Kernel> kernels_of(const ParallelBlock& block, Pass pass, const Share& share);
std::vector<Kernel> kernels_of(const Experts& experts, Pass pass, const Share& share);

}  // namespace syncline
