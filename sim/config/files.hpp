#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/expectation.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/topology/shape.hpp"
#include "sim/training/lowered.hpp"
#include "sim/workload/model.hpp"

/// The kinds of file that Syncline reads, as field tables, and how a scenario file becomes variants ready to run.
namespace syncline::config {

/// Looks into a platform in SimGrid's format, which only SimGrid can read: fills in `nodes` and, if there is no device,
/// its speed. Throws std::runtime_error that says what is
/// wrong with it.
using Inspect = std::function<void(Cluster&)>;

void describe(Fields& fields, Cluster& cluster);
/// The same, and looks into a platform in SimGrid's format.
void describe(Fields& fields, Cluster& cluster, const Inspect& inspect);
void describe(Fields& fields, Device& device);
void describe(Fields& fields, Transport& transport);
void describe(Fields& fields, Model& model);
struct OpenPlan;
/// What `open` is left with is settled when the cluster and the model are known: see parallelism.hpp.
void describe(Fields& fields, Plan& plan, OpenPlan& open);
void describe(Fields& fields, TopologySpec& spec);
void describe(Fields& fields, Selection& selection);

/// The shapes' names in files.
const std::vector<std::string>& shape_names();
bool is_shape(const std::string& name);

/// The topology that `fields`, from which `spec` was read, describes. What make_topology says against it is rejected at
/// the key that is to blame; then there is nothing. Bandwidths and latencies are left out of an overlay.
std::optional<Topology> build(Fields& fields, const TopologySpec& spec, Use use, std::int64_t hosts = 0);

/// One way of training, or one exchange alone, complete: the scenario's base with the variant's overrides and then
/// `--set` applied.
struct Variant {
    std::string name;
    Location training;      ///< where `training` is written
    std::string choice_of;  ///< the variant that it is one choice of (`grid: auto`); empty: of none
    Cluster cluster;
    Model model;
    Plan plan;
    std::optional<CollectivePlan> collective;  ///< in place of model and plan
    std::string resolved;                      ///< as YAML, nothing left to look up: see Resolved::text()

    /// Cluster, model and plan of a training, lowered: once, when it is first asked for. None of the three may change
    /// after that.
    const Lowered& lowered() const;
    /// Keeps what was lowered while the plan was checked.
    void keep(std::shared_ptr<const Lowered> lowered) { lowered_ = std::move(lowered); }

private:
    mutable std::shared_ptr<const Lowered> lowered_;
};

struct Scenario {
    std::string name;
    /// In the file's order; one called "base" where the file has none. All train, or all are exchanges alone.
    std::vector<Variant> variants;
    std::vector<Expectation> expectations;
    /// How many more are of variants or sizes that `--set` has taken away.
    std::size_t expectations_left_out = 0;
    /// Choices of variants that do not fit, and why: "base 8x1: …".
    std::vector<std::string> left_out = {};
};

/// The whole scenario's table, for the schema.
void describe(Fields& fields, Scenario& scenario);

/// Reads the scenario in file `path`, each of `assignments` (`key.path=value`) applied on top, last wins. `seed`: of
/// all that is drawn. Throws ConfigError with everything that is wrong.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& assignments,
                       const Inspect& inspect = {}, std::uint64_t seed = 1);

/// What `syncline collective` is asked: one exchange alone.
struct CollectiveQuestion {
    Cluster cluster;
    CollectivePlan plan;
};

/// One option as typed: the key it sets (`ranks`), and its text (`32`).
struct Argument {
    std::string key;
    std::string value;
};

/// Reads a question from options. `platform` among them names a file or a preset. Throws ConfigError; the places are
/// the options.
CollectiveQuestion load_collective(const std::vector<Argument>& arguments, const std::vector<std::string>& assignments,
                                   const Inspect& inspect = {});

/// What `syncline topology` is asked.
struct TopologyQuestion {
    TopologySpec spec;  ///< with a name: its own, the file's or the shape's
    Topology topology;
};

/// Makes the topology that `argument` names: a shape, with its defaults (even where a file or a preset has the same
/// name); else a file or a preset: a topology in YAML, GraphML or DOT, or a platform, of which its `fabric` is taken.
/// Each of `assignments`
/// (`key=value`) is applied on top, last wins. Throws ConfigError.
TopologyQuestion load_topology(const std::string& argument, const std::vector<std::string>& assignments, Use use);

/// What `syncline workload` is asked: a model on a device.
struct WorkloadQuestion {
    Model model;
    Device device;
    std::int64_t batch = 1;
    ComputeKind compute = ComputeKind::calibrated;
};

/// Reads a question from options: `device`, `batch`, `compute`. Workload and device are files or presets. Throws
/// ConfigError; the places are the options.
WorkloadQuestion load_workload(const std::string& workload, const std::vector<Argument>& arguments);

/// Checks one file by itself and says what it is: one of file_kinds(). Throws ConfigError.
std::string check_file(const std::string& path, const Inspect& inspect = {});

/// The kinds of file that there are: "scenario", "platform", "device", "transport", "workload", "topology",
/// "selection", "study".
const std::vector<std::string>& file_kinds();

/// The JSON Schema of a kind of file.
std::string schema_of(const std::string& kind);

}  // namespace syncline::config
