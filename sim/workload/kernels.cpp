#include "sim/workload/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/workload/autocast.hpp"
#include "sim/workload/pass_kernels.hpp"

namespace syncline {

namespace {

/// The matrices of a convolution, or of the filters that a rank holds.
struct ConvolutionMatrices {
    std::int64_t groups;  ///< number of groups that have filters here
    double filters, patch, pixels;

    ConvolutionMatrices(const Convolution& conv, const Share& share)
        // Rounding can turn a whole number of groups into slightly more.
        : groups(std::max<std::int64_t>(
              1, static_cast<std::int64_t>(std::ceil(real(conv.groups) * share.fraction - 1e-9)))),
          filters(real(conv.filters) * share.fraction / real(groups)),
          patch(real(conv.channels / conv.groups) * real(conv.kernel[0] * conv.kernel[1])),
          pixels(share.samples * share.area * real(output_size(conv, 0)) * real(output_size(conv, 1))) {}
};

/// Returns one kernel for the whole pass.
Kernel whole(const Layer& layer, const Share& share, double weights) {
    const double flops = 2 * real(layer.macs) * share.samples * share.fraction * share.area;
    const double inputs = real(layer.inputs) * share.area;
    const double outputs = real(layer.activations) * share.area * share.fraction;
    return {layer.name, flops, (inputs + outputs) * share.samples + weights * share.fraction};
}

/// Returns the product of a pass: in the forward pass weights of `outputs` × `inputs` times a matrix of `rows` columns.
MatrixProduct product_of(Pass pass, double outputs, double rows, double inputs, double batch = 1) {
    if (pass == Pass::weight_gradient) return {outputs, inputs, rows, batch};
    if (pass == Pass::input_gradient) return {inputs, rows, outputs, batch};
    return {outputs, rows, inputs, batch};
}

struct Lowered {
    const Layer& layer;
    Pass pass;
    const Share& share;
    Lowering lowering;
    const Operations& operations;

    std::vector<Kernel> operator()(const Custom&) const { return {whole(layer, share, real(layer.parameters))}; }

    std::vector<Kernel> operator()(const Convolution& conv) const {
        if (lowering == Lowering::launched) return launched(conv);
        const ConvolutionMatrices matrices(conv, share);
        const auto& [groups, filters, patch, pixels] = matrices;
        if (lowering == Lowering::implicit) {
            Kernel kernel = whole(layer, share, real(layer.parameters));
            kernel.product = product_of(pass, filters, pixels, patch, real(groups));
            return {kernel};
        }
        const double copied = real(groups) * patch * pixels;
        Kernel product = gemm("GEMM", filters, pixels, patch);
        product.count = groups;
        if (pass == Pass::forward) return {moving("im2col", copied), product};
        if (pass == Pass::weight_gradient) return {product};
        return {product, {"col2im", copied, copied}};
    }

    std::vector<Kernel> operator()(const Dense& dense) const {
        std::vector<Kernel> result = kernels_of(dense);
        if (!operations.autocast) return result;
        const double values = share.samples * share.area * real(dense.positions) * share.positions * real(dense.inputs);
        return autocast(std::move(result), pass, values, 0, operations.separate());
    }

    std::vector<Kernel> kernels_of(const Dense& dense) const {
        const double rows = share.samples * share.area * real(dense.positions), inputs = real(dense.inputs);
        Kernel product = gemm("GEMM", rows, real(dense.outputs) * share.fraction, inputs);
        if (lowering != Lowering::im2col) {
            // Tied weights are counted where they belong, but are read here too.
            const std::int64_t tied = dense.tied ? dense.inputs * dense.outputs : 0;
            product = whole(layer, share, real(layer.parameters + tied));
            product.product = product_of(pass, real(dense.outputs) * share.fraction, rows, inputs);
        }
        const double between = rows * share.positions;
        std::vector<Kernel> result;
        product.weights = pass == Pass::weight_gradient;
        if (pass == Pass::weight_gradient) return with_cast({product});
        const bool normed = dense.norm != Norm::none, followed_by_loss = !dense.gathered;
        const double logits = rows * real(dense.outputs) * share.fraction;
        if (pass == Pass::forward) {
            if (normed) result.push_back(normalisation(dense.norm, between, inputs));
            result.push_back(product);
            if (followed_by_loss) append(result, loss(logits));
            return with_cast(std::move(result));
        }
        if (followed_by_loss) result = loss_gradient(logits);
        result.push_back(product);
        if (normed) result.push_back(normalisation_gradient(dense.norm, between, inputs));
        return result;
    }

