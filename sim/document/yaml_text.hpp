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

/// Returns a mapping as people write it, ended by a newline: in block style, but in brackets what has no lists of
/// mappings inside. Lines have at most 140 columns if names are short.
std::string readable_text(const Node& mapping);

}  // namespace syncline::config
