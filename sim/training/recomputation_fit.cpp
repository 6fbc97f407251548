#include <fmt/format.h>

#include "sim/training/feasibility_parts.hpp"

namespace syncline {

void judge_recomputation(const Model& model, const Plan& plan, Complaints& complaints) {
    if (plan.recomputation != Recomputation::selective) return;
    if (!is_transformer(model))
        complaints.push_back(
            {"recomputation",
             fmt::format("workload '{}' has no attention whose scores could be recomputed", model.name),
             "`recomputation: full` recomputes the layers of any model"});
    else if (plan.parallelism.layout.context > 1 && stores_scores(model))
        complaints.push_back(
            {"recomputation",
             "scores among ranks that divide a sequence need the keys and values of the others once more",
             "write `recomputation: full`, or `attention: flash` in the workload"});
    else if (plan.compute == ComputeKind::measured)
        complaints.push_back({"recomputation",
                              "measured times of layers do not say how much of them is for attention's scores",
                              "write `recomputation: full`, or `compute: roofline`"});
}

}  // namespace syncline
