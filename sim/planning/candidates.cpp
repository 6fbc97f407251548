#include "sim/planning/candidates.hpp"

#include "sim/training/feasibility.hpp"

namespace syncline::planning {

namespace {

/// Returns the complaints about the plan, or lowers it.
Complaints lower_or_complain(const Cluster& cluster, const Model& model, Plan plan, std::int64_t batch,
                             std::shared_ptr<const Lowered>& lowered) {
    OpenPlan open;
    open.batch = batch;
    Complaints complaints = settle(plan, open);
    if (!complaints.empty()) return complaints;
    Feasibility found = judge(cluster, model, plan);
    lowered = std::move(found.lowered);
    if (found.complaints.empty() && !lowered) lowered = std::make_shared<const Lowered>(lower(cluster, model, plan));
    return std::move(found.complaints);
}

}  // namespace

std::int64_t each_candidate(const Cluster& cluster, const Model& model, const Plan& base, std::int64_t batch,
                            const std::function<void(const Candidate&)>& fits,
                            const std::function<void(const Candidate&)>& too_large, Reasons& skipped) {
    std::int64_t considered = 0;
    each_choice({model, base.ranks, batch}, base, [&](const Choice& choice, const Plan& plan) {
        ++considered;
        std::shared_ptr<const Lowered> lowered;
        const Complaints complaints = lower_or_complain(cluster, model, plan, batch, lowered);
        if (!complaints.empty()) return skipped.add(complaints.front().message, text_of(choice, base));
        const Candidate candidate{choice, *lowered, memory_of(*lowered)};
        (candidate.memory.fits() ? fits : too_large)(candidate);
    });
    return considered;
}

}  // namespace syncline::planning
