#pragma once

#include <string>
#include <string_view>

namespace syncline {

/// Returns `text` escaped for an element or attribute of an XML document, in which every character is valid and only
/// shows (printable()).
std::string xml_escaped(std::string_view text);

/// Does the same, with references in place of characters that do not show, so that a reader gets the same text. This
/// must not contain characters that XML cannot hold: problem_of_name() finds them.
std::string xml_exact(std::string_view text);

}  // namespace syncline
