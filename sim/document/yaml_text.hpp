#pragma once

#include <string>

#include "sim/document/document.hpp"

/// Writes documents as YAML text that reads back as the same document: plain scalars stay as written, quoted ones are
/// quoted again.
namespace syncline::config {

/// Returns a document on one line, in brackets.
std::string flow_text(const Node& node);

/// Returns a mapping in block style, ended by a newline.
std::string block_text(const Node& mapping);

}  // namespace syncline::config
