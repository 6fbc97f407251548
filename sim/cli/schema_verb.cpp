#include <fmt/format.h>

#include <memory>

#include "sim/check/check.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/lowering/rules.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

void add_schema(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "schema", "syncline schema scenario",
                 "Print the JSON Schema of a kind of file, for editors, or a reference in Markdown: fields, limits");
    const auto kind = std::make_shared<std::string>();
    std::vector<std::string> kinds = config::file_kinds();
    const std::string files = fmt::format("{}", fmt::join(kinds, ", "));
    kinds.insert(kinds.end(), {"results", "limits"});
    verb->add_option("KIND", *kind,
                     fmt::format("Kind of file: {}; or results: their fields, or limits: what plans need and exclude, "
                                 "in Markdown",
                                 files))
        ->option_text(fmt::format("{}", fmt::join(kinds, "|")))
        ->required()
        ->check(one_of(kinds));
    verb->callback([kind, &action] {
        action = [kind] {
            write_stdout(*kind == "results"  ? fields_reference()
                         : *kind == "limits" ? rules_reference()
                                             : config::schema_of(*kind));
        };
    });
}

}  // namespace syncline::cli
