#pragma once

#include <string>

#include "sim/config/document.hpp"

/// Documents as YAML text. What is written reads back as the same document: plain scalars are written as they were,
/// quoted ones quoted again.
namespace syncline::config {

/// On one line, in brackets.
std::string flow_text(const Node& node);

/// A mapping in block style, ended by a newline.
std::string block_text(const Node& mapping);

}  // namespace syncline::config
