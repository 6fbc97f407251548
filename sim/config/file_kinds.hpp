#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/document/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/topology/shape.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Field tables of the kinds of file that Syncline reads beside scenarios, and questions about one of them.
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

/// One option as typed: the key it sets (`ranks`), and its text (`32`).
struct Argument {
    std::string key;
    std::string value;
};

/// The question of `syncline topology`.
struct TopologyQuestion {
    TopologySpec spec;  ///< named: by its own name, the file's or the shape's
    Topology topology;
    std::optional<Cluster> cluster = {};  ///< a platform's, with `spec` as its fabric
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
