#include "sim/planning/remedies.hpp"

#include <fmt/format.h>

#include <optional>

#include "sim/base/units.hpp"
#include "sim/lowering/offload.hpp"
#include "sim/output/memory_text.hpp"

namespace syncline::planning {

namespace {

/// Returns the plan with the least memory among those that fit on `ranks` ranks.
std::optional<Closest> least_on(const Cluster& cluster, const Model& model, Plan base, const OpenPlan& open,
                                const Effort& effort, std::int64_t ranks) {
    base.ranks = ranks;
    std::optional<Closest> least;
    Reasons skipped;
    const auto keep = [&](const Candidate& candidate) {
        if (!least || candidate.memory.total_bytes() < least->memory.total_bytes())
            least = {candidate.choice, candidate.memory};
        return Judged{candidate.memory.total_bytes()};
    };
    const auto needs = [](const Candidate& candidate) { return Judged{candidate.memory.total_bytes()}; };
    each_candidate(cluster, model, base, open, effort, keep, needs, skipped);
    return least;
}

}  // namespace

std::vector<std::string> remedies(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                                  const Effort& effort, const Closest& closest) {
    const std::string needed = format_quantity(closest.memory.total_bytes(), Dimension::bytes);
    std::vector<std::string> result{fmt::format("the plan that needs the least memory, {}, {}",
                                                words_of(closest.choice, base),
                                                text::shortage(closest.memory, cluster.device.name))};
    if (base.recomputation != Recomputation::full && !open.recomputation) {
        Plan again = base;
        again.recomputation = Recomputation::full;
        if (const auto fitting = least_on(cluster, model, again, open, effort, base.ranks))
            result.push_back(fmt::format("with `recomputation: full`, `parallelism: {}` would need {}",
                                         text_of(fitting->choice, again),
                                         format_quantity(fitting->memory.total_bytes(), Dimension::bytes)));
    }
    if (base.offload == Offload::none && gives_host_bandwidths(cluster)) {
        Plan offloaded = base;
        offloaded.offload = Offload::optimizer;
        if (const auto fitting = least_on(cluster, model, offloaded, open, effort, base.ranks))
            result.push_back(fmt::format("with `offload: optimizer`, {} would need {}, and {} in the host's memory",
                                         words_of(fitting->choice, offloaded),
                                         format_quantity(fitting->memory.total_bytes(), Dimension::bytes),
                                         format_quantity(*fitting->memory.host_bytes, Dimension::bytes)));
    }
    constexpr std::int64_t most_times = 8;
    for (std::int64_t times = 2; times <= most_times; times *= 2) {
        Plan more = base;
        more.ranks = times * base.ranks;
        const auto fitting = least_on(cluster, model, more, open, effort, more.ranks);
        if (!fitting) continue;
        result.push_back(fmt::format("with {} ranks, {} would need {}", more.ranks, words_of(fitting->choice, more),
                                     format_quantity(fitting->memory.total_bytes(), Dimension::bytes)));
        break;
    }
    result.push_back(base.ranks == 1 ? fmt::format("1 rank needs a device with at least {}", needed)
                                     : fmt::format("{} ranks need devices with at least {}", base.ranks, needed));
    return result;
}

}  // namespace syncline::planning
