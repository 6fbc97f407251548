#include "sim/import/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "sim/document/override.hpp"
#include "sim/document/presets.hpp"
#include "sim/document/read_text.hpp"
#include "sim/import/astra_sim.hpp"
#include "sim/import/data_parallel_files.hpp"
#include "sim/import/huggingface.hpp"
#include "sim/import/log_text.hpp"
#include "sim/import/machine_files.hpp"
#include "sim/import/measured_logs.hpp"
#include "sim/import/megatron_flags.hpp"
#include "sim/import/network_texts.hpp"
#include "sim/import/toml_document.hpp"
#include "sim/import/transformer_file.hpp"

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
    {"topo", "the matrix of `nvidia-smi topo -m`", Syntax::text, is_topology_matrix, read_topology_matrix},
    {"nccl", "NCCL's topology in XML", Syntax::text, is_nccl_topology, read_nccl_topology},
    {"lstopo", "hwloc's lstopo in XML", Syntax::text, is_lstopo, read_lstopo},
    {"simgrid", "SimGrid's XML of a platform", Syntax::text,
     [](const ForeignFile& file) { return file.text().find("<platform version=") != std::string::npos; },
     [](const ForeignFile& file, Imported& imported) {
         const std::string name = std::filesystem::path(file.start.source->name).filename().string();
         imported.platform = mapping_at(file.start, {{"simgrid_xml", file.start, scalar_at(file.start, name)}});
     }},
    {"nccl-tests", "nccl-tests' output", Syntax::text, is_nccl_tests, read_nccl_tests},
    {"osu", "OSU micro-benchmarks' output", Syntax::text, is_osu, read_osu},
    {"megatron-log", "Megatron-LM's log", Syntax::text, is_megatron_log, read_megatron_log},
    {"torchtitan-log", "torchtitan's log", Syntax::text, is_torchtitan_log, read_torchtitan_log},
    {"trainer-log", "the log of Hugging Face's Trainer", Syntax::text, is_trainer_log, read_trainer_log},
    {"deepspeed-log", "DeepSpeed's log", Syntax::text, is_deepspeed_log, read_deepspeed_log},
    {"nemo", "NeMo 1's YAML", Syntax::document, [](const ForeignFile& file) { return is_nemo(file.document); },
     [](const ForeignFile& file, Imported& imported) { read_nemo(file.document, imported); }},
    {"megatron", "Megatron-LM's options, in a script or alone", Syntax::text, is_megatron, read_megatron},
    {"astra-network", "ASTRA-sim's network", Syntax::document,
     [](const ForeignFile& file) { return is_astra_network(file.document); },
     [](const ForeignFile& file, Imported& imported) { read_astra_network(file.document, imported); }},
    {"astra-system", "ASTRA-sim's system", Syntax::document,
     [](const ForeignFile& file) { return is_astra_system(file.document); },
     [](const ForeignFile& file, Imported& imported) { read_astra_system(file.document, imported); }},
    {"ns3", "a topology for ns-3, of HPCC, ASTRA-sim or SimAI", Syntax::text, is_ns3, read_ns3},
    {"htsim", "htsim's fat tree", Syntax::text, is_htsim, read_htsim},
    {"ibnetdiscover", "what ibnetdiscover prints", Syntax::text, is_ibnetdiscover, read_ibnetdiscover},
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
    const bool is_long = ends_like(name, {".log", ".out", ".err", ".txt", ".xml"});
    Text read = read_text(path, is_long ? largest_yaml : largest_text);
    if (!read.text) throw ConfigError({{locate(word.mark), read.error, read.hint}});
    std::string& text = *read.text;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{' && !text.substr(first).starts_with("{'")) {
        file.document = library.parse(shown(path), std::move(text), path.parent_path());
        file.start = {file.document.mark.source, 1, 1};
        return file;
    }
    file.start = library.cite(shown(path), without_escapes(text), path.parent_path());
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

