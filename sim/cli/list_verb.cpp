#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/abbreviations.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/check/check.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/document/document.hpp"
#include "sim/document/presets.hpp"
#include "sim/explain/what_if.hpp"
#include "sim/lesson/lesson.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/result_fields.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

/// A thing with a name that a user can write, and one sentence about it.
struct Named {
    std::string name, summary;
};

/// Lists of presets by their names: the kind of file in each.
const std::vector<std::pair<std::string, std::string>>& file_lists() {
    static const std::vector<std::pair<std::string, std::string>> lists{
        {"platforms", "platform"}, {"workloads", "workload"},   {"topologies", "topology"},
        {"scenarios", "scenario"}, {"studies", "study"},        {"transports", "transport"},
        {"devices", "device"},     {"selections", "selection"}, {"published", "measured"},
        {"ablations", "ablation"}, {"frameworks", "framework"},
    };
    return lists;
}

std::vector<Named> lessons() {
    std::vector<Named> all;
    for (const lesson::Lesson& lesson : lesson::load_lessons(config::data_folder("scenarios/lessons")))
        all.push_back({lesson.name, lesson.title});
    return all;
}

/// Returns the keys of a scenario, which `--set` changes.
std::vector<Named> keys() {
    std::vector<Named> all;
    for (config::DescribedKey& key : config::keys_of("scenario"))
        all.push_back({std::move(key.path), std::move(key.description)});
    return all;
}

/// Returns the fields of results of trainings and exchanges, and abbreviations of them, for `--columns`.
std::vector<Named> columns() {
    std::vector<Named> all;
    std::set<std::string> known;
    const auto add = [&](const auto& fields) {
        for (const auto& field : fields)
            if (field.unit != Unit::list && *field.doc != '\0' && known.insert(field.name).second)
                all.push_back({field.name, field.doc});
    };
    add(fields_of<Result>());
    add(fields_of<CollectiveResult>());
    for (const Abbreviation& one : abbreviations)
        if (!one.field.empty()) all.push_back({std::string(one.name), fmt::format("{}: {}", one.text, one.field)});
    return all;
}

std::vector<Named> what_ifs() {
    std::vector<Named> all;
    for (const Change& change : every_change()) all.push_back({text_of(change), description_of(change)});
    return all;
}

/// Returns the variants of the first scenario among words of a command line. Shells, which complete it, ask for names,
/// and none of their words needs to be a scenario.
std::vector<Named> variants(const std::vector<std::string>& words, bool only_names) {
    config::Library library;
    for (const std::string& word : words) {
        if (word.empty() || word.starts_with('-')) continue;
        try {
            const config::Node scenario = library.load_argument(config::find_argument(word, {"scenario", "measured"}));
            const config::Node* const found = scenario.find("variants");
            if (found == nullptr) continue;
            std::vector<Named> all;
            for (const config::Entry& entry : found->entries) all.push_back({entry.key, ""});
            return all;
        } catch (const ConfigError&) {
            continue;  // another word
        }
    }
    if (only_names) return {};
    throw UsageError(words.empty() ? "the list of variants is that of a scenario: name one"
                                   : fmt::format("there is no scenario '{}'", fmt::join(words, " ")));
}

/// Lists that are not presets, by name.
const std::map<std::string, std::vector<Named> (*)()>& other_lists() {
    static const std::map<std::string, std::vector<Named> (*)()> lists{
        {"lessons", lessons}, {"keys", keys}, {"columns", columns}, {"what-ifs", what_ifs}};
    return lists;
}

std::vector<std::string> list_names() {
    std::vector<std::string> names;
    for (const auto& [name, kind] : file_lists()) names.push_back(name);
    names.insert(names.end(), {"lessons", "variants", "keys", "columns", "what-ifs"});
    return names;
}

std::vector<Named> entries(const std::string& list, const std::vector<std::string>& words, bool only_names) {
    if (list == "variants") return variants(words, only_names);
    if (const auto other = other_lists().find(list); other != other_lists().end()) return other->second();
    std::vector<Named> all;
    for (const auto& [name, kind] : file_lists())
        if (name == list)
            for (const config::Preset& preset : config::presets({kind}))
                all.push_back({preset.name, config::summary_of(preset.file)});
    return all;
}

void show_list(const std::string& list, const std::vector<std::string>& words, bool only_names) {
    if (list != "variants" && !words.empty()) throw UsageError("only the list of variants is that of a scenario");
    std::vector<text::Row> rows;
    if (!only_names) rows.push_back({"name", "summary"});
    for (Named& entry : entries(list, words, only_names)) {
        rows.push_back({std::move(entry.name)});
        if (!only_names) rows.back().push_back(std::move(entry.summary));
    }
    // One line for each in a pipe; on a terminal, long summaries are broken at words.
    const text::TableLayout layout = isatty(STDOUT_FILENO) == 1 ? TableOptions{}.on_stdout() : text::TableLayout{0, {}};
    if (!rows.empty()) write_stdout(text::aligned(rows, 1, layout));
}

}  // namespace

void add_list(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "list", "syncline list platforms",
                              "List what has a name: platforms, workloads, keys of scenarios, columns of results, …");
    const auto list = std::make_shared<std::string>();
    const auto words = std::make_shared<std::vector<std::string>>();
    const auto only_names = std::make_shared<bool>(false);
    verb->add_option("LIST", *list, "List to print")
        ->option_text(fmt::format("{}", fmt::join(list_names(), "|")))
        ->required()
        ->check(one_of(list_names()));
    verb->add_option("SCENARIO", *words, "Scenario whose variants are listed; of several words, the first that is one");
    verb->add_flag("--names", *only_names, "Print only the names, one per line");
    verb->callback([list, words, only_names, &action] {
        action = [list, words, only_names] { show_list(*list, *words, *only_names); };
    });
}

}  // namespace syncline::cli
