#include "sim/lowering/input_load.hpp"

#include <algorithm>
#include <map>

#include "sim/workload/sample_tokens.hpp"

namespace syncline {

double input_load_seconds(const Lowered& training) {
    constexpr double token_bytes = 4;
    const Plan& plan = training.plan;
    const double sample_bytes = plan.loading->bytes_per_sample
                                    ? *plan.loading->bytes_per_sample
                                    : token_bytes * tokens_per_sample(training.model).value_or(0);
    const double batch_bytes = static_cast<double>(plan.global_batch()) * sample_bytes;
    const Storage& storage = training.cluster.storage;
    double seconds = batch_bytes / *storage.read_Bps;
    if (!storage.node_Bps) return seconds;
    const std::uint32_t ranks = training.arrangement.stage_ranks;
    std::map<std::uint32_t, double> bytes;  // by node
    for (std::uint32_t rank = 0; rank < ranks; ++rank) bytes[training.places[rank].node] += batch_bytes / ranks;
    for (const auto& [node, read] : bytes) seconds = std::max(seconds, read / *storage.node_Bps);
    return seconds;
}

double with_input_load(const Lowered& training, double iteration_s) {
    if (!training.plan.loading) return iteration_s;
    const double load_s = training.input_load_s;
    const double copy_s = training.plan.input_copy == InputCopy::overlapped ? training.input_copy_s : 0;
    const auto under_way = static_cast<double>(training.plan.loading->prefetch + 1);
    return std::max({iteration_s, load_s, (iteration_s + load_s + copy_s) / under_way});
}

}  // namespace syncline
