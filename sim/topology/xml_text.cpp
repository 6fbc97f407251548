#include "sim/topology/xml_text.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "sim/base/utf8.hpp"

namespace syncline {

namespace {

std::string with_entities(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += letter;
        }
    }
    return result;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
    return with_entities(printable(text));
}

std::string xml_exact(std::string_view text) {
    return with_escapes(with_entities(text), "",
                        [](char32_t character) { return fmt::format("&#x{:x};", std::uint32_t{character}); });
}

}  // namespace syncline
