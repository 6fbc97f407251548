#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/iteration/forecast.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// Divisions of a model's layers among the virtual stages of an interleaved pipeline that are better than the default.
///
/// The default one is the best of three (stage_division.hpp). Moves of single layers from the slowest stage lead to
/// others, of which the forecast decides. With one virtual stage on each stage the default is as good: there, moves
/// gain less than a thousandth.
namespace syncline::planning {

struct Division {
    std::vector<std::int64_t> layers;  ///< of each virtual stage: the key `layers` of `pipeline`
    Forecast expected;
    Memory memory;
};

/// Returns a division that fits into the devices' memory and is estimated to be at least `least_gain` shorter than
/// `estimated_s`, the plan's own. `prices` are for the plan's places.
std::optional<Division> better_division(const Cluster& cluster, const Model& model, const Plan& plan, Prices& prices,
                                        double estimated_s);

constexpr double least_gain = 0.003;  // chosen: less is not worth a list of numbers in a file

}  // namespace syncline::planning
