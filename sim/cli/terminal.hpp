#pragma once

#include <cstddef>

namespace syncline::cli {

/// Returns the width in characters of the terminal behind a descriptor, or $COLUMNS if that is set; 80 if there is no
/// terminal, so that what other programs read does not depend on one.
std::size_t width_of(int descriptor);

}  // namespace syncline::cli
