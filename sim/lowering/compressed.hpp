#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/compression.hpp"
#include "sim/workload/model.hpp"

/// Compression of the gradients that ranks exchange: bytes in the exchange, and time of encoding and decoding. A layer
/// has n parameters, with gradients of g bytes each, among N ranks.
///
/// `fp16`: gradients are cast to 2 bytes, exchanged by the same all-reduce, and cast back. 2n bytes. Source: Horovod,
/// Compression.fp16 in horovod/torch/compression.py, which casts each tensor before it is fused.
///
/// `top_k`: k = ⌈ratio·n⌉ values of a layer and their indices of i bytes, k(g + i) bytes from every rank, in an
/// allgather, after which each rank has N·k(g + i) bytes. Source: Y. Lin et al., "Deep gradient compression", ICLR
/// 2018, who pack run lengths of 2 bytes where indices have 4 here; C. Renggli et al., "SparCML", SC 2019, for values
/// that do not overlap.
///
/// `powersgd`: the gradient of a matrix of n×m weights is approximated by P·Qᵀ with r columns each. (n + m)·r·g bytes:
/// an all-reduce of P = M·Q, then one of Q = Mᵀ·P. All else, and a matrix of fewer than (n + m)·r elements, is
/// exchanged whole with P. Source: T. Vogels, S. Karimireddy, M. Jaggi, "PowerSGD: practical low-rank gradient
/// compression for distributed optimization", NeurIPS 2019, algorithm 1. A convolution is a matrix of filters ×
/// (channels·kh·kw), as there; an attention has two, of h × 3h and h × h.
///
/// Time: bytes read and written at the rate of the device's memory, or at `codec_Bps`, and at least a kernel's latency.
/// Encoding reads the gradients and writes what is sent; decoding reads what has arrived and writes the gradients;
/// PowerSGD reads the matrix once more between its exchanges, beside the computation. Encoding follows the layer's
/// backward pass; decoding follows the backward pass, in the order of the buckets, before the update. Ranks keep what
/// top_k and PowerSGD leave out: as much memory as the gradients.
///
/// Left out: the selection of the k values (a sort or a sampled threshold, which may take longer than the pass), the
/// passes over what is kept, the arithmetic of P and Q and their orthogonalisation; any effect on the number of
/// iterations.
namespace syncline {

/// What the exchange of a layer's gradients carries and costs.
struct Compressed {
    std::uint64_t bytes = 0;         ///< from each rank; with powersgd of P, and of what stays whole
    std::uint64_t second_bytes = 0;  ///< powersgd: of Q
    double encode_s = 0, between_s = 0, decode_s = 0;
};

/// The device that encodes and decodes.
struct Codec {
    double memory_Bps = 0;
    double kernel_latency_s = 0;
};

/// Returns it for one layer of a model, of whose parameters each of `ranks` ranks has this part. PowerSGD takes whole
/// matrices apart: part 1.
Compressed compress(const Compression& compression, const Model& model, const Layer& layer, std::uint32_t ranks,
                    const Codec& codec, double part = 1);

/// A matrix of weights.
struct Matrix {
    std::int64_t rows = 0, columns = 0;
};

/// Returns the matrices among a layer's parameters; none if only their number is known.
std::vector<Matrix> matrices_of(const Layer& layer);

}  // namespace syncline
