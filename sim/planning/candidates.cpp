#include "sim/planning/candidates.hpp"

#include <algorithm>
#include <memory>
#include <string>

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

/// Returns whether the choices differ in their recomputation alone.
bool same_split(const Choice& a, const Choice& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin());
}

}  // namespace

std::int64_t each_candidate(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                            const std::function<void(const Candidate&)>& fits,
                            const std::function<void(const Candidate&)>& too_large, Reasons& skipped) {
    std::int64_t considered = 0;
    Choice settled;      // the last choice that more recomputation does not make better ...
    std::string reason;  // ... and why not
    const Space space{model, base.ranks, open.batch, cluster.node.devices, open.recomputation};
    each_choice(space, base, [&](const Choice& choice, const Plan& plan) {
        ++considered;
        if (same_split(choice, settled)) return skipped.add(reason, words_of(choice, base));
        std::shared_ptr<const Lowered> lowered;
        const Complaints complaints = lower_or_complain(cluster, model, plan, open.batch, lowered);
        if (!complaints.empty()) {
            const std::string& message = complaints.front().message;
            // More recomputation does not mend what is wrong with the rest of a plan.
            if (complaints.front().key != "recomputation") {
                settled = choice;
                reason = message;
            }
            return skipped.add(message, words_of(choice, base));
        }
        const Candidate candidate{choice, *lowered, memory_of(*lowered)};
        if (!candidate.memory.fits()) return too_large(candidate);
        settled = choice;
        reason = "fits with less recomputation";
        fits(candidate);
    });
    return considered;
}

}  // namespace syncline::planning
