#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "sim/platform/factors.hpp"
#include "sim/platform/grouped_products.hpp"
#include "sim/platform/matrix_product.hpp"
#include "sim/platform/pointwise_table.hpp"

/// Measured rates of a device's kernels. A kernel takes c + max(computing, moving): a fixed cost c, and the larger of
/// its computation and of bytes/M, with a measured memory bandwidth M.
///
/// Tiles and waves: a matrix product computes its result in tiles of 128×128, one on each of the P multiprocessors at a
/// time, so
///
///     computing = ⌈⌈m/128⌉ · ⌈n/128⌉ · batch / P⌉ · 2·128²·k / (R/P)
///
/// with the rate R of large products (NVIDIA, "Matrix multiplication background user guide": tile and wave
/// quantization; larger efficient tiles are two of them). A measured shape takes its measured time (product_table.hpp).
///
/// Split-K: where there are few tiles and k is large, as for gradients of weights, s multiprocessors share a tile, each
/// with a part of k. They write their sums, of 4 bytes, and another kernel adds them:
///
///     computing = ⌈tiles · s / P⌉ · 2·128²·max(k/s, 128) / (R/P) + (s > 1: c + 2·s·m·n·batch · 4 / M)
///
/// with the power of two s that takes the least time (NVIDIA CUTLASS, media/docs/efficient_gemm.md, "Parallelized
/// reductions"; M. Osama et al., "Stream-K", PPoPP 2023, section 3).
///
/// R is that of 16-bit factors. Other factors (factors.hpp) have tables of their own; those of 8 and 4 bits include the
/// cast of the first factor from 16 bits. Without a table other factors compute by the ratio of the rates of large
/// products, with the same fixed cost and their own bytes: in TF32 on an H100 200, 361 and 407 Tflops for cubes of
/// 1024, 2048 and 4096, of which 164, 360 and 407 were measured. Both factors of a gradient of weights are transposed,
/// which Hopper's matrix units read in 16 bits alone (NVIDIA, PTX ISA, wgmma.mma_async), so that in TF32 it has a rate
/// of its own, and so has fused attention of 32-bit factors.
///
/// Fused attention (attention_table.hpp, or one rate) computes heads of h elements in the next larger multiple of 32,
/// up to 256 (Dao-AILab/flash-attention, csrc/flash_attn/src/static_switch.h, HEADDIM_SWITCH), at the rate of the
/// padded size times h over it. That cuDNN does the same is chosen.
///
/// Other kernels have their own tables: convolutions (convolution_table.hpp; else products) and image kernels
/// (image_kernels.hpp), experts (grouped_products.hpp), kernels without products (pointwise_table.hpp).
///
/// Sustained rate: tables are measured in bursts of milliseconds, on a cool device. Where a training draws the device's
/// full power the clock falls: no 16-bit product is faster than the rate S that large products keep for longer than a
/// tenth of a second, and fused attention is slower by S/R, too. Kernels that wait for the memory keep their rates, and
/// so do products of other factors: large ones of 8 bits were measured not to fall on an H100; of others nothing is
/// known.
///
/// Launches: n kernels take the device at least n·h, with the host's time h for each, which may be longer in the
/// backward pass (compute_model.hpp). Left out: caches, the contents of matrices; how the clock depends on what else
/// the device does.
namespace syncline {

class AttentionTable;
class ConvolutionTable;
class ImageKernelRates;
class ProductTable;
struct AttentionWork;
struct ConvolutionWork;

/// What was measured of products whose factors are not 16-bit ones.
struct OtherProducts {
    double flops_per_s = 0;                          ///< rate of large products; 0: unknown
    std::shared_ptr<const ProductTable> table = {};  ///< null: no shape was measured
};

struct KernelRates {
    double product_flops_per_s = 0;    ///< R: rate of large matrix products of 16-bit factors
    double attention_flops_per_s = 0;  ///< rate of fused attention, if it has no table
    std::map<Factors, OtherProducts> others = {};
    double tf32_weights_flops_per_s = 0;    ///< that of tf32 products for gradients of weights; 0: as others
    double fp32_attention_flops_per_s = 0;  ///< rate of fused attention of 32-bit factors; 0: as products change
    double sustained_flops_per_s = 0;       ///< S; 0: unknown, so that bursts last
    double memory_Bps = 0;                  ///< M: measured memory bandwidth
    double fixed_s = 0;                     ///< c: fixed cost of a kernel
    double host_launch_s = 0;               ///< h: time of the host to issue a kernel in an eager framework
    std::optional<double> host_launch_backward_s = {};  ///< the same in the backward pass; nothing: as above
    std::int64_t multiprocessors = 1;                   ///< P
    std::string source;
    std::shared_ptr<const ProductTable> table = {};             ///< of 16-bit factors; null: no shape was measured
    std::shared_ptr<const ConvolutionTable> convolutions = {};  ///< null: convolutions are products
    std::shared_ptr<const ImageKernelRates> images = {};        ///< null: at the memory's bandwidth
    std::shared_ptr<const AttentionTable> attention =
        {};  ///< of the kernel that the software has; null: one rate for all
    /// Those of all kernels that were measured, by name: the training may choose another one.
    std::map<std::string, std::shared_ptr<const AttentionTable>> attention_kernels = {};
    double table_speed = 1;   ///< relative speed of tables of arithmetic, for what-if questions
    double memory_speed = 1;  ///< the same of measured kernels that wait for the memory
    std::shared_ptr<const PointwiseTable> pointwise = {};  ///< null: by their bytes
    double group_launch_s = 0;                             ///< time of the host to issue one of the experts' products
    std::shared_ptr<const GroupedProducts> grouped = {};   ///< null: experts' products follow the rule alone

    /// Returns the rate of large products of these factors; 0 if it is unknown.
    double product_rate(Factors factors) const;

    /// Returns the time of a product of 16-bit factors in a burst.
    double burst_s(const MatrixProduct& product, double bytes) const;
    /// Returns the time of a product that moves this many bytes; `weights`: for gradients of weights. The rate of its
    /// factors must be known.
    double product_s(const MatrixProduct& product, double bytes, Factors factors = Factors::half,
                     bool weights = false) const;
    /// Returns the same by tiles, waves and split-K alone, without the table.
    double tiled_s(const MatrixProduct& product, double bytes) const;
    double tiled_s(const MatrixProduct& product, double bytes, Factors factors) const;

    /// Returns the time of the products of a device's experts, which move this many bytes, by the rule alone, ...
    double grouped_rule_s(const MatrixProduct& products, double bytes, Factors factors = Factors::half,
                          bool weights = false) const;
    /// ... and with measured ones, which are those of 16-bit factors.
    double grouped_s(GroupedPass pass, const MatrixProduct& products, double bytes,
                     Factors factors = Factors::half) const;

    /// Returns the time of a convolution.
    double convolution_s(const ConvolutionWork& work, double bytes, Factors factors) const;

    /// Returns the time of a kernel without products.
    double pointwise_s(Pointwise kind, double bytes) const;

    /// Returns the rate of fused attention.
    double attention_rate(const AttentionWork& work, Factors factors = Factors::half) const;

    /// Makes computation faster by this factor; fixed costs and memory stay the same.
    void speed_up(double factor);
    /// The same for what waits for the memory.
    void speed_up_memory(double factor);
};

}  // namespace syncline
