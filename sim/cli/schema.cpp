#include <fmt/format.h>

#include <memory>

#include "sim/check/check.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/files.hpp"
#include "sim/output/files.hpp"

namespace syncline::cli {

void add_schema(CLI::App& program, Action& action) {
    CLI::App* verb = program.add_subcommand("schema", "Print the JSON Schema of a kind of file, for editors");
    const auto kind = std::make_shared<std::string>();
    verb->add_option("KIND", *kind, fmt::format("Kind of file: {}", fmt::join(config::file_kinds(), ", ")))
        ->required()
        ->check(CLI::IsMember(config::file_kinds()));
    verb->callback([kind, &action] { action = [kind] { write_stdout(config::schema_of(*kind)); }; });
}

}  // namespace syncline::cli
