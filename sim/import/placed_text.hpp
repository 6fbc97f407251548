#pragma once

#include <string_view>
#include <vector>

#include "sim/document/document.hpp"

namespace syncline::config {

/// A part of a foreign text, with its place.
struct PlacedText {
    std::string_view text;
    Mark mark;
};

/// Returns the words of a line, without the spaces between them.
std::vector<PlacedText> words_of(const PlacedText& line);

}  // namespace syncline::config
