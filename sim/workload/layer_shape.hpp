#pragma once

#include <cstdint>
#include <variant>

/// Shapes of layers, from which their counts follow (model.hpp, transformer.hpp, experts.hpp).
namespace syncline {

/// A normalisation of vectors: LayerNorm has a scale and a shift for each element, RMSNorm only a scale (B. Zhang, R.
/// Sennrich, "Root mean square layer normalization", NeurIPS 2019).
enum class Norm { none, layer, rms };

/// Returns the parameters of a normalisation of vectors of this width.
constexpr std::int64_t norm_parameters(Norm norm, std::int64_t width) {
    return norm == Norm::none ? 0 : norm == Norm::layer ? 2 * width : width;
}

/// Pooling: the maximum or the mean of each window.
struct Pooling {
    enum class Kind { none, maximum, average } kind = Kind::none;
    std::int64_t window = 2;
    std::int64_t stride = 0;  ///< 0: the window

    std::int64_t step() const { return stride > 0 ? stride : window; }
};

/// A convolution: `filters` kernels of `kernel[0]`×`kernel[1]` over `channels`/`groups` channels each.
struct Convolution {
    std::int64_t channels = 0, height = 0, width = 0;
    std::int64_t filters = 0;
    std::int64_t kernel[2] = {1, 1};
    std::int64_t stride[2] = {1, 1};
    std::int64_t padding[2] = {0, 0};
    std::int64_t groups = 1;
    bool bias = false;
    bool batch_norm = false;  ///< adds a scale and a shift per filter to the parameters
    // What follows has no parameters. It changes neither counts nor memory, but time where kernels are counted one by
    // one (Lowering::launched).
    bool activation = true;     ///< ReLU, or another function as cheap, after it
    bool residual = false;      ///< the outputs of an earlier layer are added to its own
    bool joined = false;        ///< its outputs are copied beside those of other layers (concatenation)
    bool shared_input = false;  ///< something else reads its inputs, too: gradients are added
    Pooling pooling = {};       ///< of its inputs, before it
};

/// A fully connected layer, applied to each of a sample's `positions` (tokens; 1 for an image).
struct Dense {
    std::int64_t inputs = 0, outputs = 0;
    std::int64_t positions = 1;
    bool bias = false;
    /// True if ranks that hold a part of the outputs need all of them afterwards. False for the last layer of a
    /// transformer, whose loss is computed on split outputs (vocabulary-parallel cross entropy, Megatron-LM).
    bool gathered = true;
    bool tied = false;       ///< it uses another layer's weights, which are neither counted nor exchanged here
    Norm norm = Norm::none;  ///< of its inputs, first
};

/// Attention's scores: written to memory (`stored`), or kept on the chip and computed once more in the backward pass
/// (`flash`: T. Dao et al., "FlashAttention", NeurIPS 2022; T. Dao, "FlashAttention-2", ICLR 2024).
enum class Scores { flash, stored };

/// The attention half of a transformer's layer: normalisation, queries, keys and values, scores, softmax, weighted sum,
/// projection, and the residual addition.
struct Attention {
    std::int64_t positions = 0, width = 0, heads = 1;
    /// Heads of keys and values, which groups of heads share (J. Ainslie et al., "GQA", EMNLP 2023; 1: N. Shazeer,
    /// "Fast transformer decoding", 2019). 0: each head has its own.
    std::int64_t kv_heads = 0;
    std::int64_t head_size = 0;  ///< 0: width/heads
    std::int64_t window = 0;     ///< number of tokens that each token looks at; 0: all
    /// Number of tokens of another sequence that have the keys and values (cross-attention); 0: the same sequence.
    std::int64_t context = 0;
    /// Multi-head latent attention (DeepSeek-AI, "DeepSeek-V2", 2024): queries come from a vector of `query_rank`
    /// elements, keys and values from one of `kv_rank`, both normalised; queries, and a key that all heads share, have
    /// `rotary_size` more elements per head. 0: no such vectors.
    std::int64_t query_rank = 0, kv_rank = 0, rotary_size = 0;
    bool rotary = false;  ///< queries and keys are rotated by their positions (J. Su et al., "RoFormer", 2021)
    bool bias = true;
    Norm norm = Norm::layer;
    bool dropout = true;  ///< after the softmax and after the projection: their masks are kept
    Scores scores = Scores::flash;
    /// Tokens look only at those before them and at themselves. Stored scores are computed whole all the same.
    bool causal = false;

