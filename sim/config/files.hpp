#pragma once

#include <string>
#include <vector>

#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/model.hpp"

/// The kinds of file that Syncline reads, as field tables, and how a scenario file becomes variants ready to run.
namespace syncline::config {

void describe(Fields& fields, Cluster& cluster);
void describe(Fields& fields, Device& device);
void describe(Fields& fields, Model& model);
void describe(Fields& fields, Plan& plan);

/// One way of training, complete: the scenario's base with the variant's overrides and then `--set` applied.
struct Variant {
    std::string name;
    Cluster cluster;
    Model model;
    Plan plan;
};

struct Scenario {
    std::string name;
    std::vector<Variant> variants;  ///< in the file's order; one called "base" where the file has none
};

/// The whole scenario's table, for the schema.
void describe(Fields& fields, Scenario& scenario);

/// Reads the scenario in file `path`, each of `assignments` (`key.path=value`) applied on top, last wins.
/// Throws ConfigError with everything that is wrong.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& assignments);

/// What `syncline collective` is asked: one exchange alone.
struct CollectiveQuestion {
    std::int64_t ranks = 2;
    std::int64_t servers = 1;  ///< parameter-server only
    std::string operation = "allreduce";
    std::string algorithm = "ring";
    double bytes = 0;  ///< of the whole buffer, the same on every rank
    Cluster cluster;
};

/// One option as typed: the key it sets (`ranks`), and its text (`32`).
struct Argument {
    std::string key;
    std::string value;
};

/// Reads a question from options. `platform` among them names a file. Throws ConfigError; the places are the options.
CollectiveQuestion load_collective(const std::vector<Argument>& arguments, const std::vector<std::string>& assignments);

/// Checks one file by itself and says what it is: "scenario", "platform", "device" or "workload". Throws ConfigError.
std::string check_file(const std::string& path);

/// The kinds of file that there are: "scenario", "platform", "device", "workload".
const std::vector<std::string>& file_kinds();

/// The JSON Schema of a kind of file.
std::string schema_of(const std::string& kind);

}  // namespace syncline::config
