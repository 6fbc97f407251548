#include "sim/platform/kernel_rates.hpp"

#include <algorithm>
#include <cmath>

#include "sim/platform/attention_table.hpp"
#include "sim/platform/convolution_table.hpp"
#include "sim/platform/product_table.hpp"

namespace syncline {

namespace {

/// Returns a measured time on a device whose computation, but not the fixed cost, is faster by `speed`.
double sped_up(double seconds, double fixed_s, double speed) {
    const double start_s = std::min(fixed_s, seconds);
    return start_s + (seconds - start_s) / speed;
}

/// Returns the size of a head with which a kernel of fused attention computes.
double padded_head(double size) {
    constexpr double step = 32, largest = 256;
    return size > largest ? size : std::ceil(size / step) * step;
}

}  // namespace

double KernelRates::tiled_s(const MatrixProduct& product, double bytes) const {
    constexpr double tile = 128, sum_bytes = 4;
    const auto all = static_cast<double>(multiprocessors);
    const double tiles = std::ceil(product.m / tile) * std::ceil(product.n / tile) * product.batch;
    const double depth_s = 2 * tile * tile / (product_flops_per_s / all);
    double least_s = std::max(std::ceil(tiles / all) * product.k * depth_s, bytes / memory_Bps);
    for (double parts = 2; parts <= all; parts *= 2) {
        const double computing_s = std::ceil(tiles * parts / all) * std::max(product.k / parts, tile) * depth_s;
        const double adding_s = 2 * parts * product.m * product.n * product.batch * sum_bytes / memory_Bps + fixed_s;
        least_s = std::min(least_s, std::max(computing_s, bytes / memory_Bps) + adding_s);
    }
    return fixed_s + least_s;
}

double KernelRates::tiled_s(const MatrixProduct& product, double bytes, Factors factors) const {
    if (factors == Factors::half) return tiled_s(product, bytes);
    const double ratio = product_flops_per_s / product_rate(factors);
    return fixed_s + std::max((tiled_s(product, 0) - fixed_s) * ratio, bytes / memory_Bps);
}

double KernelRates::product_rate(Factors factors) const {
    if (factors == Factors::half) return product_flops_per_s;
    const auto other = others.find(factors);
    return other == others.end() ? 0 : other->second.flops_per_s;
}

double KernelRates::burst_s(const MatrixProduct& product, double bytes) const {
    return table ? sped_up(table->seconds(product), fixed_s, table_speed) : tiled_s(product, bytes);
}

double KernelRates::product_s(const MatrixProduct& product, double bytes, Factors factors, bool weights) const {
    if (factors != Factors::half) {
        const auto other = others.find(factors);
        if (other != others.end() && other->second.table)
            return sped_up(other->second.table->seconds(product), fixed_s, table_speed);
        const bool transposed = weights && factors == Factors::tf32 && tf32_weights_flops_per_s > 0;
        const double ratio = product_flops_per_s / (transposed ? tf32_weights_flops_per_s : product_rate(factors));
        return fixed_s + std::max((burst_s(product, 0) - fixed_s) * ratio, bytes / memory_Bps);
    }
    const double sustained_s = sustained_flops_per_s > 0 ? fixed_s + product.flops() / sustained_flops_per_s : 0;
    return std::max(burst_s(product, bytes), sustained_s);
}

double KernelRates::grouped_rule_s(const MatrixProduct& products, double bytes, Factors factors, bool weights) const {
    return std::max(
        {product_s(products, bytes, factors, weights), fixed_s + bytes / memory_Bps, products.batch * group_launch_s});
}

double KernelRates::grouped_s(GroupedPass pass, const MatrixProduct& products, double bytes, Factors factors) const {
    const double rule_s = grouped_rule_s(products, bytes, factors, pass == GroupedPass::weights);
    if (narrow(factors) && pass != GroupedPass::weights) {
        constexpr double cast_bytes = 4;  // reads 2, writes one and, for gradients of weights, its transpose
        return rule_s + fixed_s + cast_bytes * products.batch * products.m * products.k / memory_Bps;
    }
    return grouped && factors == Factors::half ? rule_s * grouped->ratio(pass, products) : rule_s;
}

double KernelRates::pointwise_s(Pointwise kind, double bytes) const {
    const auto measured_s = pointwise ? pointwise->seconds(kind, bytes) : std::nullopt;
    return fixed_s + (measured_s ? *measured_s / memory_speed : bytes / memory_Bps);
}

double KernelRates::convolution_s(const ConvolutionWork& work, double bytes, Factors factors) const {
    const auto measured_s = convolutions ? convolutions->seconds(work, factors) : std::nullopt;
    if (!measured_s) return product_s(work.product, bytes, factors, work.pass == ConvolutionPass::weights);
    return std::max(sped_up(*measured_s, fixed_s, table_speed), fixed_s + bytes / memory_Bps);
}

double KernelRates::attention_rate(const AttentionWork& work, Factors factors) const {
    if ((factors == Factors::fp32 || factors == Factors::tf32) && fp32_attention_flops_per_s > 0)
        return fp32_attention_flops_per_s;
    const double clock = sustained_flops_per_s > 0 ? std::min(1.0, sustained_flops_per_s / product_flops_per_s) : 1;
    AttentionWork padded = work;
    padded.head_size = padded_head(work.head_size);
    const double rate = attention ? attention->rate(padded) * table_speed : attention_flops_per_s;
    return clock * rate * product_rate(factors) / product_flops_per_s * work.head_size / padded.head_size;
}

void KernelRates::speed_up_memory(double factor) {
    memory_Bps *= factor;
    memory_speed *= factor;
}

void KernelRates::speed_up(double factor) {
    for (auto& [factors, other] : others) other.flops_per_s *= factor;
    sustained_flops_per_s *= factor;
    tf32_weights_flops_per_s *= factor;
    fp32_attention_flops_per_s *= factor;
    product_flops_per_s *= factor;
    attention_flops_per_s *= factor;
    table_speed *= factor;
}

}  // namespace syncline
