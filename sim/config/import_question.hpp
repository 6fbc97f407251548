#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"

namespace syncline::config {

/// The question of `syncline import`.
struct ImportQuestion {
    std::vector<std::string> files;
    /// Returns the name by which the answer names a file, as it names files relative to itself. Default: the same.
    std::function<std::string(const std::string& file)> named = [](const std::string& file) { return file; };
    std::string kind = {};                      ///< of all files, a word of foreign_kinds(); "" to recognise each
    std::vector<std::string> assignments = {};  ///< `key.path=value` of a scenario
};

/// A file of ours that says what foreign files say.
struct ImportAnswer {
    std::string kind;               ///< "workload", "platform", "scenario" if the files have a plan, or "measured"
    std::string text;               ///< YAML; comments name the files, and have the notes
    std::vector<Diagnostic> notes;  ///< what was chosen, left out or not understood
};

/// Names the files that are a document's platform and workload as the answer must.
void name_parts(const ImportQuestion& question, Node& document);

/// Reads foreign files, puts them together, and checks the result as `syncline check` does. Throws ConfigError, whose
/// places are in the foreign files.
ImportAnswer import_files(const ImportQuestion& question, const Inspect& inspect = {});

/// Returns whether a file is an execution trace, and no kind is named.
bool asks_for_trace(const ImportQuestion& question);

/// Returns a scenario that replays the traces among the files on the platform that the other files or an assignment
/// give, and checks it. Throws ConfigError.
ImportAnswer import_trace(const ImportQuestion& question, const Inspect& inspect = {});

}  // namespace syncline::config
