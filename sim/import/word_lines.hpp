#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/import/findings.hpp"
#include "sim/import/placed_text.hpp"

/// Texts that have a record on each line, in words divided by spaces.
namespace syncline::config {

class WordLines {
public:
    /// The text at `start`; from `comment` to the end of a line it says nothing.
    explicit WordLines(const Mark& start, char comment = '#');

    /// Returns the words of the next line that has any; empty at the end.
    std::vector<PlacedText> next();
    /// Returns the place where reading stopped.
    const Mark& mark() const { return mark_; }

private:
    std::string_view rest_;
    Mark mark_;
    char comment_;
};

/// Return the number or quantity that a word is. Another word, or one out of range, is an error, and then nothing is
/// returned.
std::optional<std::int64_t> whole_of(const PlacedText& word, const char* what, std::int64_t least, std::int64_t most,
                                     Findings& findings);
std::optional<double> quantity_of(const PlacedText& word, Dimension dimension, Findings& findings);

}  // namespace syncline::config
