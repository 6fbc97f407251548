#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/diagnostics.hpp"

/// XML documents of other tools, read element by element with expat. Refused are documents that declare entities, and
/// those nested more deeply than a hundred. External DTDs are never read.
namespace syncline {

/// A position in the document, counted from 1, in characters.
struct XmlLocation {
    std::size_t line = 1, column = 1;
};

struct XmlError : std::runtime_error {
    XmlError(XmlLocation where, const std::string& what, std::string with_hint = "")
        : std::runtime_error(what), place(where), hint(std::move(with_hint)) {}
    XmlLocation place;
    std::string hint;
};

/// The beginning of an element.
struct XmlTag {
    std::string_view name;
    std::span<const char* const> attributes;  ///< names and values in turn
    XmlLocation place;

    std::optional<std::string> attribute(std::string_view name) const;
};

class XmlHandler {
public:
    virtual ~XmlHandler() = default;
    virtual void open(const XmlTag& tag) = 0;
    /// `text`: between the tags of the innermost element, without spaces at both ends; empty if it has children.
    virtual void close(std::string_view name, std::string_view text) = 0;
};

/// Calls the handler for each element, in the order of the document. Throws XmlError, and what the handler throws.
void parse_xml(std::string_view text, XmlHandler& handler);

/// Returns a place in the text of a file.
Location locate_xml(const std::string& file, std::string_view text, const XmlLocation& place);

/// Throws ConfigError with the place of the error in the text of a file.
[[noreturn]] void refuse_xml(const std::string& file, std::string_view text, const XmlError& error);

}  // namespace syncline
