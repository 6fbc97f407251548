#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "sim/base/diagnostics.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/import_question.hpp"
#include "sim/import/foreign.hpp"
#include "sim/output/written_files.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

namespace fs = std::filesystem;

/// Returns the file's name in a scenario in `out`, which names files relative to itself.
std::string name_in(const std::string& out, const std::string& file) {
    const fs::path scenario = fs::absolute(out.empty() ? fs::path("scenario.yaml") : fs::path(out)).lexically_normal();
    return fs::absolute(file).lexically_normal().lexically_proximate(scenario.parent_path()).string();
}

config::ImportAnswer answer_of(config::ImportQuestion question, const std::string& out) {
    question.named = [&](const std::string& file) { return name_in(out, file); };
    return config::asks_for_trace(question) ? config::import_trace(question, inspect)
                                            : config::import_files(question, inspect);
}

void import_all(const config::ImportQuestion& question, const std::string& file) {
    for (const std::string& input : question.files) refuse_same_file(file, input);
    const config::ImportAnswer answer = answer_of(question, file);
    for (const Diagnostic& note : answer.notes) warn(note);
    if (file.empty())
        write_stdout(answer.text);
    else
        write_file(file, answer.text);
}

}  // namespace

void add_import(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "import", "syncline import config.json --out my-model.yaml",
                              "Turn files of other programs into a workload, a scenario or measurements");
    struct Arguments {
        config::ImportQuestion question;
        std::string file;
    };
    const auto options = std::make_shared<Arguments>();
    std::vector<std::string> names;
    std::string known;
    for (const config::ForeignKind& kind : config::foreign_kinds()) {
        names.emplace_back(kind.name);
        known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.description);
    }
    verb->add_option("FILE", options->question.files,
                     fmt::format("Files, which are put together: {}; or the files of an execution trace", known))
        ->required();
    verb->add_option(
            "--as", options->question.kind,
            fmt::format("Kind of the files (default: recognised by their content). One of {}", fmt::join(names, ", ")))
        ->option_text("KIND")
        ->check(one_of(names));
    add_repeated(*verb, "--set", options->question.assignments, "KEY.PATH=VALUE",
                 "Set what the files do not say, by its key in a scenario: platform=dgx-h100, training.ranks=64, "
                 "workload.sequence=4096");
    verb->add_option("--out", options->file, "Output file (default: standard output)")
        ->option_text("FILE")
        ->check(not_empty);
    verb->callback([options, &action] { action = [options] { import_all(options->question, options->file); }; });
}

}  // namespace syncline::cli
