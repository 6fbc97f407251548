#include "sim/config/import_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sim/base/number.hpp"
#include "sim/base/utf8.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/execution/trace_files.hpp"
#include "sim/import/foreign.hpp"
#include "sim/plan/placement.hpp"

namespace syncline::config {

namespace {

/// Returns lines of a comment. What a foreign file says cannot leave it.
std::string comment(const std::string& text) {
    constexpr std::size_t widest = 138;
    std::string lines, line = "#";
    std::string words = printable(text);
    std::replace(words.begin(), words.end(), '\n', ' ');
    for (std::size_t begin = 0; begin < words.size();) {
        const std::size_t end = std::min(words.find(' ', begin), words.size());
        if (line.size() > 3 && line.size() + 1 + end - begin > widest) {
            lines += line + '\n';
            line = "#  ";
        }
        line += ' ' + words.substr(begin, end - begin);
        begin = end + 1;
    }
    return lines + line + '\n';
}

std::string notes_as_comments(const std::vector<Diagnostic>& notes) {
    std::string text = notes.empty() ? "" : "# Notes:\n";
    for (const Diagnostic& note : notes)
        text += comment(fmt::format("- {}:{}: {}", note.where.file, note.where.line, note.message));
    return text;
}

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

/// Names a preset, or the file, in place of a file's name that is relative to the text that has it.
void name_anywhere(Node* word, const Kinds& kinds) {
    if (word == nullptr || word->kind != Node::Kind::scalar) return;
    const std::filesystem::path file = find_file(*word, kinds);
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return;  // a shape's name
    word->scalar = std::filesystem::absolute(file).lexically_normal().string();
    for (const Preset& preset : presets(kinds))
        if (std::filesystem::equivalent(preset.file, file, error)) word->scalar = preset.name;
}

/// Returns the platform of a node that a file describes: what the platform that `assignments` name has besides, changed
/// by their keys. Of several names the last counts, which leaves `assignments`.
Node platform_of(Assembly& assembly, const Machine& machine, std::vector<std::string>& assignments,
                 Findings& findings) {
    Node base = mapping_at(machine.mark), keys = mapping_at(machine.mark);
    std::erase_if(assignments, [&](const std::string& text) {
        bool is_base = false;
        assembly.attempt([&] {
            const Node changes = parse_assignment(assembly.library, text);
            const Node* const platform = changes.find("platform");
            if (platform == nullptr) return;
            is_base = platform->kind == Node::Kind::scalar;
            if (!is_base) return merge(keys, *platform);
            base = *platform;
            assembly.library.expand(base, {"platform"});
            name_anywhere(base.find("device"), {"device"});
            name_anywhere(base.find("transport"), {"transport"});
            if (Node* const fabric = base.find("fabric"); fabric && !is_shape(fabric->scalar))
                name_anywhere(fabric, {"topology"});
        });
        return is_base;
    });
    assembly.finish();
    if (base.find("simgrid_xml"))
        throw ConfigError({{locate(base.mark), "a platform in SimGrid's format has no `per_node`",
                            "name another, or `--set platform.device=…` alone"}});
    if (!machine.device.empty() && base.find("device") == nullptr && keys.find("device") == nullptr) {
        findings.note(machine.mark, fmt::format("the GPU's PCI number is that of '{}'", machine.device),
                      "`--set platform.device=…`");
        base.entries.push_back({"device", machine.mark, scalar_at(machine.mark, machine.device)});
    }
    take(base, "name");
    Node known = base;
    for (const char* key : {"devices", "links", "nics", "nic_link", "affinity"})
        if (Node* const node = known.find("per_node")) take(*node, key);
    base = known;
    merge(known, keys);
    Node* const device = known.find("device");
    if (device == nullptr)
        throw ConfigError({{locate(machine.mark), "the file does not say which GPU this is",
                            fmt::format("`--set platform.device=…`{}; `syncline list devices`",
                                        machine.device_hint.empty() ? "" : ", one of " + machine.device_hint)}});
    if (device->kind == Node::Kind::scalar) assembly.library.expand(*device, {"device"});
    const Node* const name = device->find("name");
    const Node written = machine_keys(machine, known, name ? name->scalar : "", findings);
    Node platform = mapping_at(machine.mark, {{"name", machine.mark, scalar_at(machine.mark, machine.name)}});
    merge(platform, base);
    merge(platform, written);
    return platform;
}

/// Returns what the files say, and `assignments` on top of it, in the keys of a scenario.
Node put_together(Assembly& assembly, Imported& imported, std::vector<std::string> assignments) {
    assembly.attempt([&] {
        if (imported.machine)
            imported.platform = platform_of(assembly, *imported.machine, assignments, imported.findings);
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
                         fmt::format("the ranks were on {} hosts, and are on {} nodes of the platform", imported.hosts,
                                     nodes.size()),
                         "choose their places: `--set collective.placement='[0, 8]'`, or another platform"});
}

Node in_order(Node mapping, std::initializer_list<const char*> keys) {
    Node ordered = mapping_at(mapping.mark);
    for (const char* key : keys)
        if (const Entry* const entry = mapping.entry(key)) ordered.entries.push_back(*entry);
    for (Entry& entry : mapping.entries)
        if (ordered.find(entry.key) == nullptr) ordered.entries.push_back(std::move(entry));
    return ordered;
}

/// Returns the sections of a document in the order of shipped files.
Node in_order(Node document) {
    const std::initializer_list<const char*> platform = {"name", "nodes", "device", "host", "per_node", "fabric"};
    if (document.find("per_node")) return in_order(std::move(document), platform);
    if (Node* const part = document.find("platform"); part && part->kind == Node::Kind::mapping)
        *part = in_order(std::move(*part), platform);
    return in_order(std::move(document), {"name", "platform", "workload", "training", "collective"});
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
        for (std::size_t i = 0; i < question.names.size(); ++i)
            if (std::filesystem::path(question.files[i]).filename() == xml->scalar) xml->scalar = question.names.at(i);
    answer.text = "# Written by `syncline import` from\n";
    for (const std::string& origin : imported.origins) answer.text += comment("- " + origin);
    answer.text += notes_as_comments(answer.notes);
    answer.text += readable_text(in_order(std::move(document)));
    return answer;
}

namespace {

bool is_trace(const std::string& file) {
    return trace_format_of(file).has_value();
}

/// Returns a document with the key `trace`: the files, and what foreign files set.
Node trace_document(Assembly& assembly, Imported& imported, const std::vector<std::string>& files) {
    Node list = empty_at({}, Node::Kind::sequence);
    for (const std::string& file : files) {
        list.items.push_back(scalar_at({}, file));
        list.items.back().quoted = true;
    }
    Node document = parse_assignment(assembly.library, "trace.files=" + flow_text(list));
    // Other formats, and a file for each rank, say how many ranks there are.
    const std::string format = trace_format_of(files.front()).value_or("");
    const bool open = format == "astra-text" || format == "chakra" || format == "chakra-json";
    if (files.size() > 1 || !open) take(imported.trace, "ranks");
    std::ranges::move(imported.trace.entries, std::back_inserter(document.find("trace")->entries));
    if (imported.platform.kind != Node::Kind::null)
        document.entries.push_back({"platform", imported.platform.mark, imported.platform});
    return document;
}

/// Reports what a trace on a platform needs and no file says, and what has no place beside a trace.
void require_trace_parts(Assembly& assembly, const Imported& imported, const Node& document) {
    for (const Node* part : {&imported.workload, &imported.training, &imported.collective, &imported.measured})
        if (part->kind != Node::Kind::null)
            assembly.report(part->mark, "a trace takes the place of a model, a plan and measurements",
                            "import them without the trace");
    const Node* const platform = document.find("platform");
    if (platform == nullptr)
        assembly.report(document.mark, "a trace does not say on which platform it is replayed",
                        "write for example --set platform=dgx-h100; `syncline list platforms` has more");
    else if (platform->kind == Node::Kind::mapping && !platform->find("device") && !platform->find("simgrid_xml"))
        assembly.report(platform->mark, "the files say nothing of the device",
                        "add `--set platform.device=h100-sxm`; ASTRA-sim's system file has one");
    else if (platform->kind == Node::Kind::mapping && !platform->find("fabric") && !platform->find("simgrid_xml"))
        assembly.report(platform->mark, "the files say nothing of the network", "add its file, or `--set platform=…`");
}

}  // namespace

bool asks_for_trace(const ImportQuestion& question) {
    return question.kind.empty() && std::ranges::any_of(question.files, is_trace);
}

ImportAnswer import_trace(const ImportQuestion& question, const Inspect& inspect) {
    Assembly assembly;
    Imported imported;
    std::vector<std::string> traces, written_names;
    for (std::size_t i = 0; i < question.files.size(); ++i) {
        const std::string& file = question.files[i];
        if (!is_trace(file)) {
            assembly.attempt([&] { read_foreign(assembly.library, assembly.library.argument(file), "", imported); });
            continue;
        }
        traces.push_back(file);
        written_names.push_back(i < question.names.size() ? question.names[i] : file);
    }
    assembly.attempt([&] {
        if (!imported.findings.errors.empty()) throw ConfigError(imported.findings.errors);
    });
    assembly.finish();
    Node document = trace_document(assembly, imported, traces);
    for (const std::string& text : question.assignments)
        assembly.attempt([&] { merge(document, parse_assignment(assembly.library, text)); });
    require_trace_parts(assembly, imported, document);
    assembly.finish();
    Node expanded = document;
    assembly.expand_references(expanded);
    std::string name;
    GridChoices choices;
    const Variant variant = read_variant(assembly, expanded, "import", name, choices, inspect);
    assembly.finish();

    ImportAnswer answer;
    answer.kind = "scenario";
    answer.notes = imported.findings.notes;
    const ExecutionTrace& trace = *variant.trace->trace;
    const auto note = [&](const std::string& text) { answer.notes.push_back({{traces.front(), 1, 1, ""}, text, ""}); };
    for (const std::string& text : trace.notes) note(text);
    if (trace.ranks == 1) note("it has one rank; `--set trace.ranks=N` lets N ranks do the same");
    answer.text = "# Written by `syncline import` from\n";
    for (const std::string& file : traces)
        answer.text += comment(fmt::format("- {}: {}", file, trace_format_of(file).value_or("")));
    for (const std::string& origin : imported.origins) answer.text += comment("- " + origin);
    answer.text += notes_as_comments(imported.findings.notes);
    std::vector<Node>& written = document.find("trace")->find("files")->items;
    for (std::size_t i = 0; i < std::min(written.size(), written_names.size()); ++i)
        written[i].scalar = written_names[i];
    answer.text += readable_text(in_order(std::move(document)));
    return answer;
}

}  // namespace syncline::config
