#include "sim/report/html.hpp"

#include <stdexcept>

#include "sim/topology/xml_text.hpp"

namespace syncline {

const char* page_unit(Unit unit) {
    switch (unit) {
        case Unit::seconds:
            return "s";
        case Unit::bytes:
            return "B";
        case Unit::bandwidth:
            return "Bps";
        case Unit::samples_per_s:
        case Unit::tokens_per_s:
            return "per_s";
        case Unit::share:
            return "share";
        default:
            return "number";
    }
}

std::string script_json(const Json& data) {
    const std::string json = one_line(data);
    std::string text;
    text.reserve(json.size());
    // In JSON, `<` occurs only in strings, where it can be escaped.
    for (const char letter : json) {
        if (letter == '<')
            text += "\\u003c";
        else
            text += letter;
    }
    return text;
}

std::string html_page(const std::string& title, const Json& data) {
    constexpr std::string_view open = "{{", close = "}}";
    std::string page;
    std::string_view rest = assets::page_html();
    for (auto at = rest.find(open); at != std::string_view::npos; at = rest.find(open)) {
        const auto end = rest.find(close, at);
        const std::string_view what = rest.substr(at + open.size(), end - at - open.size());
        page += rest.substr(0, at);
        if (what == "title")
            page += xml_escaped(title);
        else if (what == "css")
            page += assets::page_css();
        else if (what == "chart")
            page += assets::chart_js();
        else if (what == "script")
            page += assets::page_js();
        else if (what == "data")
            page += script_json(data);
        else
            throw std::logic_error("unknown placeholder in page.html: " + std::string(what));
        rest.remove_prefix(end + close.size());
    }
    return page + std::string(rest);
}

}  // namespace syncline
