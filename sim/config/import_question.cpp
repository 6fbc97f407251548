#include "sim/config/import_question.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/utf8.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/import/foreign.hpp"

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

/// Reports what a scenario needs and no file says.
void require_parts(Assembly& assembly, const Node& document) {
    const Node* const training = document.find("training");
    if (document.find("platform") == nullptr)
        assembly.report(document.mark, "the files say nothing of the cluster",
                        "add `--set platform=dgx-h100`, its file or preset");
    if (document.find("workload") == nullptr)
        assembly.report(document.mark, "the files say nothing of the model",
                        "add its config.json, or `--set workload=llama-3-70b`");
    if (training->find("ranks") == nullptr)
        assembly.report(document.mark, "the files say nothing of the number of GPUs", "add `--set training.ranks=64`");
    if (training->find("batch") == nullptr && training->find("batch_per_rank") == nullptr)
        assembly.report(document.mark, "the files say nothing of the batch",
                        "add `--set training.batch=128`, the samples of an iteration");
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
    const Mark& start = imported.training.kind == Node::Kind::null ? imported.workload.mark : imported.training.mark;
    Node document = mapping_at(start);
    if (imported.sequence && imported.workload.kind != Node::Kind::null) {
        // A preset's length of samples can only be changed with its other keys there, and its published totals no
        // longer hold.
        assembly.attempt([&] {
            if (imported.workload.kind == Node::Kind::scalar)
                imported.workload = assembly.workload_in(imported.workload);
        });
        assembly.finish();
        if (Node* const length = imported.workload.find("sequence");
            length && length->scalar != std::to_string(imported.sequence->value)) {
            *length = scalar_at(imported.sequence->mark, std::to_string(imported.sequence->value));
            take(imported.workload, "published");
        }
    }
    const auto add = [&](const char* key, Node& part) {
        if (part.kind != Node::Kind::null) document.entries.push_back({key, part.mark, std::move(part)});
    };
    add("workload", imported.workload);
    add("training", imported.training);
    for (const std::string& text : question.assignments)
        assembly.attempt([&] {
            const Node changes = parse_assignment(assembly.library, text);
            drop_alternatives(document, changes);
            merge(document, changes);
        });

    ImportAnswer answer;
    answer.notes = imported.findings.notes;
    answer.kind = document.find("training") || document.find("platform") ? "scenario" : "workload";
    Node whole = document;
    if (answer.kind == "scenario") {
        if (document.find("training") == nullptr)
            assembly.report(start, "the files say nothing of a plan", "leave out `--set platform`");
        assembly.finish();
        require_parts(assembly, document);
        assembly.finish();
        assembly.expand_references(whole);
        std::string name;
        GridChoices choices;
        const Variant variant = read_variant(assembly, whole, "import", name, choices, inspect);
        refuse_open(assembly, whole, variant);
    } else {
        Model model;
        const Node* const workload = document.find("workload");
        if (workload == nullptr) assembly.report(start, "the files say nothing of a model");
        assembly.finish();
        whole = *workload;
        document = *workload;
        assembly.read(whole, "workload", [&](Fields& fields) { describe(fields, model); });
    }
    assembly.finish();

    answer.text = "# Written by `syncline import` from\n";
    for (const std::string& origin : imported.origins) answer.text += comment("- " + origin);
    if (!answer.notes.empty()) answer.text += "# Notes:\n";
    for (const Diagnostic& note : answer.notes)
        answer.text += comment(fmt::format("- {}:{}: {}", note.where.file, note.where.line, note.message));
    // Sections in the order of shipped scenarios.
    Node ordered = mapping_at(start);
    for (const char* key : {"name", "platform", "workload", "training"})
        if (const Entry* const entry = document.entry(key)) ordered.entries.push_back(*entry);
    for (const Entry& entry : document.entries)
        if (ordered.find(entry.key) == nullptr) ordered.entries.push_back(entry);
    answer.text += readable_text(ordered);
    return answer;
}

}  // namespace syncline::config
