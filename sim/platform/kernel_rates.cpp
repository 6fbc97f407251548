#include "sim/platform/kernel_rates.hpp"

#include <algorithm>
#include <cmath>

#include "sim/platform/attention_table.hpp"
#include "sim/platform/product_table.hpp"

namespace syncline {

double KernelRates::tiled_s(const MatrixProduct& product, double bytes) const {
    constexpr double tile = 128;
    const auto all = static_cast<double>(multiprocessors);
    const double tiles = std::ceil(product.m / tile) * std::ceil(product.n / tile) * product.batch;
    const double computing_s = std::ceil(tiles / all) * 2 * tile * tile * product.k / (product_flops_per_s / all);
    return fixed_s + std::max(computing_s, bytes / memory_Bps);
}

double KernelRates::product_s(const MatrixProduct& product, double bytes) const {
    const double sustained_s = sustained_flops_per_s > 0 ? fixed_s + product.flops() / sustained_flops_per_s : 0;
    if (!table) return std::max(tiled_s(product, bytes), sustained_s);
    const double seconds = table->seconds(product), start_s = std::min(fixed_s, seconds);
    return std::max(start_s + (seconds - start_s) / table_speed, sustained_s);
}

double KernelRates::pointwise_s(Pointwise kind, double bytes) const {
    const auto measured_s = pointwise ? pointwise->seconds(kind, bytes) : std::nullopt;
    return fixed_s + measured_s.value_or(bytes / memory_Bps);
}

double KernelRates::narrow_product_s(const MatrixProduct& product, double bytes) const {
    // Bursts of 8-bit products last.
    KernelRates burst = *this;
    burst.sustained_flops_per_s = 0;
    const double computing_s = (burst.product_s(product, 0) - fixed_s) * product_flops_per_s / narrow_flops_per_s;
    return fixed_s + std::max(computing_s, bytes / memory_Bps);
}

double KernelRates::attention_rate(const AttentionWork& work) const {
    const double clock = sustained_flops_per_s > 0 ? std::min(1.0, sustained_flops_per_s / product_flops_per_s) : 1;
    return clock * (attention ? attention->rate(work) * table_speed : attention_flops_per_s);
}

void KernelRates::speed_up(double factor) {
    narrow_flops_per_s *= factor;
    sustained_flops_per_s *= factor;
    product_flops_per_s *= factor;
    attention_flops_per_s *= factor;
    table_speed *= factor;
}

}  // namespace syncline
