#pragma once

#include <cstddef>

#include "sim/document/document.hpp"

namespace syncline::config {

/// Reads the one document in `source`, without the first `skip` bytes of its text. Returns a null if there is none.
/// Throws ConfigError.
Node parse_yaml(const Source& source, std::size_t skip);

}  // namespace syncline::config
