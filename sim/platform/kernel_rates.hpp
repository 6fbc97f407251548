#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sim/platform/matrix_product.hpp"
#include "sim/platform/pointwise_table.hpp"

/// Measured rates of a device's kernels, in the precision of its `flops`.
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
/// Products of 8-bit factors (FP8) compute faster by the ratio of the rates of large products, whatever their shape;
/// their fixed cost and their bytes stay the same.
///
/// Kernels without products take their measured time, if their kind was measured (pointwise_table.hpp).
///
/// Sustained rate: tables of products are measured in bursts of milliseconds, on a cool device. A training computes
/// without a pause, and where it draws the device's full power the clock falls: no product is faster than the rate S
/// that large products keep when they follow each other for longer than a tenth of a second. The clock changes more slowly
/// than kernels follow each other, so that fused attention is slower by S/R, too. Kernels that wait for the memory keep
/// their rates, and so do products of 8-bit factors, whose large ones were measured not to fall.
///
/// Launches: in an eager framework the host issues kernels one after the other, ahead of the device, so that n kernels
/// take the device at least n·h, with the host's time h for each, which may be longer in the backward pass
/// (compute_model.hpp).
///
/// Left out: caches, products whose k is divided among multiprocessors (split-K), the contents of matrices; how the
/// clock depends on what else the device does.
namespace syncline {

class AttentionTable;
class ProductTable;
struct AttentionWork;

struct KernelRates {
    double product_flops_per_s = 0;                ///< R: rate of large matrix products
    double attention_flops_per_s = 0;              ///< rate of fused attention, if it has no table
    double narrow_flops_per_s = 0;                 ///< rate of large products of 8-bit factors; 0: unknown
    double sustained_flops_per_s = 0;              ///< S; 0: unknown, so that bursts last
    double memory_Bps = 0;                         ///< M: measured memory bandwidth
    double fixed_s = 0;                            ///< c: fixed cost of a kernel
    double host_launch_s = 0;                      ///< h: time of the host to issue a kernel in an eager framework
    std::optional<double> host_launch_backward_s;  ///< the same in the backward pass; nothing: as above
    std::int64_t multiprocessors = 1;              ///< P
    std::string source;
    std::shared_ptr<const ProductTable> table;        ///< null: no shape was measured
    std::shared_ptr<const AttentionTable> attention;  ///< of the kernel that the software has; null: one rate for all
    double table_speed = 1;                           ///< relative speed of both tables, for what-if questions
    std::shared_ptr<const PointwiseTable> pointwise;  ///< null: by their bytes

    /// Returns the time of a product that moves this many bytes.
    double product_s(const MatrixProduct& product, double bytes) const;
    /// Returns the same by tiles and waves alone, without the table.
    double tiled_s(const MatrixProduct& product, double bytes) const;

    /// Returns the time of a product of 8-bit factors.
    double narrow_product_s(const MatrixProduct& product, double bytes) const;

    /// Returns the time of a kernel without products.
    double pointwise_s(Pointwise kind, double bytes) const;

    /// Returns the rate of fused attention.
    double attention_rate(const AttentionWork& work) const;

    /// Makes computation faster by this factor; fixed costs and memory stay the same.
    void speed_up(double factor);
};

}  // namespace syncline
