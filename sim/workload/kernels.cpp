#include "sim/workload/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline {

namespace {

double real(std::int64_t value) {
    return static_cast<double>(value);
}

/// Returns a kernel of `batch` matrix products of the same size.
Kernel gemm(std::string name, double m, double n, double k, double batch = 1) {
    return {std::move(name), 2 * m * n * k * batch, (m * n + m * k + k * n) * batch, 1, std::min({m, n, k})};
}

/// Returns a kernel whose arithmetic is negligible compared with the data it moves.
Kernel moving(std::string name, double elements) {
    return {std::move(name), 0, elements};
}

/// Returns the normalisation of this many vectors of this width, with a scale and a shift.
Kernel normalisation(double vectors, double width) {
    return moving("normalisation", 2 * vectors * width + 2 * width);
}

/// Reads the normalised values and their gradient and writes the gradient of the input; scale and shift have gradients
/// too.
Kernel normalisation_gradient(double vectors, double width) {
    return moving("normalisation", 3 * vectors * width + 4 * width);
}

/// The matrices of a convolution, or of the filters that a rank holds.
struct ConvolutionMatrices {
    std::int64_t groups;  ///< number of groups that have filters here
    double filters, patch, pixels;

    ConvolutionMatrices(const Convolution& conv, const Share& share)
        // Rounding can turn a whole number of groups into slightly more.
        : groups(
              std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(real(conv.groups) * share.part - 1e-9)))),
          filters(real(conv.filters) * share.part / real(groups)),
          patch(real(conv.channels / conv.groups) * real(conv.kernel[0] * conv.kernel[1])),
          pixels(share.samples * share.area * real(output_size(conv, 0)) * real(output_size(conv, 1))) {}
};

/// Returns one kernel for the whole pass.
Kernel whole(const Layer& layer, const Share& share, double weights) {
    const double flops = 2 * real(layer.macs) * share.samples * share.part * share.area;
    const double inputs = real(layer.inputs) * share.area;
    const double outputs = real(layer.activations) * share.area * share.part;
    return {layer.name, flops, (inputs + outputs) * share.samples + weights * share.part};
}

struct Lowered {
    const Layer& layer;
    Pass pass;
    const Share& share;
    Lowering lowering;

    std::vector<Kernel> operator()(const Custom&) const { return {whole(layer, share, real(layer.parameters))}; }

    std::vector<Kernel> operator()(const Convolution& conv) const {
        const ConvolutionMatrices matrices(conv, share);
        const auto& [groups, filters, patch, pixels] = matrices;
        if (lowering == Lowering::implicit) {
            Kernel kernel = whole(layer, share, real(layer.parameters));
            kernel.narrowest = std::min({filters, patch, pixels});
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
        const double rows = share.samples * share.area * real(dense.positions), inputs = real(dense.inputs);
        Kernel product = gemm("GEMM", rows, real(dense.outputs) * share.part, inputs);
        if (lowering == Lowering::implicit) {
            // Tied weights are counted where they belong, but are read here too.
            const std::int64_t tied = dense.tied ? dense.inputs * dense.outputs : 0;
            const double narrowest = product.narrowest;
            product = whole(layer, share, real(layer.parameters + tied));
            product.narrowest = narrowest;
        }
        const double between = rows * share.positions;
        if (dense.norm && pass == Pass::forward) return {normalisation(between, inputs), product};
        if (dense.norm && pass == Pass::input_gradient) return {product, normalisation_gradient(between, inputs)};
        return {product};
    }

    std::vector<Kernel> operator()(const Attention& attention) const {
        const double positions = real(attention.positions), width = real(attention.width);
        const double head = width / real(attention.heads), heads = real(attention.heads) * share.part;
        const double rows = share.samples * positions, own = width * share.part, each = share.samples * heads;
        const double between = rows * share.positions, scores = each * positions * positions;
        const auto score = [&](const char* name) { return gemm(name, positions, positions, head, each); };
        const auto value = [&](const char* name) { return gemm(name, positions, head, positions, each); };
        const auto core = [](Kernel kernel) {
            kernel.core = true;
            return kernel;
        };
        switch (pass) {
            case Pass::forward:
                return {normalisation(between, width),
                        gemm("queries, keys and values", rows, 3 * own, width),
                        core(score("scores")),
                        core(moving("softmax", 2 * scores)),
                        core(value("weighted sum")),
                        gemm("projection", rows, width, own),
                        moving("residual addition", 3 * between * width)};
            case Pass::weight_gradient:
                return {gemm("projection", own, width, rows), gemm("queries, keys and values", width, 3 * own, rows)};
            case Pass::input_gradient:
                break;
        }
        return {gemm("projection", rows, own, width),
                score("weighted sum: scores"),
                value("weighted sum: values"),
                moving("softmax", 3 * scores),
                value("scores: queries"),
                value("scores: keys"),
                gemm("queries, keys and values", rows, width, 3 * own),
                normalisation_gradient(between, width),
                moving("residual addition", 3 * between * width)};
    }

    std::vector<Kernel> operator()(const FeedForward& forward) const {
        const double width = real(forward.width), hidden = real(forward.hidden) * share.part;
        const double rows = share.samples * real(forward.positions), between = rows * share.positions;
        switch (pass) {
            case Pass::forward:
                return {normalisation(between, width), gemm("to hidden units", rows, hidden, width),
                        moving("GELU", 2 * rows * hidden), gemm("from hidden units", rows, width, hidden),
                        moving("residual addition", 3 * between * width)};
            case Pass::weight_gradient:
                return {gemm("from hidden units", hidden, width, rows), gemm("to hidden units", width, hidden, rows)};
            case Pass::input_gradient:
                break;
        }
        return {gemm("from hidden units", rows, hidden, width), moving("GELU", 3 * rows * hidden),
                gemm("to hidden units", rows, width, hidden), normalisation_gradient(between, width),
                moving("residual addition", 3 * between * width)};
    }

    std::vector<Kernel> operator()(const Embedding& embedding) const {
        const double rows = share.samples * real(embedding.positions), width = real(embedding.width);
        const double states = rows * width, table = real(embedding.vocabulary) * width * share.part;
        const int added = (embedding.learned_positions ? 1 : 0) + (embedding.segments > 0 ? 1 : 0);
        std::vector<Kernel> result;
        // In its rows a rank finds its part of the tokens; it writes zeros for the others.
        if (pass == Pass::forward) {
            result = {moving("rows", (1 + share.part + added) * states)};
            if (embedding.norm) result.push_back(normalisation(rows * share.positions, width));
        } else if (pass == Pass::weight_gradient) {
            if (embedding.norm) result = {normalisation_gradient(rows * share.positions, width)};
            result.push_back(moving("clearing", table));
            result.push_back(moving("rows", 3 * states * share.part));
        }
        return result;
    }
};

}  // namespace

std::vector<Kernel> kernels(const Layer& layer, Pass pass, const Share& share, Lowering lowering) {
    return std::visit(Lowered{layer, pass, share, lowering}, layer.shape);
}

bool has_input_gradient(const Model& model, std::size_t layer) {
    const LayerShape& shape = model.layers[layer].shape;
    if (std::holds_alternative<Embedding>(shape)) return false;
    return layer > 0 || std::holds_alternative<Attention>(shape) || std::holds_alternative<FeedForward>(shape);
}

}  // namespace syncline