    std::int64_t size() const { return head_size > 0 ? head_size : width / heads; }
    std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
    /// Returns the number of tokens that have keys and values.
    std::int64_t sources() const { return context > 0 ? context : positions; }
    /// Returns the number of scores of a token and a head.
    std::int64_t seen() const { return window > 0 && window < sources() ? window : sources(); }
};

/// The other half: normalisation, two fully connected layers with GELU between them, the residual addition. `gated`: a
/// third layer, parallel to the first, whose outputs multiply the activation's (N. Shazeer, "GLU variants improve
/// transformer", 2020: SwiGLU, GEGLU).
struct FeedForward {
    std::int64_t positions = 0, width = 0, hidden = 0;
    bool gated = false;
    bool bias = true;
    Norm norm = Norm::layer;
    bool dropout = true;
    /// One product computes both factors of a gated layer, also in an eager framework (`gate_up_proj` of Phi-3).
    bool merged_gate = false;
};

/// Both halves on the same input, whose results are added to it together (B. Wang, A. Komatsuzaki, "GPT-J-6B", 2021). A
/// feed-forward half without a normalisation uses that of the attention.
struct ParallelBlock {
    Attention attention;
    FeedForward forward;
};

/// A feed-forward half with many `experts`, of which a router chooses `top_k` for each token (N. Shazeer et al.,
/// "Outrageously large neural networks", ICLR 2017; W. Fedus et al., "Switch transformers", JMLR 2022).
struct Experts {
    std::int64_t positions = 0, width = 0, hidden = 0;
    std::int64_t experts = 1, top_k = 1;
    /// Experts that every token uses, and the hidden units of each (D. Dai et al., "DeepSeekMoE", 2024).
    std::int64_t shared = 0, shared_hidden = 0;
    bool gated = false;
    bool bias = false;
    Norm norm = Norm::layer;
    /// Rows of an expert's buffers, in tokens that it would have if all experts had the same number: tokens above it
    /// are dropped, and free rows are padded, computed and sent. 0: each expert has as many rows as tokens.
    double capacity = 0;
    bool fused_permutation = true;  ///< of tokens: see kernels.hpp

    /// Returns the number of experts' rows per token.
    double copies() const { return static_cast<double>(top_k) * (capacity > 0 ? capacity : 1); }
};

/// A table from which each of `positions` tokens takes a row; learned positions add one row for the position, and
/// several segments (the two sentences of BERT) add one for the segment.
struct Embedding {
    std::int64_t vocabulary = 0, positions = 0, width = 0;
    bool learned_positions = true;
    std::int64_t segments = 0;
    Norm norm = Norm::none;  ///< of the sum
    bool dropout = true;
};

/// Tables of a recommender: a sample takes some rows of each and adds them up (M. Naumov et al., "Deep learning
/// recommendation model", 2019). The tables are given by their totals.
struct EmbeddingBag {
    std::int64_t tables = 1;
    std::int64_t rows = 0;     ///< of all tables
    std::int64_t lookups = 0;  ///< of a sample, in all tables
    std::int64_t width = 0;
};

/// Patches of an image as tokens: each is multiplied by a matrix, and gets a learned position; `extra` tokens are
/// learned whole (A. Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021).
struct PatchEmbedding {
    std::int64_t channels = 0, height = 0, width = 0;
    std::int64_t patch[2] = {1, 1};
    std::int64_t outputs = 0;  ///< elements of a token
    std::int64_t extra = 0;

    std::int64_t patches() const { return (height / patch[0]) * (width / patch[1]); }
    std::int64_t inputs() const { return channels * patch[0] * patch[1]; }
};

/// A layer of which only the counts are known.
struct Custom {};

using LayerShape = std::variant<Custom, Convolution, Dense, Attention, FeedForward, Embedding, ParallelBlock, Experts,
                                EmbeddingBag, PatchEmbedding>;

}  // namespace syncline
