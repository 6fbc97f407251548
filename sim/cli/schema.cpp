#include <memory>

#include "sim/cli/verbs.hpp"
#include "sim/config/files.hpp"
#include "sim/config/schema.hpp"
#include "sim/output/files.hpp"

namespace syncline::cli {

namespace {

template <class Thing>
std::string schema_of(const std::string& kind) {
    return config::schema("syncline-" + kind, "Syncline " + kind, [](config::Fields& fields) {
        Thing thing;
        config::describe(fields, thing);
    });
}

void print_schema(const std::string& kind) {
    if (kind == "scenario") write_stdout(schema_of<config::Scenario>(kind));
    if (kind == "platform") write_stdout(schema_of<Cluster>(kind));
    if (kind == "device") write_stdout(schema_of<Device>(kind));
    if (kind == "workload") write_stdout(schema_of<Model>(kind));
}

}  // namespace

void add_schema(CLI::App& program, Action& action) {
    CLI::App* verb = program.add_subcommand("schema", "Print the JSON Schema of a kind of file, for editors");
    const auto kind = std::make_shared<std::string>();
    verb->add_option("KIND", *kind, "scenario, platform, device or workload")
        ->required()
        ->check(CLI::IsMember({"scenario", "platform", "device", "workload"}));
    verb->callback([kind, &action] { action = [kind] { print_schema(*kind); }; });
}

}  // namespace syncline::cli
