#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/document/presets.hpp"
#include "sim/lesson/lesson.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

/// A thing with a name that a user can write, and one sentence about it.
struct Named {
    std::string name, summary;
};

/// Lists by their names: the kind of file in each.
const std::vector<std::pair<std::string, std::string>>& file_lists() {
    static const std::vector<std::pair<std::string, std::string>> lists{
        {"platforms", "platform"}, {"workloads", "workload"},   {"topologies", "topology"},
        {"scenarios", "scenario"}, {"studies", "study"},        {"transports", "transport"},
        {"devices", "device"},     {"selections", "selection"}, {"published", "measured"},
        {"ablations", "ablation"}, {"frameworks", "framework"},
    };
    return lists;
}

std::vector<std::string> list_names() {
    std::vector<std::string> names{"lessons"};
    for (const auto& [name, kind] : file_lists()) names.push_back(name);
    return names;
}

std::vector<Named> entries(const std::string& list) {
    std::vector<Named> all;
    if (list == "lessons")
        for (const lesson::Lesson& lesson : lesson::load_lessons(config::data_folder("scenarios/lessons")))
            all.push_back({lesson.name, lesson.title});
    for (const auto& [name, kind] : file_lists())
        if (name == list)
            for (const config::Preset& preset : config::presets({kind}))
                all.push_back({preset.name, config::summary_of(preset.file)});
    return all;
}

void show_list(const std::string& list, bool only_names) {
    std::vector<text::Row> rows;
    if (!only_names) rows.push_back({"name", "summary"});
    for (Named& entry : entries(list)) {
        rows.push_back({std::move(entry.name)});
        if (!only_names) rows.back().push_back(std::move(entry.summary));
    }
    // One line for each in a pipe; on a terminal, long summaries are broken at words.
    const text::TableLayout layout = isatty(STDOUT_FILENO) == 1 ? TableOptions{}.on_stdout() : text::TableLayout{0, {}};
    if (!rows.empty()) write_stdout(text::aligned(rows, 1, layout));
}

}  // namespace

void add_list(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "list", "syncline list platforms", "List the files that have names: platforms, workloads, …");
    const auto list = std::make_shared<std::string>();
    const auto only_names = std::make_shared<bool>(false);
    verb->add_option("LIST", *list, "List to print")
        ->option_text(fmt::format("{}", fmt::join(list_names(), "|")))
        ->required()
        ->check(one_of(list_names()));
    verb->add_flag("--names", *only_names, "Print only the names, one per line");
    verb->callback([list, only_names, &action] { action = [list, only_names] { show_list(*list, *only_names); }; });
}

}  // namespace syncline::cli
