#include "sim/import/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "sim/document/override.hpp"
#include "sim/document/presets.hpp"
#include "sim/document/read_text.hpp"
#include "sim/import/data_parallel_files.hpp"
#include "sim/import/huggingface.hpp"
#include "sim/import/megatron_flags.hpp"
#include "sim/import/toml_document.hpp"

namespace syncline::config {

namespace {

constexpr ForeignKind kinds[] = {
    {"huggingface", "Hugging Face's config.json", Syntax::document,
     [](const ForeignFile& file) { return is_huggingface(file.document); },
     [](const ForeignFile& file, Imported& imported) {
         imported.workload = read_huggingface(file.document, imported.findings);
     }},
    {"torchtitan", "torchtitan's TOML", Syntax::document,
     [](const ForeignFile& file) { return is_torchtitan(file.document); },
     [](const ForeignFile& file, Imported& imported) { read_torchtitan(file.document, imported); }},
    {"deepspeed", "DeepSpeed's JSON", Syntax::document,
     [](const ForeignFile& file) { return is_deepspeed(file.document); },
     [](const ForeignFile& file, Imported& imported) { read_deepspeed(file.document, imported); }},
    {"accelerate", "Accelerate's YAML", Syntax::document,
     [](const ForeignFile& file) { return is_accelerate(file.document); },
     [](const ForeignFile& file, Imported& imported) { read_accelerate(file.document, imported); }},
    {"nemo", "NeMo 1's YAML", Syntax::document, [](const ForeignFile& file) { return is_nemo(file.document); },
     [](const ForeignFile& file, Imported& imported) { read_nemo(file.document, imported); }},
    {"megatron", "Megatron-LM's options, in a script or alone", Syntax::text, is_megatron, read_megatron},
};

bool ends_like(const std::string& name, std::initializer_list<const char*> ends) {
    return std::any_of(ends.begin(), ends.end(), [&](const char* end) { return name.ends_with(end); });
}

ForeignFile open(Library& library, const Node& word) {
    const std::filesystem::path path = find_file(word, {});
    const std::string name = path.string();
    ForeignFile file;
    if (ends_like(name, {".json", ".yaml", ".yml"})) {
        file.document = word;
        library.expand(file.document);
        file.start = {file.document.mark.source, 1, 1};
        return file;
    }
    constexpr std::size_t largest_text = 1 << 20;
    Text read = read_text(path, largest_text);
    if (!read.text) throw ConfigError({{locate(word.mark), read.error, read.hint}});
    std::string& text = *read.text;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{') {
        file.document = library.parse(shown(path), std::move(text), path.parent_path());
        file.start = {file.document.mark.source, 1, 1};
        return file;
    }
    file.start = library.cite(shown(path), std::move(text), path.parent_path());
    check_text(*file.start.source);
    if (name.ends_with(".toml")) file.document = toml_document(file.start);
    return file;
}

const ForeignKind& kind_of_file(const ForeignFile& file, const std::string& wanted) {
    std::vector<std::string> names;
    const bool document = file.document.kind == Node::Kind::mapping;
    for (const ForeignKind& kind : kinds) {
        const bool readable = document || kind.syntax == Syntax::text;
        if (wanted.empty() ? readable && kind.recognises(file) : kind.name == wanted) {
            if (!readable) throw ConfigError({{locate(file.start), "this file has no keys in JSON, YAML or TOML", ""}});
            return kind;
        }
        names.push_back(fmt::format("{} ({})", kind.name, kind.description));
    }
    throw ConfigError({{locate(file.start), "this file is of no kind that is read",
                        fmt::format("`--as KIND` names it: {}", fmt::join(names, ", "))}});
}

}  // namespace

std::span<const ForeignKind> foreign_kinds() {
    return kinds;
}

void read_foreign(Library& library, const Node& word, const std::string& kind, Imported& imported) {
    const ForeignFile file = open(library, word);
    const ForeignKind& row = kind_of_file(file, kind);
    Imported read;
    row.read(file, read);
    imported.origins.push_back(fmt::format("{}: {}", file.start.source->name, row.description));
    for (Node Imported::*const part : {&Imported::workload, &Imported::measured})
        if ((read.*part).kind != Node::Kind::null) imported.*part = std::move(read.*part);
    for (Node Imported::*const part : {&Imported::platform, &Imported::training, &Imported::collective})
        if ((imported.*part).kind == Node::Kind::null)
            imported.*part = std::move(read.*part);
        else if ((read.*part).kind != Node::Kind::null)
            merge(imported.*part, read.*part);
    if (read.sequence) imported.sequence = read.sequence;
    const auto append = [](std::vector<Diagnostic>& all, std::vector<Diagnostic>& more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    append(imported.findings.errors, read.findings.errors);
    append(imported.findings.notes, read.findings.notes);
}

bool is_foreign_name(const std::string& name) {
    return ends_like(name, {".sh", ".bash", ".slurm", ".sbatch", ".toml"});
}

void adopt_workload(Node& document) {
    if (!is_huggingface(document)) return;
    Findings findings;
    Node workload = read_huggingface(document, findings);
    for (const Diagnostic& note : findings.notes) warn(note);
    if (!findings.errors.empty()) throw ConfigError(std::move(findings.errors));
    document = std::move(workload);
}

Node foreign_workload(Library& library, const Node& word) {
    Imported imported;
    read_foreign(library, word, "", imported);
    for (const Diagnostic& note : imported.findings.notes) warn(note);
    if (!imported.findings.errors.empty()) throw ConfigError(std::move(imported.findings.errors));
    if (imported.workload.kind == Node::Kind::null)
        throw ConfigError({{locate(word.mark), fmt::format("'{}' says nothing of a model", word.scalar), ""}});
    return std::move(imported.workload);
}

}  // namespace syncline::config
