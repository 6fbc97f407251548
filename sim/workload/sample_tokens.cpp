#include "sim/workload/sample_tokens.hpp"

namespace syncline {

std::optional<double> tokens_per_sample(const Model& model) {
    for (const Layer& layer : model.layers)
        if (const auto* embedding = std::get_if<Embedding>(&layer.shape))
            return static_cast<double>(embedding->positions);
    return std::nullopt;
}

}  // namespace syncline
