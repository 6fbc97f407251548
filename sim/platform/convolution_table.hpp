#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <vector>

#include "sim/platform/factors.hpp"
#include "sim/platform/product_table.hpp"

/// Measured rates of convolutions by shape: what a library reaches with the algorithm that it chooses, and with what it
/// launches beside it (changes of the order of elements, sums of parts of k). A convolution of c channels and f filters
/// is a product of m = f, n = pixels of all outputs, k = c·kernel in each of its three passes (S. Chetlur et al.,
/// "cuDNN: efficient primitives for deep learning", 2014). Kernels of one pixel, which are plain products, and larger
/// ones have a ProductTable each for a pass and for the factors. Left out: strides and dilation, except for the number
/// of pixels; shapes of kernels beyond their size; channels that are no multiple of 8.
namespace syncline {

enum class ConvolutionPass { forward, inputs, weights };

/// The shape of a convolution.
struct ConvolutionWork {
    ConvolutionPass pass = ConvolutionPass::forward;
    bool pointwise = false;  ///< a kernel of one pixel
    MatrixProduct product;   ///< filters, pixels, channels · kernel; as many as groups
};

class ConvolutionTable {
public:
    struct Row {
        Factors factors = Factors::half;
        ConvolutionWork work;
        double flops_per_s = 0;
    };

    /// Returns the modelled time of a product of these factors.
    using Modelled = std::function<double(const MatrixProduct&, Factors)>;

    /// `modelled` owns what it needs. Throws std::invalid_argument if factors that have rows lack those of a pass and a
    /// kind of kernel, or if these are no grid.
    ConvolutionTable(const std::vector<Row>& rows, const Modelled& modelled);

    /// Returns the time of a convolution; nothing if no convolution of these factors was measured.
    std::optional<double> seconds(const ConvolutionWork& work, Factors factors) const;

private:
    static constexpr std::size_t kinds = 6;  ///< pass and kernel
    /// By factors.
    std::array<std::optional<std::vector<ProductTable>>, std::size(all_factors)> all_;
};

}  // namespace syncline
