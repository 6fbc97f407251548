#include "sim/analysis/scaling.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "sim/analysis/observed.hpp"
#include "sim/base/units.hpp"
#include "sim/lowering/device_memory.hpp"

namespace syncline {

const char* name_of(Scaling scaling) {
    return scaling == Scaling::weak ? "weak" : "strong";
}

Plan one_rank(const Plan& plan) {
    Plan one = plan;
    one.ranks = 1;
    one.batch_per_rank = plan.scaling == Scaling::strong ? plan.global_batch() : plan.batch_per_rank;
    one.parallelism = {};
    one.noise = {.seed = plan.noise.seed};  // of the same documents
    if (one.documents) one.documents->evened_out = plan.global_batch();
    return one;
}

std::vector<Reference> references_of(const Lowered& training) {
    const Plan plan = one_rank(training.plan);
    const Cluster sound = without_faults(training.cluster);
    if (training.kinds.empty()) return {{lower(sound, training.model, plan), training.plan.ranks}};
    std::map<std::size_t, std::int64_t> ranks;  // by kind of node
    for (const RankKind& kind : training.kinds) ranks[kind.node_kind] += kind.ranks;
    std::vector<Reference> references;
    for (const auto& [kind, count] : ranks) {
        Cluster cluster = sound;
        cluster.device = training.cluster.device_of(kind);
        cluster.others.clear();
        references.push_back({lower(std::move(cluster), training.model, plan), count});
    }
    return references;
}

bool holds_model(const Lowered& one) {
    const Memory memory = memory_of(one);
    return !memory.device_bytes || memory.total_bytes() - memory.activations_bytes <= *memory.device_bytes;
}

std::optional<double> scaling_efficiency(const Plan& plan, double iteration_s, double one_rank_s) {
    if (iteration_s <= 0 || one_rank_s <= 0) return std::nullopt;
    const double samples = static_cast<double>(plan.used_batch()) / static_cast<double>(plan.ranks);
    return samples / static_cast<double>(one_rank(plan).batch_per_rank) * one_rank_s / iteration_s;
}

std::vector<std::string> scaling_notes(const Lowered& training, const Lowered& one,
                                       const std::optional<double>& efficiency) {
    if (!efficiency) return {"no scaling efficiency: an iteration takes no time"};
    const Memory memory = memory_of(one);
    if (training.plan.ranks == 1 || memory.fits()) return {};
    return {
        fmt::format("scaling efficiency compares with one rank and a batch of {}, which does not fit into its device's "
                    "memory: {} of {}",
                    one.plan.batch_per_rank, format_quantity(memory.total_bytes(), Dimension::bytes),
                    format_quantity(*memory.device_bytes, Dimension::bytes))};
}

}  // namespace syncline
