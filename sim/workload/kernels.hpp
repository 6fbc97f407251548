#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/model.hpp"
#include "sim/workload/share.hpp"

/// Work of a device for a pass over a layer: kernels that run one after the other, each with its floating-point
/// operations and the elements that it reads and writes.
///
/// `im2col` (A. Castelló et al., EuroMPI 2019, counted as in PyDTNN of the same group): a convolution of b samples
/// copies its input into a matrix and multiplies it. With ci channels, co filters, kh×kw kernels, ho×wo outputs, and k
/// = ci·kh·kw, n = b·ho·wo:
///
///     forward           im2col(k, n), GEMM(co, n, k)
///     weight gradient   GEMM(co, k, n), on the matrix that the forward pass has made
///     input gradient    GEMM(k, n, co), col2im(k, n)
///
/// GEMM(m, n, k) has 2mnk FLOP and moves mn + mk + kn elements; im2col(m, n) moves mn elements; col2im(m, n) has mn
/// FLOP and moves mn elements. With g groups there are g GEMMs of co/g filters and ci/g channels. A dense layer is
/// GEMM(b, out, in), GEMM(in, out, b) and GEMM(b, in, out), where b counts positions too. Biases and batch
/// normalisation are left out. Layer normalisation before a dense layer, or after an embedding, is a separate kernel.
///
/// `implicit`: no copies: each pass of a convolution or a dense layer is one kernel of 2·macs·b FLOP that moves inputs,
/// parameters and outputs once.
///
/// Other layers are the same in both. Attention of s positions, width h, a heads: normalisation, GEMM(bs, 3h, h), for
/// each head and sample GEMM(s, s, h/a) (scores), softmax, GEMM(s, h/a, s) (weighted sum), then GEMM(bs, h, h) and the
/// residual addition; feed-forward with f hidden units: normalisation, GEMM(bs, f, h), GELU, GEMM(bs, h, f), residual
/// addition. In the backward pass each GEMM becomes two of its size, one for each of its factors. Normalisation,
/// softmax, GELU and additions count data movement only: one read per operand, one write. An embedding moves the rows
/// of its tokens; its gradient is a whole table, cleared first. A custom layer is treated as in `implicit`.
///
/// `part` of a Share divides filters, outputs, heads, hidden units, rows of the vocabulary; normalisations and residual
/// additions are done whole. Left out: kernels that are fused into others (including flash attention), dropout, masks,
/// Winograd and FFT convolutions, the effect of a device's caches.
namespace syncline {

enum class Pass { forward, weight_gradient, input_gradient };

enum class Lowering { implicit, im2col };

struct Kernel {
    std::string name;        ///< for display
    double flops = 0;        ///< of each
    double elements = 0;     ///< read and written by each
    std::int64_t count = 1;  ///< number of such kernels, run one after the other
    /// The smallest of m, n and k of a matrix product, or of one product of a batch; 0 for other kernels.
    double narrowest = 0;
    /// Part of attention's core: scores, softmax and weighted sum, for which queries, keys and values suffice.
    bool core = false;
};

/// Returns the kernels for the part `share` of `layer`. Empty if there is no work.
std::vector<Kernel> kernels(const Layer& layer, Pass pass, const Share& share, Lowering lowering);

/// Returns true if a layer's backward pass computes gradients of its inputs. Nothing uses those of the first layer, but
/// attention and feed-forward need most of the computation for the gradients of their own weights, so they do all of
/// it. Embeddings have none.
bool has_input_gradient(const Model& model, std::size_t layer);

}  // namespace syncline
