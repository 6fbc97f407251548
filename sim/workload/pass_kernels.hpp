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
inline Kernel moving(std::string name, double elements, double bytes = 0, Pointwise kind = Pointwise::other) {
    Kernel kernel{std::move(name), 0, elements};
    kernel.bytes = bytes;
    kernel.kind = kind;
    return kernel;
}
inline Kernel moving(std::string name, double elements, Pointwise kind) {
    return moving(std::move(name), elements, 0, kind);
}

/// Returns the normalisation of this many vectors of this width.
inline Kernel normalisation(Norm norm, double vectors, double width) {
    return moving("normalisation", 2 * vectors * width + (norm == Norm::rms ? 1 : 2) * width, Pointwise::normalisation);
}

/// Reads the inputs and the gradients and writes the gradients of the inputs; another kernel reads both once more for
/// the gradients of scale and shift.
inline Kernel normalisation_gradient(Norm norm, double vectors, double width) {
    return moving("normalisation", 5 * vectors * width + (norm == Norm::rms ? 2 : 4) * width,
                  Pointwise::normalisation_gradient);
}

/// Returns the activation function on this many hidden units: GELU reads and writes each; a gated one reads both
/// factors.
inline Kernel activation(bool gated, double units) {
    return moving(gated ? "gated activation" : "GELU", (gated ? 3 : 2) * units, Pointwise::activation);
}

/// Reads the gradient and the inputs and writes the inputs' gradients.
inline Kernel activation_gradient(bool gated, double units) {
    return moving(gated ? "gated activation" : "GELU", (gated ? 5 : 3) * units, Pointwise::activation_gradient);
}

/// Return dropout, and its backward pass, as a kernel of its own: it reads and writes values, and a byte of the mask
/// for each.
inline Kernel dropout(double values) {
    return moving("dropout", 2 * values, values, Pointwise::dropout);
}
inline Kernel dropout_gradient(double values) {
    return moving("dropout", 2 * values, values, Pointwise::dropout_gradient);
}

/// Returns a sum of this many terms for each of the values.
inline Kernel addition(std::string name, double terms, double values) {
    return moving(std::move(name), (terms + 1) * values, Pointwise::addition);
}

/// Returns the loss of these logits, in 4 bytes: they are copied from the model's elements, and the logarithm of the
/// softmax reads and writes them.
inline std::vector<Kernel> loss(double logits) {
    return {moving("logits", logits, 4 * logits, Pointwise::copy),
            moving("softmax of the loss", 0, 8 * logits, Pointwise::loss)};
}

/// Returns the loss's backward pass: gradients are written where a label is and cleared elsewhere; the softmax's
/// backward pass reads them and the results and writes gradients; these are copied to the model's elements.
inline std::vector<Kernel> loss_gradient(double logits) {
    return {moving("softmax of the loss", 0, 16 * logits, Pointwise::loss_gradient),
            moving("logits", logits, 4 * logits, Pointwise::copy)};
}

/// Marks a product as one with weights inside a transformer's layer.
inline Kernel linear(Kernel kernel) {
    kernel.linear = true;
    return kernel;
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
std::vector<Kernel> kernels_of(const Attention& attention, Pass pass, const Share& share, const Operations& operations);
std::vector<Kernel> kernels_of(const FeedForward& forward, Pass pass, const Share& share, const Operations& operations);
std::vector<Kernel> kernels_of(const ParallelBlock& block, Pass pass, const Share& share, const Operations& operations);
/// `launched`: as Lowering::launched.
std::vector<Kernel> kernels_of(const Experts& experts, Pass pass, const Share& share, bool launched);

}  // namespace syncline
