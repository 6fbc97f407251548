#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/workload/model.hpp"

/// The choices of `parallelism: auto`: one entry per key, in the order in which they are made.
///
/// A choice may depend on those before it. A new way of splitting a model is one entry in axes.cpp.
namespace syncline::planning {

/// The model, ranks and batch that all plans of a search have in common.
struct Space {
    const Model& model;
    std::int64_t ranks = 1;
    std::int64_t batch = 1;      ///< samples of all ranks together
    std::int64_t devices = 1;    ///< of a node
    bool recomputation = false;  ///< is chosen, too
};

struct Axis {
    std::string key;           ///< of `parallelism`, a path: `pipeline.stages`; or of `training`
    std::int64_t neutral = 1;  ///< value that a plan without the key has
    /// Returns the values to try beside the choices that `plan` already has, the simplest first. At least one.
    std::function<std::vector<std::int64_t>(const Space&, const Plan& plan)> values;
    std::function<void(Plan&, std::int64_t value)> apply;
    std::function<std::string(std::int64_t value)> word;  ///< the value as in files
    bool of_training = false;
};

/// `model`, `context` (up to 16 parts), `pipeline.stages`, `pipeline.micro_batches`, `pipeline.schedule`,
/// `pipeline.virtual_stages`, `experts` (without imbalance), `sequence`, `sharding`, and `recomputation` of the
/// training. The schedule is `1f1b`, `zb-h1`, or `interleaved` with 2, 4 or 8 virtual stages: `gpipe` takes as long as
/// `1f1b` and more memory. Micro-batches have every size that divides a replica's batch. State is sharded among all
/// ranks with the same weights, or among those of a node if these are fewer.
const std::vector<Axis>& axes();

/// A value for each axis. The last one is that of `recomputation`, the least first.
using Choice = std::vector<std::int64_t>;

/// Calls `visit` for every choice, in the order of the axes and their values, with the plan that it makes of `base`.
void each_choice(const Space& space, const Plan& base, const std::function<void(const Choice&, const Plan&)>& visit);

/// Returns the number of choices, counted up to `most`.
std::uint64_t count_choices(const Space& space, const Plan& base, std::uint64_t most);

/// Returns the choice whose value of each axis is what `pick` returns, which is given the axis's number and the values
/// to try beside those that are picked already.
Choice choose(const Space& space, Plan base,
              const std::function<std::int64_t(std::size_t axis, const std::vector<std::int64_t>& values)>& pick);

/// Returns the plan that the choice makes of `base`.
Plan plan_of(const Choice& choice, Plan base);

/// Returns the value of `parallelism` that makes the choice, in one line of YAML: "{model: 8, data: 4, pipeline:
/// {stages: 4, micro_batches: 16}, sequence: true, sharding: optimizer}".
std::string text_of(const Choice& choice, const Plan& base);

/// Returns `recomputation` as in files if the choice makes it another one than that of `base`; else nothing.
std::string recomputation_of(const Choice& choice, const Plan& base);

/// Returns the choice in a sentence: "`parallelism: {model: 8}` with `recomputation: full`".
std::string words_of(const Choice& choice, const Plan& base);

}  // namespace syncline::planning
