#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// A neural network as training sees it: layers in forward order, each with what it holds, computes and produces.
///
/// Counts are per sample (one image, one sequence of tokens); a multiply-accumulate is 2 FLOP. Layers without
/// parameters (pooling, activations, additions) are left out: their time is part of a calibrated one-device throughput.
namespace syncline {

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
};

/// A fully connected layer, applied to each of a sample's `positions` (tokens; 1 of an image).
struct Dense {
    std::int64_t inputs = 0, outputs = 0;
    std::int64_t positions = 1;
    bool bias = false;
    /// Whether ranks that hold a part of the outputs each need all of them afterwards. Not so the last layer of a
    /// transformer, whose loss is taken on split outputs (vocabulary-parallel cross entropy, Megatron-LM).
    bool gathered = true;
    bool tied = false;  ///< its weights are another layer's: they are neither counted nor exchanged here
    bool norm = false;  ///< its inputs are normalised first: a scale and a shift for each of them
};

/// The attention half of a transformer's layer: normalisation, queries, keys and values, scores, softmax, weighted sum,
/// projection, with the residual addition behind it.
struct Attention {
    std::int64_t positions = 0, width = 0, heads = 1;
};

/// The other half: normalisation, two fully connected layers with GELU between them, the residual addition.
struct FeedForward {
    std::int64_t positions = 0, width = 0, hidden = 0;
};

/// A table from which each of `positions` tokens takes a row, with one row added for its position where these are
/// learned, and one for its segment where there are several (the two sentences of BERT).
struct Embedding {
    std::int64_t vocabulary = 0, positions = 0, width = 0;
    bool learned_positions = true;
    std::int64_t segments = 0;
    bool norm = false;  ///< the sum is normalised
};

/// Only its counts are known.
struct Custom {};

using LayerShape = std::variant<Custom, Convolution, Dense, Attention, FeedForward, Embedding>;

struct Layer {
    std::string name;
    std::int64_t parameters = 0;   ///< weights, biases and normalisation scales: what is exchanged
    std::int64_t macs = 0;         ///< multiply-accumulates of the forward pass
    std::int64_t inputs = 0;       ///< elements read
    std::int64_t activations = 0;  ///< elements produced
    LayerShape shape = {};         ///< what the counts are from
};

struct Model {
    std::string name;
    double element_bytes = 4;          ///< of a parameter, a gradient, an activation
    std::int64_t sample_elements = 0;  ///< elements of one input sample, copied from host to device
    std::vector<Layer> layers;

    std::int64_t parameters() const;
    std::int64_t macs() const;
    /// Bytes of one full set of gradients: S in the literature.
    std::uint64_t gradient_bytes() const;
};

/// Gradient bytes of one layer.
std::uint64_t gradient_bytes(const Model& model, const Layer& layer);

/// Output height or width (axis 0 or 1): ⌊(in + 2·padding - kernel)/stride⌋ + 1; may be ≤ 0 if the kernel does not fit.
std::int64_t output_size(const Convolution& conv, int axis);

/// parameters = filters·(channels/groups)·kh·kw (+ filters for the bias, + 2·filters for the normalisation);
/// macs = filters·(channels/groups)·kh·kw · ho·wo; activations = filters·ho·wo.
Layer convolution(std::string name, const Convolution& conv);

/// parameters = inputs·outputs unless tied (+ outputs for the bias, + 2·inputs for the normalisation); macs =
/// positions·inputs·outputs; inputs and activations are those of all positions.
Layer dense(std::string name, const Dense& shape);
/// Of an image, without normalisation.
Layer dense(std::string name, std::int64_t inputs, std::int64_t outputs, bool bias);

/// How ranks share a layer (model parallelism). `outputs`: each computes some output channels from all inputs; everyone
/// gets all outputs by an allgather, and gradients of the inputs are partial sums, which an all-reduce adds up.
/// `inside`: each does a part of the layer (heads, hidden units, rows of the table) from all inputs to partial sums of
/// all outputs; an all-reduce adds them up, and so it does with the gradients of the inputs (M. Shoeybi et al.,
/// "Megatron-LM", arXiv 1909.08053).
enum class Split { outputs, inside };

Split split_of(const Layer& layer);

/// Into how many parts it can be split at most: output channels, heads, hidden units, rows of the vocabulary.
std::int64_t parts_of(const Layer& layer);

}  // namespace syncline
