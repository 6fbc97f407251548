#include <fmt/format.h>

#include <algorithm>

#include "sim/lowering/feasibility_parts.hpp"
#include "sim/lowering/segments.hpp"

namespace syncline {

void judge_recomputation(const Model& model, const Plan& plan, Complaints& complaints) {
    const bool operators = plan.recomputation == Recomputation::operators;
    if (plan.recomputation != Recomputation::selective && !operators) return;
    const auto experts = std::ranges::find_if(
        model.layers, [](const Layer& layer) { return std::holds_alternative<Experts>(layer.shape); });
    if (!is_transformer(model))
        complaints.push_back({"recomputation",
                              fmt::format("workload '{}' has no attention whose {} could be recomputed", model.name,
                                          operators ? "products" : "scores"),
                              "`recomputation: full` recomputes the layers of any model"});
    else if (operators && experts != model.layers.end())
        complaints.push_back({"recomputation",
                              fmt::format("layer '{}': experts are no products that `operators` counts", experts->name),
                              "write `recomputation: full`"});
    else if (plan.parallelism.layout.context > 1 && stores_scores(model))
        complaints.push_back(
            {"recomputation",
             "scores among ranks that divide a sequence need the keys and values of the others once more",
             "write `recomputation: full`, or `attention: flash` in the workload"});
    else if (plan.compute == ComputeKind::measured)
        complaints.push_back({"recomputation",
                              fmt::format("measured times of layers do not say how much of them is for {}",
                                          operators ? "single products" : "attention's scores"),
                              "write `recomputation: full`, or `compute: roofline`"});
}

}  // namespace syncline