    std::vector<Kernel> operator()(const Attention& attention) const {
        return syncline::kernels_of(attention, pass, share, operations);
    }
    std::vector<Kernel> operator()(const FeedForward& forward) const {
        return syncline::kernels_of(forward, pass, share, operations);
    }
    std::vector<Kernel> operator()(const ParallelBlock& block) const {
        return syncline::kernels_of(block, pass, share, operations);
    }
    std::vector<Kernel> operator()(const Experts& experts) const {
        return syncline::kernels_of(experts, pass, share, lowering == Lowering::launched);
    }

    std::vector<Kernel> operator()(const Embedding& embedding) const {
        const double rows = share.samples * real(embedding.positions), width = real(embedding.width);
        const double states = rows * width, table = real(embedding.vocabulary) * width * share.fraction;
        const int added = (embedding.learned_positions ? 1 : 0) + (embedding.segments > 0 ? 1 : 0);
        const bool normed = embedding.norm != Norm::none;
        std::vector<Kernel> result;
        // In its rows a rank finds its part of the tokens; it writes zeros for the others.
        if (pass == Pass::forward) {
            result = {moving("rows", (1 + share.fraction + added) * states)};
            if (normed) result.push_back(normalisation(embedding.norm, rows * share.positions, width));
            if (embedding.dropout) result.push_back(dropout(states * share.positions));
        } else if (pass == Pass::weight_gradient) {
            if (embedding.dropout) result = {dropout_gradient(states * share.positions)};
            if (normed) result.push_back(normalisation_gradient(embedding.norm, rows * share.positions, width));
            result.push_back(moving("clearing", table));
            result.push_back(moving("rows", 3 * states * share.fraction, Pointwise::embedding_gradient));
        }
        return result;
    }

    std::vector<Kernel> operator()(const EmbeddingBag& bag) const {
        const double width = real(bag.width), rows = share.samples * real(bag.lookups) * share.fraction;
        if (pass == Pass::forward) return {moving("rows", (rows + share.samples * real(bag.tables)) * width)};
        if (pass == Pass::weight_gradient) return {moving("rows", 3 * rows * width)};
        return {};
    }

    std::vector<Kernel> operator()(const PatchEmbedding& patches) const {
        Kernel kernel = whole(layer, share, real(layer.parameters));
        kernel.product = product_of(pass, real(patches.outputs) * share.fraction,
                                    share.samples * real(patches.patches()), real(patches.inputs()));
        kernel.weights = pass == Pass::weight_gradient;
        return with_cast({kernel});
    }

private:
    /// Adds the cast of weights, before the forward pass and after the gradient of the weights.
    std::vector<Kernel> with_cast(std::vector<Kernel> result) const {
        if (lowering != Lowering::launched || pass == Pass::input_gradient) return result;
        Kernel cast = moving("cast", real(layer.parameters) * share.fraction);
        cast.cast = true;
        result.insert(pass == Pass::forward ? result.begin() : result.end(), cast);
        return result;
    }

    /// Returns the convolution's own kernel.
    Kernel convolved(const Convolution& conv) const {
        const ConvolutionMatrices matrices(conv, share);
        Kernel kernel = whole(layer, share, real(layer.parameters));
        if (conv.groups > 1 && conv.groups == conv.channels) {
            constexpr ImageKernel kinds[] = {ImageKernel::depthwise, ImageKernel::depthwise_weight_gradient,
                                             ImageKernel::depthwise_input_gradient};
            kernel.flops = 0;  // additions and products of units without matrices, which its bytes outlast
            // Every rank reads the channels of its own filters.
            kernel.elements -= real(layer.inputs) * share.area * share.samples * (1 - share.fraction);
            kernel.image = ImageWork{kinds[static_cast<int>(pass)], std::sqrt(real(conv.kernel[0] * conv.kernel[1]))};
            return kernel;
        }
        constexpr ConvolutionPass passes[] = {ConvolutionPass::forward, ConvolutionPass::weights,
                                              ConvolutionPass::inputs};
        const auto groups = real(matrices.groups);
        kernel.product = product_of(pass, matrices.filters, matrices.pixels, matrices.patch, groups);
        kernel.convolution = ConvolutionWork{passes[static_cast<int>(pass)],
                                             conv.kernel[0] * conv.kernel[1] == 1,
                                             {matrices.filters, matrices.pixels, matrices.patch, groups}};
        return kernel;
    }

