#pragma once

#include <string>
#include <string_view>

namespace syncline {

/// `text` as it stands in an XML document, in an element or an attribute.
std::string xml_escaped(std::string_view text);

}  // namespace syncline
