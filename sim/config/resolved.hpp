#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/files.hpp"

/// A scenario with nothing left to look up: one variant, every file's content in place of its name, no overrides.
///
/// Two are equal byte by byte exactly if they say the same: keys are sorted, and a value is written as it was (`64 MiB`
/// and `64MiB` are two). Name, description and expectations are left out. What is not said has the program's defaults,
/// so that a simulation is given by document, seed and version. Files that are no YAML (graphs, SimGrid's platforms)
/// stay names, relative to the working directory, and `files` has what they held.
namespace syncline::config {

/// One key of the scenario's top level: points of a study share most of them.
struct Section {
    std::string key;   ///< `platform`, `workload`, `training`, `collective`
    std::string text;  ///< YAML, the key included, ended by a newline
};

struct Resolved {
    std::vector<Section> sections;   ///< by key
    std::vector<std::string> files;  ///< contents, in the order in which the sections name them

    /// All of it as one YAML document, which is a scenario.
    std::string text() const;
};

struct OtherFile;

/// Of a variant's document, put together; `files` are those that it names and that are no YAML.
Resolved resolve(Node document, const std::vector<OtherFile>& files);

/// Reads such a document; `name` stands for it in errors. Throws ConfigError.
Variant load_resolved(const std::string& text, const std::string& name, const Inspect& inspect, std::uint64_t seed = 1);

}  // namespace syncline::config
