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

/// Measured rates of a device's kernels.
///
/// A kernel takes c + max(computing, moving): a fixed cost c, and the larger of its computation and of bytes/M, with a
/// measured memory bandwidth M. Fused attention computes at the rate of the software's kernel for its shape
/// (attention_table.hpp), or at one rate, and every other kernel at the rate of large matrix products.
///
/// Tiles and waves: a matrix product computes its result in tiles of 128×128, one on each of the P multiprocessors at a
/// time, so
///
///     computing = ⌈⌈m/128⌉ · ⌈n/128⌉ · batch / P⌉ · 2·128²·k / (R/P)
///
/// with the rate R of large products (NVIDIA, "Matrix multiplication background user guide": tile and wave
/// quantization; 128×128 is the smaller of its two efficient tiles, and larger ones are two of them). A product whose
/// shape has been measured takes the measured time (product_table.hpp).
///
/// Split-K: where there are few tiles and k is large, as for gradients of weights, s multiprocessors share a tile, each
/// with a part of k. They write their sums, of 4 bytes, and another kernel reads and adds them:
///
///     computing = ⌈tiles · s / P⌉ · 2·128²·max(k/s, 128) / (R/P) + (s > 1: c + 2·s·m·n·batch · 4 / M)
///
/// with the power of two s that takes the least time (NVIDIA CUTLASS, media/docs/efficient_gemm.md, "Parallelized
/// reductions"; M. Osama et al., "Stream-K", PPoPP 2023, section 3, which also names parts that are too short). A
/// larger product never takes less time, since every s is open to both.
///
/// R is that of 16-bit factors. Other factors (factors.hpp) have tables of their own, whose times include what was
/// measured with the product: the shipped ones of 8 and 4 bits the cast of the first factor from 16 bits, a kernel that
/// reads it once more. So no other kernel here stands for that cast. Without a table products of other factors compute
/// faster or more slowly than those of 16-bit ones by the ratio of the rates of large products, whatever their shape;
/// their fixed cost is the same, and their bytes are their own. On an H100 that gives 200, 361 and 407 Tflops for cubes
/// of 1024, 2048 and 4096 in TF32, of which 164, 360 and 407 were measured. Both factors of a gradient of weights are
/// transposed, which Hopper's matrix units read in 16 bits alone (NVIDIA, PTX ISA, wgmma.mma_async: transposition for
/// .f16 and .bf16 only), so that in TF32 it has a rate of its own. Fused attention of 32-bit factors is another kernel,
/// too: cuDNN's and FlashAttention have 16-bit factors.
///
/// Kernels of fused attention are built for heads of a multiple of 32 elements, up to 256, and compute smaller heads in
/// the next larger kernel, with zeros at the end (Dao-AILab/flash-attention, csrc/flash_attn/src/static_switch.h,
/// HEADDIM_SWITCH), so that a head of h elements has the rate of the padded one times h over its size. That cuDNN does
/// the same is chosen.
///
/// Convolutions take their measured time (convolution_table.hpp), or at least their bytes'; if there is none, they are
/// products. Other kernels of image networks have rates of their own (image_kernels.hpp).
///
/// Products of a device's experts have a rule and a table of their own (grouped_products.hpp).
///
/// Kernels without products take their measured time, if their kind was measured (pointwise_table.hpp).
///
/// Sustained rate: tables of products are measured in bursts of milliseconds, on a cool device. A training computes
/// without a pause, and where it draws the device's full power the clock falls: no 16-bit product is faster than the
/// rate S that large products keep when they follow each other for longer than a tenth of a second. The clock changes
/// more slowly than kernels follow each other, so that fused attention is slower by S/R, too. Kernels that wait for the
/// memory keep their rates, and so do products of other factors: large ones of 8 bits were measured not to fall on an
/// H100, and of other devices and formats nothing is known.
///
/// Launches: in an eager framework the host issues kernels one after the other, ahead of the device, so that n kernels
/// take the device at least n·h, with the host's time h for each, which may be longer in the backward pass
/// (compute_model.hpp).
///
/// Left out: caches, the contents of matrices; how the clock depends on what else the device does.
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
