#include "sim/base/xml_reader.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace syncline;

namespace {

/// Writes down what it is told.
struct Notes : XmlHandler {
    std::vector<std::string> lines;
    void open(const XmlTag& tag) override {
        std::string line = std::to_string(tag.place.line) + " <" + std::string(tag.name);
        for (const char* text : tag.attributes) line += std::string(" ") + text;
        lines.push_back(line);
    }
    void close(std::string_view name, std::string_view text) override {
        lines.push_back(std::string(name) + "> " + std::string(text));
    }
};

std::string error_of(const std::string& text) {
    Notes notes;
    try {
        parse_xml(text, notes);
    } catch (const XmlError& error) {
        return std::to_string(error.place.line) + ": " + error.what();
    }
    return "";
}

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

}  // namespace

TEST_CASE("XML: elements come in the order of the document, with attributes, text and lines", "[xml][memory]") {
    Notes notes;
    parse_xml(
        "<?xml version='1.0'?><!DOCTYPE a SYSTEM 'http://nowhere/a.dtd'>\n"
        "<a x='1' y='&lt;2'>\n<!-- <no/> --><b> one &amp; two </b><c><![CDATA[<d>]]></c></a>\n",
        notes);
    CHECK(notes.lines == std::vector<std::string>{"2 <a x 1 y <2", "3 <b", "b> one & two", "3 <c", "c> <d>", "a> "});
}

TEST_CASE("XML: empty lines before the declaration are skipped, and counted", "[xml][memory]") {
    Notes notes;
    parse_xml("\n \r\n\t<?xml version='1.0'?><a>\n<b/></a>", notes);
    CHECK(notes.lines == std::vector<std::string>{"3 <a", "4 <b", "b> ", "a> "});
    struct Columns : Notes {
        void open(const XmlTag& tag) override { lines.push_back(std::to_string(tag.place.column)); }
    } columns;
    parse_xml("\n  <?xml version='1.0'?><a>\n <b/></a>", columns);
    CHECK(columns.lines == std::vector<std::string>{"24", "2", "b> ", "a> "});
    CHECK(error_of("\n\n<?xml version='1.0'?>\n<a>") == "4: this is not XML: no element found");
    // Whatever else comes first is an error, as everywhere.
    CHECK(error_of("x\n<?xml version='1.0'?><a/>").starts_with("1: this is not XML"));
    CHECK(error_of("\n<a/><?xml version='1.0'?>").starts_with("2: this is not XML"));
}

TEST_CASE("XML: attributes are found by name", "[xml][memory]") {
    struct Handler : XmlHandler {
        void open(const XmlTag& tag) override {
            CHECK(tag.attribute("x") == "");
            CHECK(tag.attribute("y") == "x");
            CHECK(!tag.attribute("z"));
        }
        void close(std::string_view, std::string_view) override {}
    } handler;
    parse_xml("<a x='' y='x'/>", handler);
}

TEST_CASE("XML: a file that is large arrives whole", "[xml]") {
    Notes notes;
    parse_xml("<a>" + repeated("<b/>", 1'000'000) + "</a>", notes);
    CHECK(notes.lines.size() == 2'000'002);
}

TEST_CASE("XML: hostile documents are refused", "[xml][memory]") {
    CHECK(error_of("") != "");
    CHECK(error_of("<a>\n<b>\n</a>").starts_with("3: this is not XML"));
    CHECK(error_of("<a></a><a></a>") != "");
    CHECK(error_of(std::string("<a>\0</a>", 8)) != "");
    CHECK(error_of("<a>&x;</a>") != "");
    CHECK(error_of(repeated("<a>", 100) + repeated("</a>", 100)) == "");
    CHECK(error_of(repeated("<a>", 101) + repeated("</a>", 101)) == "1: elements are nested too deeply");
    // A processing instruction that looks like ends of elements.
    CHECK(error_of(repeated("<a><?x ></a> ?>", 100'000)) == "1: elements are nested too deeply");
    CHECK(error_of("<!DOCTYPE a [<!ENTITY x 'xxxxxxxxxx'><!ENTITY y '&x;&x;'>]>\n<a>&y;</a>") ==
          "1: the entity 'x' is not allowed");
    CHECK(error_of("<!DOCTYPE a [<!ENTITY x SYSTEM '/etc/passwd'>]>\n<a>&x;</a>") ==
          "1: the entity 'x' is not allowed");
    CHECK(error_of("<!DOCTYPE a SYSTEM 'x.dtd'>\n<a>&x;</a>") == "2: the entity 'x' is not allowed");
    CHECK(error_of("<!DOCTYPE a [<!ENTITY % x SYSTEM '/etc/passwd'>%x;]>\n<a/>") == "1: the entity 'x' is not allowed");
}

TEST_CASE("XML: what a handler throws arrives", "[xml][memory]") {
    struct Thrown {};
    struct Handler : XmlHandler {
        int calls = 0;
        void open(const XmlTag&) override {
            ++calls;
            throw Thrown();
        }
        void close(std::string_view, std::string_view) override { ++calls; }
    } handler;
    CHECK_THROWS_AS(parse_xml("<a><b/></a>", handler), Thrown);
    CHECK(handler.calls == 1);
}
