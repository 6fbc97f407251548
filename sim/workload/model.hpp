#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A neural network as training sees it: layers in forward order, each with what it holds, computes and produces.
///
/// Counts are per sample (one image); a multiply-accumulate is 2 FLOP. Layers without parameters (pooling, activations,
/// additions) are left out: their time is part of a calibrated one-device throughput.
namespace syncline {

struct Layer {
    std::string name;
    std::int64_t parameters = 0;   ///< weights, biases and normalisation scales: what is exchanged
    std::int64_t macs = 0;         ///< multiply-accumulates of the forward pass
    std::int64_t inputs = 0;       ///< elements read
    std::int64_t activations = 0;  ///< elements produced
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

/// Output height or width (axis 0 or 1): ⌊(in + 2·padding - kernel)/stride⌋ + 1; may be ≤ 0 if the kernel does not fit.
std::int64_t output_size(const Convolution& conv, int axis);

/// parameters = filters·(channels/groups)·kh·kw (+ filters for the bias, + 2·filters for the normalisation);
/// macs = filters·(channels/groups)·kh·kw · ho·wo; activations = filters·ho·wo.
Layer convolution(std::string name, const Convolution& conv);

/// A fully connected layer: parameters = inputs·outputs (+ outputs), macs = inputs·outputs.
Layer dense(std::string name, std::int64_t inputs, std::int64_t outputs, bool bias);

}  // namespace syncline
