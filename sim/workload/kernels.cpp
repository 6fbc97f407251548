#include "sim/workload/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline {

namespace {

double real(std::int64_t value) {
    return static_cast<double>(value);
}

/// `batch` products of the same size in one kernel.
Kernel gemm(std::string name, double m, double n, double k, double batch = 1) {
    return {std::move(name), 2 * m * n * k * batch, (m * n + m * k + k * n) * batch, 1, std::min({m, n, k})};
}

/// A kernel that does nothing worth counting to what it moves.
Kernel moving(std::string name, double elements) {
    return {std::move(name), 0, elements};
}

/// The matrices of a convolution, or of the filters of it that a rank has.
struct ConvolutionMatrices {
    std::int64_t groups;  ///< that have filters here
    double filters, patch, pixels;

    ConvolutionMatrices(const Convolution& conv, const Share& share)
        // A part that is a rank's of so many may miss a whole number of groups by a rounding.
        : groups(
              std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(real(conv.groups) * share.part - 1e-9)))),
          filters(real(conv.filters) * share.part / real(groups)),
          patch(real(conv.channels / conv.groups) * real(conv.kernel[0] * conv.kernel[1])),
          pixels(share.samples * share.area * real(output_size(conv, 0)) * real(output_size(conv, 1))) {}
};

/// One kernel for the whole pass.
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
        const double rows = share.samples * share.area * real(dense.positions);
        const Kernel product = gemm("GEMM", rows, real(dense.outputs) * share.part, real(dense.inputs));
        if (lowering == Lowering::im2col) return {product};
        // Tied weights are counted where they belong, and read here too.
        const std::int64_t weights = dense.tied ? dense.inputs * dense.outputs : layer.parameters;
        Kernel kernel = whole(layer, share, real(weights));
        kernel.narrowest = product.narrowest;
        return {kernel};
    }

    std::vector<Kernel> operator()(const Attention& attention) const {
        const double positions = real(attention.positions), width = real(attention.width);
        const double head = width / real(attention.heads), heads = real(attention.heads) * share.part;
        const double rows = share.samples * positions, own = width * share.part, each = share.samples * heads;
        const double states = rows * width, scores = each * positions * positions;
        const auto score = [&](const char* name) { return gemm(name, positions, positions, head, each); };
        const auto value = [&](const char* name) { return gemm(name, positions, head, positions, each); };
        switch (pass) {
            case Pass::forward:
                return {moving("normalisation", 2 * states + 2 * width),
                        gemm("queries, keys and values", rows, 3 * own, width),
                        score("scores"),
                        moving("softmax", 2 * scores),
                        value("weighted sum"),
                        gemm("projection", rows, width, own),
                        moving("residual addition", 3 * states)};
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
                moving("normalisation", 3 * states + 4 * width),
                moving("residual addition", 3 * states)};
    }

    std::vector<Kernel> operator()(const FeedForward& forward) const {
        const double width = real(forward.width), hidden = real(forward.hidden) * share.part;
        const double rows = share.samples * real(forward.positions), states = rows * width;
        switch (pass) {
            case Pass::forward:
                return {moving("normalisation", 2 * states + 2 * width), gemm("to hidden units", rows, hidden, width),
                        moving("GELU", 2 * rows * hidden), gemm("from hidden units", rows, width, hidden),
                        moving("residual addition", 3 * states)};
            case Pass::weight_gradient:
                return {gemm("from hidden units", hidden, width, rows), gemm("to hidden units", width, hidden, rows)};
            case Pass::input_gradient:
                break;
        }
        return {gemm("from hidden units", rows, hidden, width), moving("GELU", 3 * rows * hidden),
                gemm("to hidden units", rows, width, hidden), moving("normalisation", 3 * states + 4 * width),
                moving("residual addition", 3 * states)};
    }

    std::vector<Kernel> operator()(const Embedding& embedding) const {
        const double states = share.samples * real(embedding.positions) * real(embedding.width);
        const double table = real(embedding.vocabulary) * real(embedding.width) * share.part;
        // Of the tokens a rank finds its part in its rows; it writes zeros for the others.
        if (pass == Pass::forward)
            return {moving("rows", (1 + share.part) * states + (embedding.learned_positions ? states : 0))};
        if (pass == Pass::weight_gradient) return {moving("clearing", table), moving("rows", 3 * states * share.part)};
        return {};
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
