#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
    std::int64_t batch = 1;             ///< samples of all ranks together
    std::int64_t devices = 1;           ///< of a node
    bool recomputation = false;         ///< is chosen, too
    std::int64_t replicas = 0;          ///< that the user wants (`data`); 0: any number
    std::int64_t micro_batch_size = 0;  ///< that the user wants; 0: any
    /// Keys of `parallelism` that the user has written, as paths: `pipeline.stages`. They keep the base's values.
    std::vector<std::string> written = {};
};

struct Axis {
    std::string key;  ///< of `parallelism`, a path: `pipeline.stages`; or of `training`
    /// Returns the values to try beside the choices that `plan` already has, the simplest first; none if these lead
    /// nowhere.
    std::function<std::vector<std::int64_t>(const Space&, const Plan& plan)> values;
    std::function<void(Plan&, std::int64_t value)> apply;
    std::function<std::int64_t(const Plan&)> read;        ///< the value that a plan has
    std::function<std::string(std::int64_t value)> word;  ///< the value as in files
    /// Who decides where a framework says something: `search` tries all values, `framework` keeps what it says.
    enum class Decides { search, framework } decides = Decides::search;
    bool of_training = false;
    /// What planners try first: every value, the simplest, the second simplest or the last of the values.
    enum class Outset { every, simplest, second, last } outset = Outset::simplest;

    /// Returns those of all values that planners try first.
    std::vector<std::int64_t> first_tried(const std::vector<std::int64_t>& all) const;
    /// Returns the value of a plan that does not say it.
    std::int64_t neutral() const { return read(Plan{}); }
    /// Returns the values to try: that of `plan`, if the user or the framework has decided.
    std::vector<std::int64_t> choices(const Space& space, const Plan& plan) const;
};

/// How a model is split: `model`, `context.ranks` (up to 16 parts) and `context.exchange`, `pipeline.stages`,
/// `micro_batches`, `schedule` and `virtual_stages`, `sequence`, `experts.model` and `experts.ranks`, `model_overlap`.
/// Then where its state is: `sharding`, `gathering`, `gradient_sync`, and `recomputation` of the training, the last.
///
/// Values that cannot win are left out: the schedule is `1f1b`, `zb-h1`, or `interleaved` with 2, 4 or 8 virtual
/// stages, since `gpipe` takes as long as `1f1b` and more memory. Micro-batches have every size that divides a
/// replica's batch. State is sharded among all ranks with the same weights, or among those of a node if these are
/// fewer. What the software decides (`transfers`, `scatter_gather`, `device_queues`) and algorithms are no choices.
const std::vector<Axis>& axes();

/// Returns the number of the first axis that leaves a rank's computation as it is: `sharding`.
std::size_t first_of_state();

/// A value for each axis. The last one is that of `recomputation`, the least first.
using Choice = std::vector<std::int64_t>;

/// Returns whether the choices have the same rows, parts of a sequence and stages.
bool same_layout(const Choice& one, const Choice& other);

/// Returns whether the user has written this key of `parallelism`.
bool is_written(const Space& space, const std::string& key);

/// Calls `visit` for every choice, in the order of the axes and their values, with the plan that it makes of `base`.
void each_choice(const Space& space, const Plan& base, const std::function<void(const Choice&, const Plan&)>& visit);

/// Returns the number of choices, counted up to `most`.
std::uint64_t count_choices(const Space& space, const Plan& base, std::uint64_t most);

/// Returns the choice whose value of each axis is what `pick` returns, which is given the axis's number and the values
/// to try beside those that are picked already. Returns nothing if there is no value for an axis.
std::optional<Choice> choose(
    const Space& space, Plan base,
    const std::function<std::int64_t(std::size_t axis, const std::vector<std::int64_t>& values)>& pick);

/// Returns the plan that the choice makes of `base`.
Plan plan_of(const Choice& choice, Plan base);

/// Returns the value of `parallelism` that makes the choice, in one line of YAML: "{model: 8, data: 4, pipeline:
/// {stages: 4, micro_batches: 16}, sequence: true, sharding: optimizer}". Of keys that are no axes it has `layers` of
/// `pipeline`, if there are some.
std::string text_of(const Choice& choice, const Plan& base, const std::vector<std::int64_t>& layers = {});

/// Returns `recomputation` as in files if the choice makes it another one than that of `base`; else nothing.
std::string recomputation_of(const Choice& choice, const Plan& base);

/// Returns the choice in a sentence: "`parallelism: {model: 8}` with `recomputation: full`".
std::string words_of(const Choice& choice, const Plan& base);

/// Returns the same of these two values; `recomputation` may be empty.
std::string words_of(const std::string& parallelism, const std::string& recomputation);

}  // namespace syncline::planning
