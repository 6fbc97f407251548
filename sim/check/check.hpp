#pragma once

#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/json_schema.hpp"

/// All kinds of file together: checking any of them, and the schema of each.
namespace syncline::config {

/// Returns whether the file looks like a study or a scenario, with or without errors. Throws ConfigError if it is not
/// YAML.
bool is_study_or_scenario(const std::string& path);

/// Checks one file and returns its kind: one of file_kinds(). Throws ConfigError.
std::string check_file(const std::string& path, const Inspect& inspect = {});

/// Returns the kinds of file: "scenario", "platform", "device", "transport", "workload", "topology",
/// "selection", "study", "measured", "ablation", "framework".
const std::vector<std::string>& file_kinds();

/// Returns the JSON Schema of a kind of file.
std::string schema_of(const std::string& kind);

/// Returns the keys of a kind of file, by their paths from the top.
std::vector<DescribedKey> keys_of(const std::string& kind);

/// Returns the description of a key, given as a path through sections of that schema: `training.ranks`.
std::string description_of(const std::string& kind, const std::string& key);

/// Returns the words that such a key can be; nothing if it takes other values only.
std::vector<std::string> words_of(const std::string& kind, const std::string& key);

}  // namespace syncline::config
