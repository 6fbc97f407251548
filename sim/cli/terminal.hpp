#pragma once

#include <cstddef>
#include <string>

namespace syncline::cli {

/// Returns the width in characters of the terminal behind a descriptor, or $COLUMNS if that is set; 80 if there is no
/// terminal, so that what other programs read does not depend on one.
std::size_t width_of(int descriptor);

/// Returns whether standard output is a terminal that shows bars of characters: one with UTF-8 (LC_ALL, LC_CTYPE,
/// LANG).
bool shows_bars();

/// Writes a result's text to standard output. On a terminal notes are broken at its width, and unless NO_COLOR is set,
/// the title, the best row (marked by *) and the word "note" stand out, and the parts of bars have colours.
void write_table(const std::string& text);

}  // namespace syncline::cli
