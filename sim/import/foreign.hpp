#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/document/document.hpp"
#include "sim/import/findings.hpp"
#include "sim/import/foreign_keys.hpp"
#include "sim/import/machine.hpp"

/// Files of other programs. A kind is a row of foreign_kinds(): how it is recognised, and its reader, which turns it
/// into keys of ours. README.md describes the formats.
namespace syncline::config {

/// A file of another program.
struct ForeignFile {
    Mark start;     ///< of its text
    Node document;  ///< of YAML, JSON and TOML; else a null

    const std::string& text() const { return start.source->text; }
};

/// What foreign files say, in keys of a scenario. Values have their places in the files.
struct Imported {
    Node platform = {};                  ///< a mapping, or a null
    Node workload;                       ///< a mapping, the name of a preset, or a null
    Node training;                       ///< a mapping, or a null
    Node collective = {};                ///< a mapping, or a null
    Node trace = {};                     ///< a mapping of what is set for an execution trace beside it, or a null
    Node measured = {};                  ///< the key `measured`, or a null
    std::int64_t hosts = 0;              ///< on which the collective was measured; 0: the file does not say it
    bool sizes_of_a_rank = false;        ///< measured sizes are shares of a rank: to be multiplied by the ranks
    std::optional<Given> sequence = {};  ///< tokens of a sample, if a plan says them
    /// A node; the keys of its platform depend on those that are set.
    std::optional<Machine> machine = {};
    Findings findings;
    std::vector<std::string> origins;  ///< "config.json: Hugging Face's config.json"
};

enum class Syntax { document, text };  ///< YAML, JSON or TOML; anything else

struct ForeignKind {
    const char* name;         ///< the word for `--as`
    const char* description;  ///< "Megatron-LM's options"
    Syntax syntax;
    bool (*recognises)(const ForeignFile&);
    void (*read)(const ForeignFile&, Imported&);
};

std::span<const ForeignKind> foreign_kinds();

/// Reads the file that `word` names and adds what it says to `imported`; a later file's workload and measurements
/// replace earlier ones, and keys of its other parts change those before. `kind` is a row's name, or "" to recognise
/// it. Throws ConfigError if the file cannot be read; what is wrong in it is among the findings.
void read_foreign(Library& library, const Node& word, const std::string& kind, Imported& imported);

/// Returns whether a name can only be that of a foreign file, which is not YAML: `launch.sh`, `llama.toml`.
bool is_foreign_name(const std::string& name);

/// Replaces the content of a foreign file by the workload that it describes, and warns of what it leaves out; other
/// documents stay. Throws ConfigError.
void adopt_workload(Node& document);

/// Returns the workload in a file for which is_foreign_name(). Throws ConfigError.
Node foreign_workload(Library& library, const Node& word);

/// Do the same for a platform; the first one returns whether it was foreign.
bool adopt_platform(Node& document);
Node foreign_platform(Library& library, const Node& word);

}  // namespace syncline::config
