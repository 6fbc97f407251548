#pragma once

#include "sim/document/document.hpp"

namespace syncline::config {

/// Reads TOML 1.0 as a document, with the places of its keys and values; texts are quoted scalars. Only this file's
/// source uses toml++. Throws ConfigError.
Node toml_document(const Mark& start);

}  // namespace syncline::config
