#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/expectation.hpp"
#include "sim/document/document.hpp"
#include "sim/document/fields.hpp"
#include "sim/lowering/feasibility.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/topology/shape.hpp"
#include "sim/workload/model.hpp"

/// Field tables of the kinds of file that Syncline reads, and loading of scenario files into variants ready to run.
namespace syncline::config {

/// Inspects a platform in SimGrid's format, which only SimGrid can read: fills in `nodes` and, if there is no device,
/// its speed. Throws std::runtime_error with the reason if it is wrong.
using Inspect = std::function<void(Cluster&)>;

void describe(Fields& fields, Cluster& cluster);
/// Does the same, and inspects a platform in SimGrid's format.
void describe(Fields& fields, Cluster& cluster, const Inspect& inspect);
void describe(Fields& fields, Device& device);
void describe(Fields& fields, Transport& transport);
void describe(Fields& fields, Model& model);
/// Does the same for what the plan leaves open; a plan that is wrong by itself is rejected.
void describe(Fields& fields, Plan& plan, OpenPlan& open);
/// Describes the key `compute`.
void describe_compute(Fields& fields, ComputeKind& kind);
void describe(Fields& fields, TopologySpec& spec);
void describe(Fields& fields, Selection& selection);

/// Returns the shapes' names in files.
const std::vector<std::string>& shape_names();
bool is_shape(const std::string& name);

/// Builds the topology that `fields`, from which `spec` was read, describes. An error of make_topology is rejected at
/// the key at fault, and nothing is returned. Overlays have no bandwidths and latencies.
std::optional<Topology> build(Fields& fields, const TopologySpec& spec, Use use, std::int64_t hosts = 0);

/// One complete training or single exchange: the scenario's base with the variant's overrides and then `--set` applied.
struct Variant {
    std::string name;
    Location training;      ///< where `training` is written
    std::string choice_of;  ///< the variant of which it is a choice (`model: auto`); empty: it is not a choice
    Cluster cluster;
    Model model;
    Plan plan;
    OpenPlan open;                             ///< what is left open: with `parallelism: auto` the plan is not complete
    std::optional<CollectivePlan> collective;  ///< replaces model and plan
    std::string resolved;                      ///< as resolved YAML: see Resolved::text()

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
    /// In the file's order; one called "base" if the file has none. All are trainings, or all are single exchanges.
    std::vector<Variant> variants;
    std::vector<Expectation> expectations;
    /// Number of further expectations of variants or sizes that `--set` has removed, or `--variant` has not chosen.
    std::size_t expectations_left_out = 0;
    /// Choices of variants that do not fit, with the reason: "base 8x1: …".
    std::vector<std::string> left_out = {};
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

/// One option as typed: the key it sets (`ranks`), and its text (`32`).
struct Argument {
    std::string key;
    std::string value;
};

/// Reads a question from options. The option `platform` names a file or a preset. Throws ConfigError, located at the
/// options.
CollectiveQuestion load_collective(const std::vector<Argument>& arguments, const std::vector<std::string>& assignments,
                                   const Inspect& inspect = {});

/// The question of `syncline topology`.
struct TopologyQuestion {
    TopologySpec spec;  ///< named: by its own name, the file's or the shape's
    Topology topology;
    std::string added = {};  ///< assignment of the key that the shape needs, if neither it nor `assignments` had it
};

/// Makes the topology that `argument` names: a shape with its defaults (even if a file or a preset has the same name);
/// else a file or a preset: a topology in YAML, GraphML or DOT, or a platform, whose `fabric` is used. Each of
/// `assignments` (`key=value`) is applied on top; later values override earlier ones. Throws ConfigError.
TopologyQuestion load_topology(const std::string& argument, const std::vector<std::string>& assignments, Use use);

/// The question of `syncline workload`: a model on a device.
struct WorkloadQuestion {
    Model model;
    Device device;
    std::int64_t batch = 1;
    ComputeKind compute = ComputeKind::calibrated;
};

/// Reads a question from options: `device`, `batch`, `compute`. Workload and device are files or presets. Throws
/// ConfigError, located at the options.
WorkloadQuestion load_workload(const std::string& workload, const std::vector<Argument>& arguments);

}  // namespace syncline::config
