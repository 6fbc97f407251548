#include "sim/lowering/compressed.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/transformer.hpp"

namespace syncline {

namespace {

std::uint64_t whole(double bytes) {
    return static_cast<std::uint64_t>(std::ceil(bytes));
}

/// Times of passes over memory.
class Passage {
public:
    Passage(const Compression& compression, const Codec& codec)
        : Bps_(compression.codec_Bps > 0 ? compression.codec_Bps : codec.memory_Bps),
          least_s_(codec.kernel_latency_s) {}

    double seconds(double bytes) const { return bytes > 0 ? std::max(bytes / Bps_, least_s_) : 0; }

private:
    double Bps_, least_s_;
};

Compressed powersgd(const Compression& compression, const Layer& layer, double element, const Passage& passage) {
    double matrices = 0, left = 0, right = 0;  // elements of M, P and Q
    for (const Matrix& matrix : matrices_of(layer)) {
        const auto rows = static_cast<double>(matrix.rows), columns = static_cast<double>(matrix.columns);
        const auto rank = static_cast<double>(compression.rank);
        if ((rows + columns) * rank >= rows * columns) continue;
        matrices += rows * columns;
        left += rows * rank;
        right += columns * rank;
    }
    const double rest = static_cast<double>(layer.parameters) - matrices;
    const double pass = (matrices + left + right) * element;
    return {whole((left + rest) * element), whole(right * element), passage.seconds(pass), passage.seconds(pass),
            passage.seconds(pass)};
}

struct MatricesOf {
    using Matrices = std::vector<Matrix>;

    Matrices operator()(const Custom&) const { return {}; }
    Matrices operator()(const Convolution& conv) const {
        return {{conv.filters, conv.channels / conv.groups * conv.kernel[0] * conv.kernel[1]}};
    }
    Matrices operator()(const Dense& dense) const {
        return dense.tied ? Matrices{} : Matrices{{dense.outputs, dense.inputs}};
    }
    static Matrices all(const std::vector<WeightMatrix>& weights) {
        Matrices matrices;
        for (const WeightMatrix& weight : weights)
            matrices.push_back({static_cast<std::int64_t>(weight.inputs), static_cast<std::int64_t>(weight.outputs)});
        return matrices;
    }
    Matrices operator()(const Attention& attention) const { return all(weight_matrices(attention)); }
    Matrices operator()(const FeedForward& forward) const { return all(weight_matrices(forward)); }
    Matrices operator()(const ParallelBlock& block) const {
        Matrices matrices = (*this)(block.attention);
        for (const Matrix& matrix : (*this)(block.forward)) matrices.push_back(matrix);
        return matrices;
    }
    Matrices operator()(const Experts& experts) const {
        Matrices matrices{{experts.width, experts.experts}};
        const auto add = [&](std::int64_t number, std::int64_t hidden) {
            const Matrices expert = (*this)(FeedForward{experts.positions, experts.width, hidden, experts.gated});
            for (std::int64_t i = 0; i < number; ++i) matrices.insert(matrices.end(), expert.begin(), expert.end());
        };
        add(experts.experts, experts.hidden);
        add(experts.shared, experts.shared_hidden);
        return matrices;
    }
    Matrices operator()(const Embedding& embedding) const {
        Matrices tables{{embedding.vocabulary, embedding.width}};
        if (embedding.learned_positions) tables.push_back({embedding.positions, embedding.width});
        if (embedding.segments > 0) tables.push_back({embedding.segments, embedding.width});
        return tables;
    }
    Matrices operator()(const EmbeddingBag& bag) const { return {{bag.rows, bag.width}}; }
    Matrices operator()(const PatchEmbedding& patches) const { return {{patches.outputs, patches.inputs()}}; }
};

}  // namespace

std::vector<Matrix> matrices_of(const Layer& layer) {
    std::vector<Matrix> matrices = std::visit(MatricesOf{}, layer.shape);
    std::int64_t elements = 0;
    for (const Matrix& matrix : matrices) elements += matrix.rows * matrix.columns;
    // A layer that was given fewer parameters than its shape has is not taken apart.
    if (elements > layer.parameters) matrices.clear();
    return matrices;
}

Compressed compress(const Compression& compression, const Model& model, const Layer& layer, std::uint32_t ranks,
                    const Codec& codec, double part) {
    const Passage passage(compression, codec);
    const double element = gradient_element(model);
    const double parameters = std::ceil(static_cast<double>(layer.parameters) * part);
    const double gradients = parameters * element;
    if (layer.parameters == 0) return {};
    switch (compression.kind) {
        case Compression::Kind::none:
            break;
        case Compression::Kind::fp16: {
            constexpr double half = 2;
            const double pass_s = passage.seconds(gradients + parameters * half);
            return {whole(parameters * half), 0, pass_s, 0, pass_s};
        }
        case Compression::Kind::top_k: {
            const double sent = std::ceil(compression.ratio * parameters) * (element + compression.index_bytes);
            return {whole(sent), 0, passage.seconds(gradients + sent), 0, passage.seconds(gradients + ranks * sent)};
        }
        case Compression::Kind::powersgd:
            return powersgd(compression, layer, element, passage);
    }
    return {whole(gradients)};
}

}  // namespace syncline
