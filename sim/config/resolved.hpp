#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"

/// A resolved scenario: one variant, with the content of every file in place of its name and all overrides applied. Two
/// are equal byte by byte exactly if their content is the same: keys are sorted, and a value stays as written. Name,
/// description and expectations are left out. Document, seed and version determine a simulation. Files that are not
/// YAML (graphs, SimGrid's platforms) stay names, relative to the working directory; `identity` leaves the names out,
/// and `files` has their content, and that of the files that they name.
namespace syncline::config {

struct Variant;

/// One key of the scenario's top level. Points of a study share most of them.
struct ResolvedSection {
    std::string key;              ///< `platform`, `workload`, `training`, `collective`; `free_layers` of an ablation
    std::string text;             ///< YAML, the key included, ended by a newline
    std::string identity = text;  ///< the same without the names of files
};

struct Resolved {
    std::vector<ResolvedSection> sections;  ///< by key
    std::vector<std::string> files;         ///< contents, in the order in which the sections name them

    /// Returns all sections as one YAML document, which is a scenario.
    std::string text() const;
};

/// The key of a resolved document that has an ablation's `free_layers`.
inline constexpr const char* free_layers_key = "free_layers";

struct OtherFile;

/// Resolves a variant's assembled document, which may have the key `free_layers` of an ablation beside those of a
/// scenario. `files` are the files that it names and that are not YAML.
Resolved resolve(Node document, const std::vector<OtherFile>& files);

/// Reads such a document; errors show `name`. `seed` determines everything random. `again`, if given, gets the document
/// resolved once more if it names files: the same, unless one has changed since. Throws ConfigError.
Variant load_resolved(const std::string& text, const std::string& name, const Inspect& inspect, std::uint64_t seed = 1,
                      Resolved* again = nullptr);

}  // namespace syncline::config
