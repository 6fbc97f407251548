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
    const std::int64_t prefetch = training.plan.loading->prefetch;
    if (prefetch == 0) return iteration_s + training.input_load_s;
    const bool joined = prefetch == 1 && training.plan.input_copy == InputCopy::overlapped;
    return std::max(iteration_s, training.input_load_s + (joined ? training.input_copy_s : 0));
}

}  // namespace syncline