/// Notes the values that those of a later file replace.
void note_changes(const Node& before, const Node& later, const std::string& path, Findings& findings) {
    for (const Entry& entry : later.entries) {
        const Node* const known = before.find(entry.key);
        if (known == nullptr || known->kind != entry.value.kind) continue;
        if (known->kind == Node::Kind::mapping) note_changes(*known, entry.value, path + entry.key + ".", findings);
        if (known->kind == Node::Kind::scalar && known->scalar != entry.value.scalar)
            findings.note(entry.value.mark, fmt::format("'{}{}' is {} here, and {} in an earlier file", path, entry.key,
                                                        entry.value.scalar, known->scalar));
    }
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
    if (imported.measured.kind != Node::Kind::null && read.measured.kind != Node::Kind::null)
        read.findings.note(file.start, "the measurements of this file replace those before",
                           "import each file alone to have both");
    for (Node Imported::*const part : {&Imported::workload, &Imported::measured})
        if ((read.*part).kind != Node::Kind::null) imported.*part = std::move(read.*part);
    for (Node Imported::*const part :
         {&Imported::platform, &Imported::training, &Imported::collective, &Imported::trace})
        if ((imported.*part).kind == Node::Kind::null)
            imported.*part = std::move(read.*part);
        else if ((read.*part).kind != Node::Kind::null) {
            note_changes(imported.*part, read.*part, "", imported.findings);
            merge(imported.*part, read.*part);
        }
    if (read.machine) {
        read.machine->name = written_name(std::filesystem::path(file.start.source->name).stem().string(), "node");
        imported.machine = std::move(read.machine);
    }
    if (read.measured.kind != Node::Kind::null) {
        imported.hosts = read.hosts;
        imported.sizes_of_a_rank = read.sizes_of_a_rank;
    }
    if (read.sequence) imported.sequence = read.sequence;
    const auto append = [](std::vector<Diagnostic>& all, std::vector<Diagnostic>& more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    append(imported.findings.errors, read.findings.errors);
    append(imported.findings.notes, read.findings.notes);
}

bool is_foreign_name(const std::string& name) {
    return ends_like(name, {".sh", ".bash", ".slurm", ".sbatch", ".toml", ".topo", ".txt"});
}

namespace {

/// Warns of what was found. Throws ConfigError if there are errors.
void tell(Findings& findings) {
    for (const Diagnostic& note : findings.notes) warn(note);
    if (!findings.errors.empty()) throw ConfigError(std::move(findings.errors));
}

/// Returns the part of what a file says that has this name.
Node part_of(Library& library, const Node& word, Node Imported::*part, const char* name) {
    Imported imported;
    read_foreign(library, word, "", imported);
    tell(imported.findings);
    if (imported.machine && part == &Imported::platform)
        throw ConfigError({{locate(word.mark), fmt::format("'{}' is no platform yet", word.scalar),
                            fmt::format("`syncline import {} --out platform.yaml` makes one of it", word.scalar)}});
    if ((imported.*part).kind == Node::Kind::null)
        throw ConfigError({{locate(word.mark), fmt::format("'{}' says nothing of a {}", word.scalar, name), ""}});
    return std::move(imported.*part);
}

}  // namespace

void adopt_workload(Node& document) {
    if (!is_huggingface(document)) return;
    Findings findings;
    Node workload = read_huggingface(document, findings);
    tell(findings);
    document = std::move(workload);
}

Node foreign_workload(Library& library, const Node& word) {
    return part_of(library, word, &Imported::workload, "model");
}

bool adopt_platform(Node& document) {
    if (!is_astra_network(document)) return false;
    Imported imported;
    read_astra_network(document, imported);
    tell(imported.findings);
    document = std::move(imported.platform);
    return true;
}

Node foreign_platform(Library& library, const Node& word) {
    return part_of(library, word, &Imported::platform, "cluster");
}

}  // namespace syncline::config
