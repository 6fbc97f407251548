#include "sim/planning/divisions.hpp"

#include "sim/lowering/lowered.hpp"
#include "sim/lowering/stage_division.hpp"

namespace syncline::planning {

std::optional<Division> better_division(const Cluster& cluster, const Model& model, const Plan& plan, Prices& prices,
                                        double estimated_s) {
    const Pipeline& pipeline = plan.parallelism.pipeline;
    if (pipeline.virtual_stages == 1 || pipeline.stages == 1 || !pipeline.layers.empty()) return std::nullopt;
    const Arrangement usual = arrange(cluster, model, plan);
    std::vector<std::int64_t> layers;
    for (std::size_t i = 0; i + 1 < usual.first_layer.size(); ++i)
        layers.push_back(usual.first_layer[i + 1] - usual.first_layer[i]);
    Plan other = plan;
    other.parallelism.pipeline.layers = moved(pipeline, pass_times(usual.layers), layers);
    if (other.parallelism.pipeline.layers == layers) return std::nullopt;
    const Lowered lowered = lower(cluster, model, other);
    Division division{other.parallelism.pipeline.layers, forecast(lowered, prices), memory_of(lowered)};
    if (!division.memory.fits() || division.expected.time_s > (1 - least_gain) * estimated_s) return std::nullopt;
    return division;
}

}  // namespace syncline::planning
