#include "sim/analysis/work_balance.hpp"

#include <algorithm>
#include <vector>

namespace syncline {

std::optional<WorkBalance> work_balance(const Lowered& training, std::uint32_t first, std::uint32_t last) {
    if (!training.arrangement.documents) return std::nullopt;
    const DocumentWork& documents = *training.arrangement.documents;
    double fixed_s = 0, scores = 0;
    std::vector<double> core_s(documents.scores.size(), 0);      // by kind
    std::vector<std::uint32_t> one(documents.scores.size(), 0);  // a layer of each kind
    for (std::uint32_t layer = 0; layer < training.arrangement.layers.size(); ++layer) {
        const PlacedLayer& placed = training.arrangement.layers[layer];
        const double all_s = placed.time.forward_s + placed.time.backward_s() + placed.recompute_s;
        const std::uint32_t kind = documents.kinds[layer];
        const double own_s = kind == DocumentWork::none ? 0
                                                        : placed.time.core_forward_s * (placed.recomputed ? 2 : 1) +
                                                              placed.time.core_backward_s;
        fixed_s += all_s - own_s;
        if (kind == DocumentWork::none) continue;
        core_s[kind] += own_s;
        one[kind] = layer;
        scores += documents.scores[kind];
    }
    const auto layers = std::ranges::count_if(documents.kinds, [](auto kind) { return kind != DocumentWork::none; });
    WorkBalance balance;
    balance.attention = scores / static_cast<double>(layers);
    balance.padding = documents.padding;
    if (!documents.varying) return balance;
    const double iterations = last - first + 1;
    balance.micro_batches = balance.replicas = balance.heaviest = 0;
    for (std::uint32_t iteration = first; iteration <= last; ++iteration) {
        double sum_s = 0, longest_s = 0, longest_replica_s = 0;
        std::uint32_t replica_of_longest = 0, longest = 0;
        for (std::uint32_t replica = 0; replica < documents.replicas; ++replica) {
            double replica_s = 0;
            for (std::uint32_t micro_batch = 0; micro_batch < documents.micro_batches; ++micro_batch) {
                double work_s = fixed_s;
                for (std::size_t kind = 0; kind < core_s.size(); ++kind)
                    work_s +=
                        core_s[kind] * documents.factor(documents.row(one[kind], replica, micro_batch), iteration);
                replica_s += work_s;
                if (work_s <= longest_s) continue;
                longest_s = work_s;
                replica_of_longest = replica;
                longest = micro_batch;
            }
            sum_s += replica_s;
            longest_replica_s = std::max(longest_replica_s, replica_s);
        }
        if (sum_s == 0) return WorkBalance{balance.attention, balance.padding};
        const double of_mean = longest_s * documents.replicas * documents.micro_batches / sum_s;
        balance.micro_batches += of_mean / iterations;
        balance.replicas += longest_replica_s * documents.replicas / sum_s / iterations;
        if (of_mean <= balance.heaviest) continue;
        balance.heaviest = of_mean;
        balance.heaviest_replica = replica_of_longest;
        balance.heaviest_micro_batch = longest;
    }
    return balance;
}

}  // namespace syncline
