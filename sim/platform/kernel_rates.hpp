#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/platform/matrix_product.hpp"

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
/// Launches: in an eager framework the host issues kernels one after the other, ahead of the device, so that n kernels
/// take the device at least n·h, with the host's time h for each (compute_model.hpp).
///
/// Left out: caches, products whose k is divided among multiprocessors (split-K), clocks that fall under load except
/// for those of the measurements, the contents of matrices.
namespace syncline {

class AttentionTable;
class ProductTable;
struct AttentionWork;

struct KernelRates {
    double product_flops_per_s = 0;    ///< R: rate of large matrix products
    double attention_flops_per_s = 0;  ///< rate of fused attention, if it has no table
    double narrow_flops_per_s = 0;     ///< rate of large products of 8-bit factors; 0: unknown
    double memory_Bps = 0;             ///< M: measured memory bandwidth
    double fixed_s = 0;                ///< c: fixed cost of a kernel
    double host_launch_s = 0;          ///< h: time of the host to issue a kernel in an eager framework
    std::int64_t multiprocessors = 1;  ///< P
    std::string source;
    std::shared_ptr<const ProductTable> table;        ///< null: no shape was measured
    std::shared_ptr<const AttentionTable> attention;  ///< of the kernel that the software has; null: one rate for all
    double table_speed = 1;                           ///< relative speed of both tables, for what-if questions

    /// Returns the time of a product that moves this many bytes.
    double product_s(const MatrixProduct& product, double bytes) const;
    /// Returns the same by tiles and waves alone, without the table.
    double tiled_s(const MatrixProduct& product, double bytes) const;

    /// Returns the time of a product of 8-bit factors.
    double narrow_product_s(const MatrixProduct& product, double bytes) const;

    /// Returns the rate of fused attention.
    double attention_rate(const AttentionWork& work) const;

    /// Makes computation faster by this factor; fixed costs and memory stay the same.
    void speed_up(double factor);
};

}  // namespace syncline
