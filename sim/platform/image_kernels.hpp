#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>

/// Measured rates of the kernels that a network of convolutions launches beside its products, by which they move data:
/// each element once for each operand. The rate depends on the order of the elements (channels last, as 16-bit training
/// has them, or first) and on one size: a normalisation's channels, the width of a pooling window, or of a kernel of
/// one channel (depthwise). Between measured sizes the logarithm of the rate is linear in that of the size; outside of
/// them it is the nearest one's. A kernel without a rate moves at the memory's bandwidth. Left out: data that is still
/// in a cache.
namespace syncline {

enum class ImageKernel {
    batch_norm,
    batch_norm_gradient,
    max_pool,
    max_pool_gradient,
    average_pool,
    average_pool_gradient,
    bias,
    bias_gradient,
    depthwise,
    depthwise_input_gradient,
    depthwise_weight_gradient,
};

constexpr std::array<std::string_view, 11> image_kernel_names{
    "batch-norm",
    "batch-norm-gradient",
    "max-pool",
    "max-pool-gradient",
    "average-pool",
    "average-pool-gradient",
    "bias",
    "bias-gradient",
    "depthwise",
    "depthwise-input-gradient",
    "depthwise-weight-gradient",
};

/// A kernel's kind, and the size on which its rate depends.
struct ImageWork {
    ImageKernel kernel = ImageKernel::batch_norm;
    double size = 1;
};

class ImageKernelRates {
public:
    /// Adds a rate. Returns false if there is one already.
    bool add(const ImageWork& work, bool channels_last, double bytes_per_s);

    /// Returns the bytes per second; nothing if this kind was not measured in this order of elements.
    std::optional<double> rate(const ImageWork& work, bool channels_last) const;

private:
    using Curve = std::map<double, double>;  ///< logarithm of the rate, by that of the size
    std::array<std::array<Curve, 2>, image_kernel_names.size()> all_;
};

}  // namespace syncline
