#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/document/document.hpp"

namespace syncline::config {

/// Returns a document as YAML with its sections in the order of shipped files, after comments that name the files of
/// which it was made, and have the notes.
std::string imported_text(const std::vector<std::string>& origins, const std::vector<Diagnostic>& notes, Node document);

}  // namespace syncline::config
