#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/expectation.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/knob_keys.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/jobs_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/trace_plan.hpp"

namespace syncline {
struct Lowered;
}

/// Loading of scenario files into variants ready to run, and the question of `syncline collective`.
namespace syncline::config {

/// Describes the keys of `training`, and what the plan leaves open; a plan that is wrong by itself is rejected.
void describe(Fields& fields, Plan& plan, OpenPlan& open);

/// One complete training, single exchange, execution trace or list of jobs: the scenario's base with the variant's
/// overrides and then `--set` applied.
struct Variant {
    std::string name;
    Location training;      ///< where `training` is written
    std::string choice_of;  ///< the variant of which it is a choice (`model: auto`); empty: it is not a choice
    Cluster cluster;
    Model model;
    Plan plan;
    OpenPlan open;                             ///< what is left open: with `parallelism: auto` the plan is not complete
    std::optional<CollectivePlan> collective;  ///< replaces model and plan
    std::optional<TracePlan> trace;            ///< the same
    std::optional<JobsPlan> jobs;              ///< the same
    std::vector<Location> job_places;          ///< where each of the jobs is written: by JobPlan::written
    std::string resolved;                      ///< as resolved YAML: see Resolved::text()

    bool is_training() const { return !collective && !trace && !jobs; }
    /// Returns cluster, model and plan of a training in lowered form, which is made once, on first use. None of the
    /// three may change after that. Throws std::logic_error if the plan is open.
    const Lowered& lowered() const;
    /// Keeps the form that the checks of the plan made.
    void keep(std::shared_ptr<const Lowered> lowered) { lowered_ = std::move(lowered); }

private:
    mutable std::shared_ptr<const Lowered> lowered_;
};

struct Scenario {
    std::string name;
    /// In the file's order; one called "base" if the file has none. All are trainings, or exchanges, or traces, or
    /// jobs.
    std::vector<Variant> variants;
    std::vector<Expectation> expectations;
    /// Number of further expectations of variants or sizes that `--set` has removed, or `--variant` has not chosen.
    std::size_t expectations_left_out = 0;
    /// Choices of variants that do not fit, with the reason: "base 8x1: …".
    std::vector<std::string> left_out = {};
    std::vector<Knob> knobs = {};  ///< as written, whatever `--set` changes
};

/// Describes the whole scenario, for the schema.
void describe(Fields& fields, Scenario& scenario);

/// Reads the scenario in file `path`, each of `assignments` (`key.path=value`) applied on top, in order. `seed`
/// determines everything random. If `only` names variants, the others and their expectations are left out; the name of
/// a variant with `model: auto` means all its choices. `plans` has, by variant, assignments that say its plan;
/// otherwise a variant with `parallelism: auto` stays open. Throws ConfigError with all errors.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& assignments,
                       const Inspect& inspect = {}, std::uint64_t seed = 1, const std::vector<std::string>& only = {},
                       const std::map<std::string, std::vector<std::string>>& plans = {});

/// The question of `syncline collective`: a single exchange.
struct CollectiveQuestion {
    Cluster cluster;
    CollectivePlan plan;
};

/// Reads a question from options. The option `platform` names a file or a preset. Throws ConfigError, located at the
/// options.
CollectiveQuestion load_collective(const std::vector<Argument>& arguments, const std::vector<std::string>& assignments,
                                   const Inspect& inspect = {});

}  // namespace syncline::config
