#include "sim/lowering/document_work.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/lowering/document_packing.hpp"
#include "sim/lowering/recomputed_spans.hpp"

namespace syncline {

double scores_of(const Attention& attention, std::int64_t tokens) {
    const auto n = static_cast<double>(tokens);
    const double reach = attention.window > 0 ? std::min(n, static_cast<double>(attention.window)) : n;
    if (!attention.causal) return n * reach;
    return reach * (reach + 1) / 2 + (n - reach) * reach;
}

DocumentWork document_work(const Model& model, const Plan& plan) {
    const Documents& documents = *plan.documents;
    DocumentWork work;
    std::vector<const Attention*> masks;  // by kind
    for (const Layer& layer : model.layers) {
        const Attention* const attention = attention_of(layer);
        work.kinds.push_back(DocumentWork::none);
        if (attention == nullptr) continue;
        const auto same = std::ranges::find_if(masks, [&](const Attention* mask) {
            return mask->causal == attention->causal && mask->window == attention->window;
        });
        work.kinds.back() = static_cast<std::uint32_t>(same - masks.begin());
        if (same == masks.end()) masks.push_back(attention);
    }
    if (masks.empty()) throw std::logic_error("documents: the model has no attention");

    const std::int64_t positions = masks.front()->positions;
    const bool even = documents.evened_out > 0;
    work.replicas = even ? 1 : static_cast<std::uint32_t>(plan.replicas());
    work.micro_batches = even ? 1 : static_cast<std::uint32_t>(plan.parallelism.pipeline.micro_batches);
    const std::size_t all = std::size_t{work.replicas} * work.micro_batches;
    const std::int64_t sequences = even ? documents.evened_out : plan.global_batch();
    const auto iterations = static_cast<std::size_t>(plan.iterations == 1 ? 1 : plan.iterations + 1);
    // Those that are measured: see averaged_iterations().
    const std::size_t first = plan.iterations == 1 || documents.first_counts ? 0 : 1;
    const auto end = static_cast<std::size_t>(plan.iterations);
    const auto size = static_cast<std::size_t>(sequences) / all;  // of a microbatch
    auto factors = std::make_shared<VaryingWork>();
    factors->rows = static_cast<std::uint32_t>(masks.size() * all);
    factors->factors.assign(factors->rows * iterations, 0);
    work.scores.assign(masks.size(), 0);
    double tokens = 0;
    Packer packer(documents, plan.noise.seed, positions);
    for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
        const std::vector<PackedSequence> packed = packer.next(sequences, work.replicas);
        for (std::size_t number = 0; number < packed.size(); ++number) {
            if (first <= iteration && iteration < end)
                for (const std::int64_t document : packed[number]) tokens += static_cast<double>(document);
            for (std::size_t kind = 0; kind < masks.size(); ++kind) {
                double scores = 0;
                if (documents.packing == Packing::padded)
                    scores = scores_of(*masks[kind], positions);
                else
                    for (const std::int64_t document : packed[number]) scores += scores_of(*masks[kind], document);
                scores /= scores_of(*masks[kind], positions) * static_cast<double>(size);
                const std::size_t row = kind * all + number / size;
                factors->factors[iteration * factors->rows + row] += scores;
            }
        }
    }
    const auto measured = static_cast<double>(end - first);
    const double packs = measured * static_cast<double>(all);
    bool equal = true;
    for (std::size_t kind = 0; kind < masks.size(); ++kind) {
        const auto each = [&](std::size_t from, std::size_t to, auto visit) {
            for (std::size_t iteration = from; iteration < to; ++iteration)
                for (std::size_t pack = 0; pack < all; ++pack)
                    visit(factors->factors[iteration * factors->rows + kind * all + pack]);
        };
        double& mean = work.scores[kind];
        each(first, end, [&](double factor) { mean += factor / packs; });
        each(0, iterations, [&](double& factor) {
            factor /= mean;
            constexpr double rounding = 1e-9;
            equal = equal && std::abs(factor - 1) < rounding;
        });
    }
    work.padding = 1 - tokens / (static_cast<double>(sequences) * measured * static_cast<double>(positions));
    if (!equal && !even) work.varying = std::move(factors);
    return work;
}

}  // namespace syncline
