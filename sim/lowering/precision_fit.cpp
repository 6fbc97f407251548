#include <fmt/format.h>

#include <numeric>

#include "sim/base/units.hpp"
#include "sim/lowering/compressed.hpp"
#include "sim/lowering/feasibility_parts.hpp"

namespace syncline {

namespace {

std::string in_bytes(double bytes) {
    return format_quantity(bytes, Dimension::bytes);
}

/// Returns the bytes that a rank contributes to the exchange of all its gradients.
std::uint64_t contributed_bytes(const Model& model, const Plan& plan) {
    std::uint64_t bytes = 0;
    for (const Layer& layer : model.layers) {
        const Compressed compressed = compress(plan.compression, model, layer, 2, {.memory_Bps = 1});
        bytes += compressed.bytes + compressed.second_bytes;
    }
    return bytes;
}

}  // namespace

void judge_precision(const Model& model, const Plan& plan, const Device& device, Complaints& complaints) {
    if (const auto factors = plan.precision.products) {
        if (kind_used(plan.compute, model.name, device) != ComputeKind::tables)
            complaints.push_back(
                {"precision.products",
                 fmt::format("products of {} are known only with the measured rates of kernels", name_of(*factors)),
                 "write `compute: tables`"});
        else if (device.kernels && device.kernels->product_rate(*factors) == 0)
            complaints.push_back(
                {"precision.products",
                 fmt::format("device '{}' has no rate of products of {}", device.name, name_of(*factors)),
                 fmt::format(
                     "add `{}` to its `kernels`, or rows of `{}` to its table of products, or remove `products`",
                     rate_key(*factors), word_of(*factors))});
    }
    const double weights = weight_element(model), master = master_element(model), gradients = gradient_element(model);
    if (plan.precision.master && master > 0 && master <= weights)
        complaints.push_back(
            {"precision.master",
             fmt::format("a master copy of {} has no effect beside weights of {}", in_bytes(master), in_bytes(weights)),
             "write `none`, or smaller weights"});
    constexpr double half = 2;
    const Compression& compression = plan.compression;
    if (compression.kind == Compression::Kind::fp16 && gradients <= half)
        return complaints.push_back(
            {"compression", fmt::format("gradients of {} are not larger than fp16", in_bytes(gradients)), "remove it"});
    const std::uint64_t whole = model.gradient_bytes();
    if (!compression.any() || whole == 0 || contributed_bytes(model, plan) < whole) return;
    if (compression.kind == Compression::Kind::top_k)
        complaints.push_back(
            {"compression.top_k.ratio", "values and indices have as many bytes as all gradients",
             fmt::format("write less than {:.2g}", gradients / (gradients + compression.index_bytes))});
    else
        complaints.push_back(
            {"compression.powersgd.rank",
             fmt::format("no matrix of '{}' is larger than its factors of rank {}", model.name, compression.rank),
             "write a smaller rank, or remove `compression`; layers of which only the number of parameters is known "
             "have no matrices"});
}

}  // namespace syncline
