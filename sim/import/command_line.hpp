#pragma once

#include "sim/document/document.hpp"

namespace syncline::config {

/// Returns the options in the text of a shell script or a command line: a mapping of names without `--`, with `-` for
/// `_`, to their first values ("true" if none), each with its place. Options are taken wherever they are: in commands,
/// arrays, variables, and lines that begin with `#SBATCH`. Values of variables that the text sets are put in, and
/// products of them; others stay as written (`$TP`). Of an option given twice, the last value counts.
Node options_in(const Mark& start);

}  // namespace syncline::config
