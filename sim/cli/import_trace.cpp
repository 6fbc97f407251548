#include "sim/cli/import_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

namespace fs = std::filesystem;

/// Returns the file's name in a scenario in `out`, which names files relative to itself.
std::string name_in(const std::string& out, const std::string& file) {
    const fs::path scenario = fs::absolute(out.empty() ? fs::path("scenario.yaml") : fs::path(out));
    return fs::absolute(file)
        .lexically_normal()
        .lexically_proximate(scenario.lexically_normal().parent_path())
        .string();
}

}  // namespace

bool asks_for_trace(const config::ImportQuestion& question) {
    return question.kind.empty() && std::ranges::all_of(question.files, [](const std::string& file) {
               return trace_format_of(file).has_value();
           });
}

std::string import_trace(const config::ImportQuestion& question, const std::string& out) {
    std::string text = "# Written by `syncline import` from\n", settings;
    std::vector<std::string> names;
    for (const std::string& file : question.files) {
        text += fmt::format("# - {}: {}\n", file, *trace_format_of(file));
        config::Node name = config::scalar_at({}, name_in(out, file));
        name.quoted = true;
        names.push_back(config::flow_text(name));
    }
    bool platform = false;
    for (const std::string& assignment : question.assignments) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos)
            throw ConfigError({{{"--set", 1, 1, assignment}, "an assignment is KEY=VALUE", "write platform=dgx-h100"}});
        // A path of keys is the same as nested mappings.
        settings += fmt::format("{}: {}\n", assignment.substr(0, equals), assignment.substr(equals + 1));
        platform = platform || assignment.starts_with("platform=");
    }
    if (!platform)
        throw ConfigError({{{question.files.front(), 1, 1, ""},
                            "a trace does not say on which platform it is replayed",
                            "write for example --set platform=dgx-h100; `syncline list platforms` has more"}});
    try {
        const ExecutionTrace trace = read_trace(question.files, {});
        for (const std::string& note : trace.notes) say("note: {}\n", note);
        say("note: {} nodes of {} rank{}{}\n", trace.size(), trace.ranks, trace.ranks == 1 ? "" : "s",
            trace.ranks == 1 ? "; `--set trace.ranks=N` lets N ranks do the same" : "");
    } catch (const TraceError& error) {
        throw ConfigError({{{question.files.front(), 1, 1, ""}, error.what(), ""}});
    }
    return text + settings + fmt::format("trace.files: [{}]\n", fmt::join(names, ", "));
}

}  // namespace syncline::cli
