#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

/// XML documents of other tools, read element by element with expat.
///
/// Such files come from strangers. Refused are documents that declare entities, which may grow without limit, and those
/// nested more deeply than `deepest`. External DTDs are never read.
namespace syncline {

struct XmlError : std::runtime_error {
    XmlError(std::size_t in_line, const std::string& what) : std::runtime_error(what), line(in_line) {}
    std::size_t line;
};

/// The beginning of an element.
struct XmlTag {
    std::string_view name;
    std::span<const char* const> attributes;  ///< names and values in turn
    std::size_t line = 0;

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

}  // namespace syncline
