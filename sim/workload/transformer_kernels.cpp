#include <algorithm>
#include <initializer_list>
#include <utility>

#include "sim/workload/autocast.hpp"
#include "sim/workload/pass_kernels.hpp"
#include "sim/workload/transformer.hpp"

namespace syncline {

namespace {

using Kernels = std::vector<Kernel>;

/// Returns the product of a pass with a matrix of weights, for `samples` samples.
Kernel product(const WeightMatrix& matrix, Pass pass, double samples) {
    const double rows = samples * matrix.positions;
    if (pass == Pass::weight_gradient) {
        Kernel gradient = linear(gemm(matrix.name, matrix.inputs, matrix.outputs, rows));
        gradient.weights = true;
        return gradient;
    }
    if (pass == Pass::input_gradient) return linear(gemm(matrix.name, rows, matrix.inputs, matrix.outputs));
    return linear(gemm(matrix.name, rows, matrix.outputs, matrix.inputs));
}

/// Marks a product as one at an edge of a half.
Kernel at(Edge edge, Kernel kernel) {
    kernel.edge = edge;
    return kernel;
}

/// Adds the kernel that sums up the gradients of a matrix's outputs, if it has a bias.
void add_bias_gradient(Kernels& kernels, bool bias, const WeightMatrix& matrix, double samples) {
    if (bias) kernels.push_back(moving("bias gradient", samples * matrix.positions * matrix.outputs));
}

/// The kernels between the projections of a rank's part of the heads.
struct HeadKernels {
    const Attention& attention;
    double samples;
    Operations operations;
    double documents;  ///< Share::scores
    HeadElements own;  ///< of a sample
    double size = real(attention.size()), long_size = size + real(attention.rotary_size);

    HeadKernels(const Attention& shape, const Share& share, const Operations& how)
        : attention(shape),
          samples(share.samples),
          operations(how),
          documents(share.scores),
          own(head_elements(shape, share.fraction)) {}

    /// Return products with the scores as result, and with the scores as a factor.
    Kernel score(const char* name, double inner) const {
        return gemm(name, real(attention.positions), real(attention.seen()), inner, samples * own.heads);
    }
    Kernel value(const char* name, double outer) const {
        return gemm(name, real(attention.positions), outer, real(attention.seen()), samples * own.heads);
    }
    /// Returns the part of the scores that are computed: those of a token and the ones before it in its window. With
    /// s positions and a window of w the first w tokens see 1, 2, … w of them, and the others w.
    double looked_at() const {
        if (!attention.causal || attention.context > 0) return 1;
        return 1 - (real(attention.seen()) - 1) / (2 * real(attention.positions));
    }
    /// Returns a kernel that keeps the scores on the chip, with products over `inner` elements for each score. In
    /// documents of n of a sequence's s positions it computes n/s of the scores, at the rate of a sequence of n.
    Kernel fused(bool backward, double inner, double passes) const {
        Kernel kernel = moving("attention", passes * samples * (own.queries + own.keys + own.values + own.sums));
        kernel.flops = 2 * samples * own.scores * inner * looked_at() * documents;
        kernel.attention = AttentionWork{backward, attention.causal && attention.context == 0, size,
                                         real(attention.seen()) * documents};
        return kernel;
    }

