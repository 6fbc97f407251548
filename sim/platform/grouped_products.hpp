#pragma once

#include <array>
#include <functional>
#include <vector>

#include "sim/base/lazy.hpp"
#include "sim/platform/matrix_product.hpp"

/// Products of the experts that a device has: each multiplies its own rows by its own weights. Transformer Engine
/// issues one for each expert, on four queues in turn (transformer_engine/common/gemm/cublaslt_gemm.cu,
/// multi_stream_cublas_gemm, for Megatron-Core's TEGroupedMLP), so that tiles of neighbouring experts share the
/// multiprocessors like those of a batch. g products take
///
///     max(T(g), c + bytes/M, g·h)
///
/// with the time T of a batch, the fixed cost c and the memory's bandwidth M of kernel_rates.hpp, and the host's time h
/// for each. A kernel of all products (CUTLASS, torch._grouped_mm, TensorRT-LLM) has h = 0 (`group_launch: none`).
/// TensorRT-LLM's layers of experts in bf16 on an H100 (NVIDIA, AIConfigurator, 095f58a51c: forward, 2 to 4096 rows for
/// each expert): 0.84 to 1.15 of the measured time, as the median of each power of two of rows. Ten groups of 8 to 80
/// products on four queues take 0.65 to 1.1 of what the project measured on an H100, 0.95 in the median.
///
/// A table has measured products at single points. The modelled time is multiplied by a mean of the ratios of measured
/// to modelled time, each weighted by 1/d², where d is the distance of the logarithms of extents and number of products
/// (D. Shepard, "A two-dimensional interpolation function for irregularly-spaced data", ACM 1968).
///
/// Factors of 8 or 4 bits are cast from 16 by a kernel before the forward product and before that for gradients of
/// inputs: c + 4 B · rows · width / M, since it reads 2 B and writes one and, for the gradients of weights, its
/// transpose (Transformer Engine, transformer_engine/common/cast). Products of small experts save less than that.
///
/// Left out: experts with different numbers of rows, where the smaller ones have tiles that are less full.
namespace syncline {

enum class GroupedPass { forward, inputs, weights };

struct MeasuredGroup {
    GroupedPass pass = GroupedPass::forward;
    MatrixProduct products;  ///< as many as its batch
    double seconds = 0;
};

class GroupedProducts {
public:
    /// Returns the modelled time.
    using Modelled = std::function<double(GroupedPass, const MatrixProduct&)>;

    /// `modelled` owns what it needs. It is called when a ratio is first asked for.
    GroupedProducts(std::vector<MeasuredGroup> rows, const Modelled& modelled);

    /// Returns the ratio of measured to modelled time of products; 1 if none of this pass were measured.
    double ratio(GroupedPass pass, const MatrixProduct& products) const;

private:
    using Place = std::array<double, 4>;  ///< logarithms
    static Place place(const MatrixProduct& products);

    struct Point {
        Place at;
        double log_ratio = 0;
    };
    Lazy<std::array<std::vector<Point>, 3>> points_;  ///< by pass
};

}  // namespace syncline
