#include "sim/workload/alternate.hpp"

#include <iterator>
#include <utility>

#include "sim/workload/pass_kernels.hpp"
#include "sim/workload/real.hpp"

namespace syncline {

namespace {

/// Returns the sum of every second of the numbers; `count` is that of the numbers before, and grows by theirs.
double every_second(const std::vector<double>& outputs, std::size_t& count) {
    double again = 0;
    for (const double own : outputs)
        if (++count % 2 == 0) again += own;
    return again;
}

/// Returns by matrix of the layer's weights the number of outputs that are computed again.
std::vector<double> again_of(const Layer& layer, double part) {
    if (const auto* attention = std::get_if<Attention>(&layer.shape)) return outputs_again(*attention, part);
    if (const auto* forward = std::get_if<FeedForward>(&layer.shape)) return outputs_again(*forward, part);
    const auto* block = std::get_if<ParallelBlock>(&layer.shape);
    if (block == nullptr) return {};
    std::vector<double> again = outputs_again(block->attention, part);
    again.back() = 0;  // no normalisation follows that would read the projection's outputs
    const std::vector<double> more = outputs_again(block->forward, part);
    again.insert(again.end(), more.begin(), more.end());
    return again;
}

}  // namespace

std::vector<double> outputs_again(const Attention& shape, double part) {
    std::vector<double> again;
    std::size_t count = 0;
    const std::vector<WeightMatrix> matrices = weight_matrices(shape, part);
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        std::vector<double> products{matrices[i].outputs};
        // Keys and values are two products, unless they come from one latent vector, and may share their matrix with
        // the queries.
        if (i + 2 == matrices.size() && shape.kv_rank == 0) {
            const double keys = head_elements(shape, part).key_heads * real(shape.size());
            products = {keys, keys};
            const double queries = matrices[i].outputs - 2 * keys;
            if (i == 0) products.insert(products.begin(), queries);
        }
        again.push_back(every_second(products, count));
    }
    return again;
}

std::vector<double> outputs_again(const FeedForward& shape, double part) {
    const double hidden = real(shape.hidden) * part;
    return {shape.gated ? hidden : 0, 0};
}

namespace {

/// Returns the kernels of a layer of experts up to their results: those of the sum of these, and of its addition, are
/// not needed.
std::vector<Kernel> kernels_again_of(const Experts& experts, std::vector<Kernel> forward) {
    forward.resize(forward.size() - (experts.fused_permutation ? 2 : 3));
    if (experts.shared == 0) return forward;
    forward.pop_back();  // the shared experts' output
    // The gate is kept, or without one all hidden units before their activation function.
    const auto up = forward.end() - 2;
    if (experts.gated)
        *up = linear(gemm(up->name, up->product->m, up->product->n / 2, up->product->k, up->product->batch));
    else
        forward.erase(up);
    return forward;
}

}  // namespace

std::vector<Kernel> kernels_again(const Layer& layer, const Share& share, const Operations& operations) {
    if (const auto* experts = std::get_if<Experts>(&layer.shape))
        return kernels_again_of(*experts, kernels(layer, Pass::forward, share, Lowering::implicit, operations));
    const std::vector<double> again = again_of(layer, share.fraction);
    if (again.empty()) return {};
    std::vector<Kernel> forward = kernels(layer, Pass::forward, share, Lowering::implicit, operations), result;
    // The output of a block is the next one's input, which is kept.
    if (!std::holds_alternative<Attention>(layer.shape)) forward.pop_back();
    auto outputs = again.begin();
    for (Kernel& kernel : forward) {
        if (kernel.attention) continue;
        if (!kernel.linear) {
            result.push_back(std::move(kernel));
        } else if (const double own = *outputs++; own > 0) {
            const auto& [rows, all, inputs, batch] = *kernel.product;
            result.push_back(linear(gemm(kernel.name, rows, own, inputs, batch)));
        }
    }
    return result;
}

}  // namespace syncline
