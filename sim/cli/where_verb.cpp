#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/check/check.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/presets.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

std::string full_path(const std::filesystem::path& file) {
    return std::filesystem::absolute(file).lexically_normal().string();
}

/// Prints the file that the name means for each kind of file; a name may be one of several kinds.
void show_file(const std::string& name, const std::vector<std::string>& kinds) {
    std::vector<config::Preset> found = config::presets(kinds);
    std::erase_if(found, [&](const config::Preset& preset) { return preset.name != name; });
    if (found.size() < 2 || std::filesystem::is_regular_file(name)) {
        const std::filesystem::path file = config::find_argument(name, kinds);
        if (!std::filesystem::exists(file))
            throw ConfigError({{{name, 1, 1, ""}, "there is no such file", "name a file or a preset"}});
        return write_stdout(full_path(file) + "\n");
    }
    for (const config::Preset& preset : found) say("note: '{}' is the name of a {}\n", name, preset.kind);
    for (const config::Preset& preset : found) write_stdout(full_path(preset.file) + "\n");
}

}  // namespace

void add_where(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "where", "syncline where p100-25g", "Print the file that a name means");
    const auto name = std::make_shared<std::string>();
    const auto kind = std::make_shared<std::string>();
    verb->add_option("NAME", *name, "Name of a preset (p100-25g), or a file")->required();
    verb->add_option("--kind", *kind, "Kind of file that is meant")
        ->option_text(fmt::format("{}", fmt::join(config::file_kinds(), "|")))
        ->check(one_of(config::file_kinds()));
    verb->callback([name, kind, &action] {
        action = [name, kind] { show_file(*name, kind->empty() ? config::file_kinds() : config::Kinds{*kind}); };
    });
}

}  // namespace syncline::cli
