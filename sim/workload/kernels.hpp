#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/model.hpp"
#include "sim/workload/share.hpp"

/// What a device runs for a pass over a layer: kernels one after the other, each with its floating-point operations and
/// the elements that it reads and writes.
///
/// `im2col` (A. Castelló et al., EuroMPI 2019, as the same group's PyDTNN counts it): a convolution of b samples copies
/// its input into a matrix and multiplies it. With ci channels, co filters, kh×kw kernels, ho×wo outputs, and
/// k = ci·kh·kw, n = b·ho·wo:
///
///     forward           im2col(k, n), GEMM(co, n, k)
///     weight gradient   GEMM(co, k, n), on the matrix that the forward pass has made
///     input gradient    GEMM(k, n, co), col2im(k, n)
///
/// GEMM(m, n, k) has 2mnk FLOP and moves mn + mk + kn elements; im2col(m, n) moves mn elements; col2im(m, n) has mn
/// FLOP and moves mn elements. With g groups there are g GEMMs of co/g filters and ci/g channels. A dense layer is
/// GEMM(b, out, in), GEMM(in, out, b) and GEMM(b, in, out), b counting positions too. Biases and batch normalisation
/// are left out. Layer normalisation before a dense layer, or behind an embedding, is a kernel of its own.
///
/// `implicit`: nothing is copied: each pass of a convolution or a dense layer is one kernel of 2·macs·b FLOP that moves
/// inputs, parameters and outputs once.
///
/// The rest is the same in both. Attention of s positions, width h, a heads: normalisation, GEMM(bs, 3h, h), for each
/// head and sample GEMM(s, s, h/a) (scores), softmax, GEMM(s, h/a, s) (weighted sum), then GEMM(bs, h, h) and the
/// residual addition; feed-forward with f hidden units: normalisation, GEMM(bs, f, h), GELU, GEMM(bs, h, f), residual
/// addition. Backward each GEMM has two of its size, one for each of its factors. Normalisation, softmax, GELU and
/// additions count what they move alone: one read per operand, one write. An embedding moves the rows that its tokens
/// take; its gradient is a whole table, first cleared. A custom layer is as an implicit one.
///
/// Of a Share, `part` divides filters, outputs, heads, hidden units, rows of the vocabulary; normalisations and
/// residual additions are done whole. Left out: kernels that are fused into others (flash attention among them),
/// dropout, masks, Winograd and FFT convolutions, what a device's caches keep.
namespace syncline {

enum class Pass { forward, weight_gradient, input_gradient };

enum class Lowering { implicit, im2col };

struct Kernel {
    std::string name;        ///< for people
    double flops = 0;        ///< of each
    double elements = 0;     ///< read and written by each
    std::int64_t count = 1;  ///< so many, one after the other
    /// The smallest of m, n and k where it multiplies matrices, of one of them where it multiplies many; else 0.
    double narrowest = 0;
};

/// Of the part of `layer` that is `share`. Empty: nothing is to be done.
std::vector<Kernel> kernels(const Layer& layer, Pass pass, const Share& share, Lowering lowering);

/// Whether a layer's backward pass computes gradients of its inputs. The first layer's are of no use, but attention and
/// feed-forward need most of the way there for the gradients of their own weights: they do all of it. Embeddings have
/// none.
bool has_input_gradient(const Model& model, std::size_t layer);

}  // namespace syncline
