#pragma once

#include <string>
#include <string_view>

namespace syncline {

/// Returns `text` escaped for an element or attribute of an XML document.
std::string xml_escaped(std::string_view text);

}  // namespace syncline
