#include "sim/config/import_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sim/base/number.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/imported_platform.hpp"
#include "sim/config/imported_text.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/import/foreign.hpp"
#include "sim/plan/placement.hpp"

namespace syncline::config {

namespace {

/// Reports what a scenario needs and no file says.
void require_parts(Assembly& assembly, const Node& document) {
    const Node* const training = document.find("training");
    const Node* const collective = document.find("collective");
    if (training == nullptr && collective == nullptr)
        return assembly.report(document.mark, "the files say nothing of a plan",
                               document.find("measured") != nullptr ? "add the script or configuration that was run"
                                                                    : "leave out `--set platform`");
    if (document.find("platform") == nullptr)
        assembly.report(document.mark, "the files say nothing of the cluster",
                        "add `--set platform=dgx-h100`, its file or preset");
    if (collective != nullptr) {
        if (collective->find("operation") == nullptr)
            assembly.report(document.mark, "the files do not say which operation was measured",
                            "add `--set collective.operation=allreduce`, or what it was");
        if (collective->find("ranks") == nullptr)
            assembly.report(document.mark, "the files do not say how many ranks took part",
                            "add `--set collective.ranks=8`, or how many there were");
        return;
    }
    if (document.find("workload") == nullptr)
        assembly.report(document.mark, "the files say nothing of the model",
                        "add its config.json, or `--set workload=llama-3-70b`");
    if (training->find("ranks") == nullptr)
        assembly.report(document.mark, "the files say nothing of the number of GPUs", "add `--set training.ranks=64`");
    if (training->find("batch") == nullptr && training->find("batch_per_rank") == nullptr)
        assembly.report(document.mark, "the files say nothing of the batch",
                        "add `--set training.batch=128`, the samples of an iteration");
}

/// Gives the samples of a model the length that a plan says. A preset's content then takes the place of its name, and
/// its published totals no longer hold.
void set_sequence(Assembly& assembly, Node& workload, const Given& sequence) {
    assembly.attempt([&] {
        if (workload.kind == Node::Kind::scalar) workload = assembly.workload_in(workload);
    });
    assembly.finish();
    Node* const length = workload.find("sequence");
    const std::string text = std::to_string(sequence.value);
    if (length == nullptr || length->scalar == text) return;
    *length = scalar_at(sequence.mark, text);
    take(workload, "published");
}

/// Returns what the files say, and `assignments` on top of it, in the keys of a scenario.
Node put_together(Assembly& assembly, Imported& imported, std::vector<std::string> assignments) {
    assembly.attempt([&] {
        if (imported.machine)
            imported.platform =
                platform_of(assembly, *imported.machine, imported.platform, assignments, imported.findings);
        if (!imported.findings.errors.empty()) throw ConfigError(imported.findings.errors);
    });
    assembly.finish();
    Node &workload = imported.workload, &training = imported.training;
    Node document = empty_at({}, Node::Kind::mapping);
    for (const Node* part : {&training, &workload, &imported.measured, &imported.platform})
        if (part->kind != Node::Kind::null && !document.mark.source) document.mark = part->mark;
    if (imported.sequence && workload.kind != Node::Kind::null) set_sequence(assembly, workload, *imported.sequence);
    const auto add = [&](const char* key, const Node& part) {
        if (part.kind != Node::Kind::null) document.entries.push_back({key, part.mark, part});
    };
    add("platform", imported.platform);
    add("workload", workload);
    add("training", training);
    add("collective", imported.collective);
    add("measured", imported.measured);
    for (const std::string& text : assignments)
        assembly.attempt([&] {
            const Node changes = parse_assignment(assembly.library, text);
            // A key of a part replaces the part's name by its content.
            const auto changes_part = [&](const char* key) {
                const Node *const part = document.find(key), *const change = changes.find(key);
                return part && change && part->kind == Node::Kind::scalar && change->kind == Node::Kind::mapping;
            };
            if (changes_part("platform")) open_platform(assembly, *document.find("platform"));
            if (changes_part("workload")) {
                Node& named = *document.find("workload");
                named = assembly.workload_in(named);
            }
            drop_alternatives(document, changes);
            merge(document, changes);
        });
    return document;
}

/// Returns the scenario in a document.
Variant check_scenario(Assembly& assembly, Node document, const Inspect& inspect) {
    assembly.expand_references(document);
    std::string name;
    GridChoices choices;
    Variant variant = read_variant(assembly, document, "import", name, choices, inspect);
    refuse_open(assembly, document, variant);
    return variant;
}

/// Multiplies a size such as "64 KiB" by a number of ranks.
void multiply(Node& size, std::int64_t ranks) {
    const std::size_t unit = std::min(size.scalar.find(' '), size.scalar.size());
    const auto number = number_in<std::int64_t>(std::string_view(size.scalar).substr(0, unit));
    if (number) size.scalar = std::to_string(*number * ranks) + size.scalar.substr(unit);
}

/// Makes whole buffers of the sizes in a log that are shares of a rank: our key `bytes` is the whole.
void make_whole(Assembly& assembly, Node& document) {
    Node* const collective = document.find("collective");
    const Node* const given = collective != nullptr ? collective->find("ranks") : nullptr;
    if (given == nullptr) return;  // reported later
    const auto ranks = number_in<std::int64_t>(given->scalar);
    if (!ranks || *ranks < 1 || *ranks > largest_given)
        return assembly.report(given->mark, "'ranks' is no number of ranks", "write for example 16");
    if (Node* const bytes = collective->find("bytes")) multiply(*bytes, *ranks);
    for (Node& series : document.find("measured")->find("series")->items)
        for (Node& row : series.find("rows")->items) multiply(row.find("at")->items.front(), *ranks);
}

/// Checks a file of the kind `measured`, all of whose keys but one are those of a scenario. `notes` gets a difference
/// between the hosts of a log and those of the platform.
void check_measured(Assembly& assembly, Node document, const Imported& imported, std::vector<Diagnostic>& notes,
                    const Inspect& inspect) {
    require_parts(assembly, document);
    assembly.finish();
    const Node measured = take(document, "measured");
    MeasuredKeys keys;
    assembly.read(measured, "measured", [&](Fields& fields) { describe(fields, keys); });
    const Variant variant = check_scenario(assembly, document, inspect);
    if (!variant.collective || imported.hosts == 0 || !assembly.sound()) return;
    const std::vector<Place> places = place_ranks(variant.cluster, variant.collective->placement,
                                                  static_cast<std::uint32_t>(variant.collective->ranks));
    std::set<std::int64_t> nodes;
    for (const Place& place : places) nodes.insert(static_cast<std::int64_t>(place.node));
    if (static_cast<std::int64_t>(nodes.size()) != imported.hosts)
        notes.push_back({locate(measured.mark),
                         fmt::format("the ranks were on {} {}, and are on {} of the platform's nodes", imported.hosts,
                                     imported.hosts == 1 ? "host" : "hosts", nodes.size()),
                         "choose their places: `--set collective.placement=round-robin`, or another platform"});
}

/// Returns the only section that the files have, and reports others.
Node alone(Assembly& assembly, const Node& document, const char* section, const char* hint) {
    for (const Entry& other : document.entries)
        if (other.key != section)
            assembly.report(other.mark, fmt::format("the files have only a {}, so '{}' is not set", section, other.key),
                            hint);
    return *document.find(section);
}

}  // namespace

void name_parts(const ImportQuestion& question, Node& document) {
    for (const char* key : {"platform", "workload"}) {
        Node* const part = document.find(key);
        std::error_code error;
        if (part && part->kind == Node::Kind::scalar && std::filesystem::is_regular_file(part->scalar, error))
            part->scalar = question.named(part->scalar);
    }
}

ImportAnswer import_files(const ImportQuestion& question, const Inspect& inspect) {
    Assembly assembly;
    Imported imported;
    for (const std::string& file : question.files)
        assembly.attempt(
            [&] { read_foreign(assembly.library, assembly.library.argument(file), question.kind, imported); });
    assembly.attempt([&] {
        if (!imported.findings.errors.empty()) throw ConfigError(imported.findings.errors);
    });
    assembly.finish();
    Node document = put_together(assembly, imported, question.assignments);
    assembly.finish();

    ImportAnswer answer;
    answer.notes = imported.findings.notes;
    const auto has = [&](const char* key) { return document.find(key) != nullptr; };
    if (has("measured")) {
        answer.kind = "measured";
        if (imported.sizes_of_a_rank) make_whole(assembly, document);
        check_measured(assembly, document, imported, answer.notes, inspect);
    } else if (has("training") || has("collective") || (has("workload") && has("platform"))) {
        answer.kind = "scenario";
        require_parts(assembly, document);
        assembly.finish();
        check_scenario(assembly, document, inspect);
    } else if (has("platform")) {
        answer.kind = "platform";
        document =
            alone(assembly, document, "platform", "set a key of the cluster, such as `platform.device=h100-sxm`");
        Node platform = document;
        assembly.expand_platform(platform);
        Cluster cluster;
        assembly.read(platform, "platform", [&](Fields& fields) { describe(fields, cluster, inspect); });
    } else if (has("workload")) {
        answer.kind = "workload";
        document = alone(assembly, document, "workload", "set a key of the model, such as `workload.sequence=4096`");
        Model model;
        assembly.read(document, "workload", [&](Fields& fields) { describe(fields, model); });
    } else {
        assembly.report(document.mark, "the files say nothing of a model");
    }
    assembly.finish();

    // Such a file stays where it is.
    Node* const platform = answer.kind == "platform" ? &document : document.find("platform");
    if (Node* const xml = platform == nullptr ? nullptr : platform->find("simgrid_xml"))
        for (const std::string& file : question.files)
            if (std::filesystem::path(file).filename() == xml->scalar) xml->scalar = question.named(file);
    name_parts(question, document);
    answer.text = imported_text(imported.origins, answer.notes, std::move(document));
    return answer;
}

}  // namespace syncline::config
