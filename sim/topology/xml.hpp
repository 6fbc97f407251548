#pragma once

#include <string>
#include <string_view>

namespace syncline {

/// Returns `text` escaped for an element or attribute of an XML document, in which every character is valid and only
/// shows (printable()).
std::string xml_escaped(std::string_view text);

/// Does the same, with references in place of characters that do not show, so that a reader gets the same text.
std::string xml_exact(std::string_view text);

}  // namespace syncline
