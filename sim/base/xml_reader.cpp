#include "sim/base/xml_reader.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

namespace syncline {

namespace {

constexpr int deepest = 100;
constexpr std::size_t piece = std::size_t{1} << 20;  // expat counts bytes as int

/// One document. Nothing may be thrown through expat, which is written in C: exceptions are kept until it returns.
class Reading {
public:
    explicit Reading(XmlHandler& handler) : handler_(handler), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
        if (parser_ == nullptr) throw std::bad_alloc();
        XML_SetUserData(parser_.get(), this);
        XML_SetElementHandler(parser_.get(), open, close);
        XML_SetCharacterDataHandler(parser_.get(), characters);
        XML_SetEntityDeclHandler(parser_.get(), entity);
        XML_SetSkippedEntityHandler(parser_.get(), skipped);
    }

    void read(std::string_view text) {
        skip_space_before_declaration(text);
        do {
            const std::string_view part = text.substr(0, piece);
            text.remove_prefix(part.size());
            const XML_Status status =
                XML_Parse(parser_.get(), part.data(), static_cast<int>(part.size()), text.empty() ? 1 : 0);
            if (error_) std::rethrow_exception(error_);
            if (status != XML_STATUS_OK)
                throw XmlError(place(),
                               fmt::format("this is not XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
        } while (!text.empty());
    }

private:
    /// An XML declaration must be first. Files that are edited by hand often begin with an empty line, and other
    /// programs, such as SimGrid, read them.
    void skip_space_before_declaration(std::string_view& text) {
        const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
        if (!text.substr(begin).starts_with("<?xml")) return;
        const std::string_view space = text.substr(0, begin);
        lines_before_ = static_cast<std::size_t>(std::count(space.begin(), space.end(), '\n'));
        columns_before_ = begin - (space.find_last_of('\n') + 1);
        text.remove_prefix(begin);
    }

    XmlLocation place() const {
        const std::size_t line = XML_GetCurrentLineNumber(parser_.get()),
                          column = XML_GetCurrentColumnNumber(parser_.get()) + 1;
        return {line + lines_before_, line == 1 ? column + columns_before_ : column};
    }

    template <class Act>
    void guarded(const Act& act) {
        if (error_) return;
        try {
            act();
        } catch (...) {
            error_ = std::current_exception();
            XML_StopParser(parser_.get(), XML_FALSE);
        }
    }

    static void XMLCALL open(void* reading, const XML_Char* name, const XML_Char** attributes) {
        auto& self = *static_cast<Reading*>(reading);
        self.guarded([&] {
            if (++self.depth_ > deepest) throw XmlError(self.place(), "elements are nested too deeply");
            self.text_.clear();
            std::size_t count = 0;
            while (attributes[count] != nullptr) ++count;
            self.handler_.open({name, {attributes, count}, self.place()});
        });
    }

    static void XMLCALL close(void* reading, const XML_Char* name) {
        auto& self = *static_cast<Reading*>(reading);
        self.guarded([&] {
            --self.depth_;
            std::string_view text = self.text_;
            constexpr std::string_view spaces = " \t\r\n";
            text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
            text = text.substr(0, text.find_last_not_of(spaces) + 1);
            self.handler_.close(name, text);
            self.text_.clear();
        });
    }

    static void XMLCALL characters(void* reading, const XML_Char* text, int length) {
        auto& self = *static_cast<Reading*>(reading);
        self.guarded([&] { self.text_.append(text, static_cast<std::size_t>(length)); });
    }

    /// With an external DTD, which is not read, expat leaves out entities that it does not know.
    static void XMLCALL skipped(void* reading, const XML_Char* name, int) {
        auto& self = *static_cast<Reading*>(reading);
        self.guarded([&] { throw XmlError(self.place(), fmt::format("the entity '{}' is not allowed", name)); });
    }

    static void XMLCALL entity(void* reading, const XML_Char* name, int, const XML_Char*, int, const XML_Char*,
                               const XML_Char*, const XML_Char*, const XML_Char*) {
        auto& self = *static_cast<Reading*>(reading);
        self.guarded([&] { throw XmlError(self.place(), fmt::format("the entity '{}' is not allowed", name)); });
    }

    XmlHandler& handler_;
    std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
    std::exception_ptr error_;
    std::size_t lines_before_ = 0, columns_before_ = 0;
    int depth_ = 0;
    std::string text_;
};

}  // namespace

std::optional<std::string> XmlTag::attribute(std::string_view wanted) const {
    for (std::size_t i = 0; i + 1 < attributes.size(); i += 2)
        if (wanted == attributes[i]) return attributes[i + 1];
    return std::nullopt;
}

void parse_xml(std::string_view text, XmlHandler& handler) {
    Reading(handler).read(text);
}

Location locate_xml(const std::string& file, std::string_view text, const XmlLocation& place) {
    for (std::size_t number = place.line; number > 1; --number)
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    return {file, static_cast<int>(place.line), static_cast<int>(place.column),
            std::string(text.substr(0, text.find_first_of("\r\n")))};
}

void refuse_xml(const std::string& file, std::string_view text, const XmlError& error) {
    throw ConfigError({{locate_xml(file, text, error.place), error.what(), error.hint}});
}

}  // namespace syncline
