#include "sim/explain/explain.hpp"

namespace syncline {

Explanation explain(const Cluster& cluster, const Model& model, const Plan& plan, const ExplainOptions& options,
                    TimelineView* view) {
    (void)view;
    Explanation explanation;
    explanation.result = simulate(cluster, model, plan, options.watch);
    return explanation;
}

}  // namespace syncline
