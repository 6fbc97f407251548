#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/attention_table.hpp"
#include "sim/platform/convolution_table.hpp"
#include "sim/platform/grouped_products.hpp"
#include "sim/platform/image_kernels.hpp"
#include "sim/platform/matrix_product.hpp"
#include "sim/platform/pointwise_table.hpp"
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
/// GEMM(b, out, in), GEMM(in, out, b) and GEMM(b, in, out), where b counts positions too. Left out: biases and batch
/// normalisation. Layer normalisation before a dense layer, or after an embedding, is a separate kernel.
///
/// `implicit`: each pass of a convolution or a dense layer is one kernel of 2·macs·b FLOP that moves inputs, parameters
/// and outputs once.
///
/// `launched`: what an eager framework launches (PyTorch, aten/src/ATen/native: Convolution.cpp, Normalization.cpp,
/// Activation.cpp, DilatedMaxPool2d.cpp; torch/amp/autocast_mode.py). Each pass of a convolution is one kernel
/// (ConvolutionWork). With y outputs, x inputs and p weights, elements that are read and written:
///
///     forward           cast p; pooling of the inputs; convolution; bias 2y; batch normalisation 3y (statistics,
///                       result); residual addition 3y; ReLU 2y; copy into a concatenation 2y
///     weight gradient   ReLU 3y; batch normalisation 5y (sums of two products, result); bias y; convolution; cast p
///     input gradient    convolution; pooling of the inputs; addition of the input's other gradients 3x
///
/// Pooling of x to x/s² elements reads x and writes x/s²; its gradient writes x and reads x/s²; a maximum has an index
/// of 8 bytes for each result. A cast exists where weights are larger than activations. The weight gradient has what
/// both gradients need. A convolution of single channels (depthwise) moves x + y + p and has no product. Dense layers
/// and patch embeddings are those of `implicit`, and their casts. Left out: dropout, pooling and activations between
/// dense layers, the loss of an image network, means of single channels before them, running statistics, maxima beside
/// a module's convolutions.
///
/// Other layers are the same in all. A transformer's halves are their matrices (weight_matrices), with normalisation
/// before and the residual addition after them. Attention of s positions, width h, a heads: GEMM(bs, 3h, h), the
/// scores, GEMM(bs, h, h); feed-forward with f hidden units: GEMM(bs, f, h), GELU, GEMM(bs, h, f); backward each GEMM
/// becomes two of its size. Normalisation, softmax, GELU, rotation and additions count data movement only: one read per
/// operand, one write; a gated activation reads two operands. The gradients of a normalisation's scale and shift, and
/// of biases, read their operands once more (PyTorch's layer_norm_backward and linear; NVIDIA apex). Dropout moves a
/// mask of one byte per value; after the softmax it is a kernel of its own, before a residual addition only in the
/// backward pass (Megatron-LM's fused bias, dropout and addition). The loss after a dense layer whose outputs stay
/// split works on logits of 4 bytes (PyTorch's cross_entropy after a conversion).
///
/// Scores::stored: GEMM(s, s, h/a) for each head and sample, softmax, GEMM(s, h/a, s); each head reads its own copy of
/// shared keys and values. Scores::flash: one kernel, `attention`, with the FLOP of both products, 4·b·s²·h, that moves
/// queries, keys, values and outputs; backward 10·b·s²·h FLOP in place of 8 (T. Dao, "FlashAttention-2", ICLR 2024,
/// section 3.1), and the same moves and their gradients. Windows and other sequences shorten one s. A causal mask
/// (Attention::causal) leaves 1 - (w-1)/(2s) of the FLOP, with a window of w, or (s+1)/(2s) without (section 3.1.1;
/// blocks on the diagonal, which are computed whole, are left out). A model's FLOP count all scores.
///
/// Elementwise::separate: a rotation of x, x·cos + (-x₂, x₁)·sin, is a negation of half the elements, a concatenation,
/// two products and a sum, which move 10 elements for each of x in place of 2, and 10 backward. A gated activation is
/// two kernels: the activation, 2 elements per hidden unit, and the product, 3; backward both factors' gradients, 3
/// each, and the activation's, 3. With one product for both factors (FeedForward::merged_gate) autograd joins the
/// gradients of its views: each is filled up with zeros (5) and both are added (6 per unit); with two products the
/// gradients of their inputs are added. The gradients of queries, keys and values are concatenated. Dropout before a
/// residual addition is a kernel of its own. (PyTorch: torch/csrc/autograd/FunctionsManual.cpp, split_backward and
/// slice_backward; aten/src/ATen/native/transformers/attention.cpp.)
///
/// Operations::autocast (aten/src/ATen/autocast_mode.h): see autocast.hpp.
///
/// Experts: normalisation, router GEMM(bs, E, h), the choice (as a softmax of E), dispatch (a copy of each token for
/// each of its K experts), a batch of E GEMMs per matrix with bsK/E rows each, the sum of a token's K results, residual
/// addition; shared experts are one more feed-forward network. A `capacity` multiplies K. If a rank has several
/// experts, a copy sorts what arrives by expert, and another one puts the results back, in both passes, on the K tokens
/// that the rank computes (Megatron-Core's MoEAlltoAllTokenDispatcher,
/// megatron/core/transformer/moe/token_dispatcher.py: "Permutation 2" and "Unpermutation 2", for num_local_experts >
/// 1). Dispatch, sum and their gradients are one kernel each, which moves everything once (Transformer Engine's
/// permutations). Without Experts::fused_permutation they are PyTorch's operations (Megatron-Core's default,
/// megatron/core/transformer/moe/moe_utils.py, permute and unpermute): the K results are multiplied by their router
/// weights, then added to a cleared sum (scatter_add); backward they are gathered, multiplied by the weights, and by
/// the results for the weights' gradients, which are summed, and the gradients of the K copies are added to a cleared
/// sum (index_add): almost 12 times the K tokens more. Additions are counted as moved, although a cache may hold the
/// sums; the weights themselves are not.
///
/// Lowering::launched: the choice is what Megatron-Core launches without --moe-router-fusion
/// (megatron/core/transformer/moe/router.py, moe_utils.py, token_dispatcher.py). The chosen scores, their mask and the
/// auxiliary loss are 33 kernels forward and 14 backward, each counted as one that reads and writes the scores (PyTorch
/// 2.11 on an H100, by its profiler; 126 us forward with 64 experts and 4096 tokens, measured by the project); the
/// counts of tokens, or what cuts and pads to a capacity, another 11 (counted from the code). The experts' products are
/// Kernel::grouped. The host waits for the counts before it issues the exchange (MoEAlltoAllTokenDispatcher,
/// cuda_sync_point), unless a capacity fixes them: Kernel::waits.
///
/// An embedding moves the rows of its tokens; its gradient is a whole table, cleared first, and that of an embedding
/// bag the rows that were used. A patch embedding is a convolution without overlap, in all lowerings one kernel. A
/// custom layer is treated as in `implicit`.
///
/// `part` of a Share divides filters, outputs, heads, hidden units, rows of tables; normalisations, residual additions,
/// latent vectors and routing are done whole. `area` of a sequence is computed like that part of the samples. Left out:
/// other kernels that are fused, masks of stored scores, copies that only change the layout, Winograd and FFT
/// convolutions, the effect of a device's caches, experts that have no token.
namespace syncline {

enum class Pass { forward, weight_gradient, input_gradient };
constexpr const char* name_of(Pass pass) {
    constexpr const char* names[] = {"forward", "weight gradient", "input gradient"};  // by Pass
    return names[static_cast<std::size_t>(pass)];
}

enum class Lowering { implicit, im2col, launched };

/// Element-wise operations between products: joined into few kernels, as Megatron-Core, Transformer Engine and
/// compiled PyTorch do; or each a kernel of its own, as eager PyTorch issues them.
enum class Elementwise { fused, separate };

/// How a framework runs a layer's operations beside its products.
struct Operations {
    Elementwise elementwise = Elementwise::fused;
    bool autocast = false;  ///< Precision::autocast
    bool separate() const { return elementwise == Elementwise::separate; }
};

/// Products of a transformer's half at its edges, where rows that divide the positions exchange them: those that read
/// its inputs, or their gradients from those of its outputs, and those whose sum over the rows is its outputs.
enum class Edge { none, inputs, outputs };

struct Kernel {
    std::string name;        ///< for display
    double flops = 0;        ///< of each
    double elements = 0;     ///< read and written by each, of the model's element size
    std::int64_t count = 1;  ///< number of such kernels, run one after the other
    std::optional<MatrixProduct> product = std::nullopt;
    /// Attention fused into one kernel, whose scores stay on the chip; it is no matrix product.
    std::optional<AttentionWork> attention = std::nullopt;
    /// Part of the layer's core, which works on data of other ranks where these divide the layer: attention's scores
    /// and weighted sums, which need the keys and values of all positions; experts, with the tokens of all ranks.
    bool core = false;
    /// A product with weights inside a transformer's layer, which may have 8-bit factors.
    bool linear = false;
    double bytes = 0;  ///< read and written by each besides its elements: masks, and values in 4 bytes
    Edge edge = Edge::none;
    Pointwise kind = Pointwise::other;  ///< if it is no product and no attention
    std::optional<ConvolutionWork> convolution = std::nullopt;
    std::optional<ImageWork> image = std::nullopt;      ///< of a kernel that moves data: on what its rate depends
    bool weights = false;                               ///< a product whose result is a gradient of weights
    std::optional<GroupedPass> grouped = std::nullopt;  ///< of products of several experts
    bool waits = false;                                 ///< before what follows it the host waits for its results
    bool cast = false;  ///< of its elements between the size of weights and that of activations

    double moved(double element_bytes) const { return elements * element_bytes + bytes; }
};

/// Returns the kernels for the part `share` of `layer`. Empty if there is no work.
std::vector<Kernel> kernels(const Layer& layer, Pass pass, const Share& share, Lowering lowering,
                            Operations operations = {});

/// Returns the FLOP of all kernels.
double flop_of(const std::vector<Kernel>& kernels);

/// Returns true if a layer's backward pass computes gradients of its inputs. Nothing uses those of the first layer, but
/// attention and feed-forward need most of the computation for the gradients of their own weights, so they do all of
/// it. Embeddings have none.
bool has_input_gradient(const Model& model, std::size_t layer);

}  // namespace syncline