    /// Returns a kernel beside the convolution, with the size on which its rate depends.
    static Kernel beside(std::string name, ImageKernel kind, double size, double elements, double bytes = 0) {
        Kernel kernel = moving(std::move(name), elements, bytes);
        kernel.image = ImageWork{kind, size};
        return kernel;
    }

    std::vector<Kernel> pooling_of_inputs(const Convolution& conv) const {
        const Pooling& pooling = conv.pooling;
        if (pooling.kind == Pooling::Kind::none) return {};
        const bool maximum = pooling.kind == Pooling::Kind::maximum, forward = pass == Pass::forward;
        const double pooled = share.samples * share.area * real(layer.inputs);
        const double inputs = pooled * real(pooling.step() * pooling.step());
        constexpr double index_bytes = 8;
        const ImageKernel kind = maximum ? (forward ? ImageKernel::max_pool : ImageKernel::max_pool_gradient)
                                         : (forward ? ImageKernel::average_pool : ImageKernel::average_pool_gradient);
        return {beside("pooling", kind, real(pooling.window), inputs + pooled, maximum ? index_bytes * pooled : 0)};
    }

    std::vector<Kernel> launched(const Convolution& conv) const {
        const double inputs = share.samples * share.area * real(layer.inputs);
        const double outputs = share.samples * share.area * share.fraction * real(layer.activations);
        const double channels = std::max(1.0, real(conv.filters) * share.fraction);
        std::vector<Kernel> result;
        if (pass == Pass::forward) {
            result = pooling_of_inputs(conv);
            result.push_back(convolved(conv));
            if (conv.bias) result.push_back(beside("bias", ImageKernel::bias, channels, 2 * outputs));
            if (conv.batch_norm)
                result.push_back(beside("batch normalisation", ImageKernel::batch_norm, channels, 3 * outputs));
            if (conv.residual) result.push_back(moving("residual addition", 3 * outputs));
            if (conv.activation) result.push_back(moving("ReLU", 2 * outputs));
            if (conv.joined) result.push_back(moving("concatenation", 2 * outputs));
        } else if (pass == Pass::weight_gradient) {
            if (conv.activation) result.push_back(moving("ReLU", 3 * outputs));
            if (conv.batch_norm)
                result.push_back(
                    beside("batch normalisation", ImageKernel::batch_norm_gradient, channels, 5 * outputs));
            if (conv.bias) result.push_back(beside("bias", ImageKernel::bias_gradient, channels, outputs));
            result.push_back(convolved(conv));
        } else {
            result = {convolved(conv)};
            append(result, pooling_of_inputs(conv));
            if (conv.shared_input) result.push_back(moving("addition of gradients", 3 * inputs));
        }
        return with_cast(std::move(result));
    }
};

}  // namespace

std::vector<Kernel> kernels(const Layer& layer, Pass pass, const Share& share, Lowering lowering,
                            Operations operations) {
    Share own = share;
    // A part of a sequence is computed like that part of the samples.
    if (!std::holds_alternative<Convolution>(layer.shape)) own.samples *= std::exchange(own.area, 1);
    return std::visit(Lowered{layer, pass, own, lowering, operations}, layer.shape);
}

double flop_of(const std::vector<Kernel>& kernels) {
    double flop = 0;
    for (const Kernel& kernel : kernels) flop += kernel.flops * static_cast<double>(kernel.count);
    return flop;
}

bool has_input_gradient(const Model& model, std::size_t layer) {
    const LayerShape& shape = model.layers[layer].shape;
    if (std::holds_alternative<Embedding>(shape) || std::holds_alternative<EmbeddingBag>(shape)) return false;
    return layer > 0 || std::holds_alternative<Attention>(shape) || std::holds_alternative<FeedForward>(shape) ||
           std::holds_alternative<ParallelBlock>(shape) || std::holds_alternative<Experts>(shape);
}

}  // namespace syncline