    Kernels forward() const {
        if (attention.scores == Scores::flash) return {fused(false, long_size + size, 1)};
        const double scores = samples * own.scores;
        Kernels result{score("scores", long_size), moving("softmax", 2 * scores, Pointwise::softmax)};
        if (attention.dropout) result.push_back(dropout(scores));
        result.push_back(value("weighted sum", size));
        return result;
    }
    Kernels backward() const {
        if (attention.scores == Scores::flash) return {fused(true, 3 * long_size + 2 * size, 2)};
        const double scores = samples * own.scores;
        Kernels result{score("weighted sum: scores", size), value("weighted sum: values", size)};
        if (attention.dropout) result.push_back(dropout_gradient(scores));
        append(result, {moving("softmax", 3 * scores, Pointwise::softmax_gradient), value("scores: queries", long_size),
                        value("scores: keys", long_size)});
        return result;
    }
    Kernels rotation(bool backward) const {
        if (!attention.rotary) return {};
        const double rotated = attention.rotary_size > 0 ? real(attention.rotary_size) / long_size : 1;
        if (!operations.separate()) return {moving("rotation", 2 * samples * (own.queries + own.keys) * rotated)};
        Kernels result;
        for (const double values : {samples * own.queries * rotated, samples * own.keys * rotated}) {
            const Kernel negation = moving("rotation: negation", values, Pointwise::copy),
                         joined = moving("rotation: concatenation", 2 * values, Pointwise::copy),
                         product = moving("rotation: product", 2 * values, Pointwise::addition);
            if (backward)
                append(result, {product, product, negation, joined});
            else
                append(result, {negation, joined, product, product});
            result.push_back(addition("rotation: sum", 2, values));
        }
        return result;
    }
    /// Returns the kernel that joins the gradients of queries, keys and values, which are views of one product's
    /// outputs.
    Kernels join() const {
        if (!operations.separate()) return {};
        return {moving("gradients of queries, keys and values", 2 * samples * (own.queries + own.keys + own.values),
                       Pointwise::copy)};
    }
};

/// Returns the kernels without the residual addition.
Kernels half(const Attention& attention, Pass pass, const Share& share, const Operations& operations) {
    const HeadKernels heads(attention, share, operations);
    const double between = share.samples * real(attention.positions) * share.positions;
    std::vector<WeightMatrix> matrices = weight_matrices(attention, share.fraction);
    const WeightMatrix projection = matrices.back();
    matrices.pop_back();
    // Matrices behind a latent vector do not read the inputs.
    const auto edge_of = [&](const WeightMatrix& matrix) {
        return matrix.inputs == real(attention.width) ? Edge::inputs : Edge::none;
    };
    Kernels result;
    if (pass == Pass::forward) {
        if (attention.norm != Norm::none)
            result.push_back(normalisation(attention.norm, between, real(attention.width)));
        for (const WeightMatrix& matrix : matrices)
            result.push_back(at(edge_of(matrix), product(matrix, pass, share.samples)));
        append(result, heads.rotation(false));
        append(result, core(heads.forward()));
        result.push_back(at(Edge::outputs, product(projection, pass, share.samples)));
        return result;
    }
    const bool biased = attention.bias && pass == Pass::weight_gradient;
    add_bias_gradient(result, biased, projection, share.samples);
    result.push_back(at(Edge::outputs, product(projection, pass, share.samples)));
    if (pass == Pass::input_gradient) {
        append(result, core(heads.backward()));
        append(result, heads.rotation(true));
        if (matrices.size() == 1) append(result, heads.join());
    }
    for (auto matrix = matrices.rbegin(); matrix != matrices.rend(); ++matrix) {
        add_bias_gradient(result, biased, *matrix, share.samples);
        result.push_back(at(edge_of(*matrix), product(*matrix, pass, share.samples)));
    }
    if (pass == Pass::input_gradient && attention.norm != Norm::none)
        result.push_back(normalisation_gradient(attention.norm, between, real(attention.width)));
    return result;
}

/// Return the kernels of the activation function of a feed-forward half, and of its backward pass.
Kernels activations(const FeedForward& forward, double hidden, const Operations& operations) {
    if (!forward.gated || !operations.separate()) return {activation(forward.gated, hidden)};
    return {activation(false, hidden), addition("product with the gate", 2, hidden)};
}
Kernels activation_gradients(const FeedForward& forward, double hidden, const Operations& operations) {
    if (!forward.gated || !operations.separate()) return {activation_gradient(forward.gated, hidden)};
    const Kernel product = addition("product with the gate", 2, hidden);
    Kernels result{product, product, activation_gradient(false, hidden)};
    if (!forward.merged_gate) return result;
    const Kernel zeros = moving("zeros", hidden, Pointwise::copy),
                 filled = moving("filled up", 4 * hidden, Pointwise::copy);
    append(result, {zeros, filled, zeros, filled, addition("sum of both factors' gradients", 2, 2 * hidden)});
    return result;
}

/// Returns the product of a matrix that computes both factors of a gated layer, or those of two such matrices.
Kernel factors(const FeedForward& forward, WeightMatrix matrix, Pass pass, double samples,
               const Operations& operations) {
    const bool two = forward.gated && !forward.merged_gate && operations.separate();
    if (two) matrix.outputs /= 2;
    Kernel kernel = product(matrix, pass, samples);
    kernel.count = two ? 2 : 1;
    return kernel;
}

/// Returns the kernels without the residual addition.
Kernels half(const FeedForward& forward, Pass pass, const Share& share, const Operations& operations) {
    const std::vector<WeightMatrix> matrices = weight_matrices(forward, share.fraction);
    const double width = real(forward.width), rows = share.samples * real(forward.positions);
    const double hidden = rows * matrices[1].inputs, between = rows * share.positions;
    const Kernel up = at(Edge::inputs, factors(forward, matrices[0], pass, share.samples, operations));
    const Kernel down = at(Edge::outputs, product(matrices[1], pass, share.samples));
    Kernels result;
    switch (pass) {
        case Pass::forward:
            if (forward.norm != Norm::none) result.push_back(normalisation(forward.norm, between, width));
            result.push_back(up);
            append(result, activations(forward, hidden, operations));
            result.push_back(down);
            break;
        case Pass::weight_gradient:
            add_bias_gradient(result, forward.bias, matrices[1], share.samples);
            result.push_back(down);
            add_bias_gradient(result, forward.bias, matrices[0], share.samples);
            result.push_back(up);
            break;
        case Pass::input_gradient:
            result = {down};
            append(result, activation_gradients(forward, hidden, operations));
            result.push_back(up);
            if (up.count > 1) result.push_back(addition("sum of both inputs' gradients", 2, rows * width));
            if (forward.norm != Norm::none) result.push_back(normalisation_gradient(forward.norm, between, width));
    }
    return result;
}

/// Returns the kernels with the addition of branches to the input, or of their gradients. Fused, the kernel that adds a
/// branch drops its values, too, and writes the mask; in the backward pass a kernel of its own drops their gradients.
Kernels with_residual(Kernels kernels, Pass pass, double values, std::initializer_list<bool> dropouts,
                      const Operations& operations) {
    const auto branches = static_cast<double>(dropouts.size());
    const auto dropped = static_cast<double>(std::count(dropouts.begin(), dropouts.end(), true));
    Kernel sum = addition("residual addition", branches + 1, values);
    if (pass == Pass::forward && !operations.separate())
        sum.bytes = dropped * values;
    else if (pass == Pass::forward && dropped > 0)
        kernels.push_back(dropout(dropped * values));
    else if (pass == Pass::input_gradient && dropped > 0)
        kernels.insert(kernels.begin(), dropout_gradient(dropped * values));
    if (pass != Pass::weight_gradient) kernels.push_back(std::move(sum));
    if (!operations.autocast) return kernels;
    return autocast(std::move(kernels), pass, values, dropouts.size(), operations.separate());
}

/// Returns the elements between the halves that a rank works on.
template <class Shape>
double values_between(const Shape& shape, const Share& share) {
    return share.samples * real(shape.positions) * share.positions * real(shape.width);
}

}  // namespace

std::vector<Kernel> kernels_of(const Attention& attention, Pass pass, const Share& share,
                               const Operations& operations) {
    return with_residual(half(attention, pass, share, operations), pass, values_between(attention, share),
                         {attention.dropout}, operations);
}

std::vector<Kernel> kernels_of(const FeedForward& forward, Pass pass, const Share& share,
                               const Operations& operations) {
    return with_residual(half(forward, pass, share, operations), pass, values_between(forward, share),
                         {forward.dropout}, operations);
}

std::vector<Kernel> kernels_of(const ParallelBlock& block, Pass pass, const Share& share,
                               const Operations& operations) {
    Kernels result = half(block.attention, pass, share, operations);
    append(result, half(block.forward, pass, share, operations));
    return with_residual(std::move(result), pass, values_between(block.attention, share),
                         {block.attention.dropout, block.forward.dropout}, operations);
}

}  // namespace syncline
