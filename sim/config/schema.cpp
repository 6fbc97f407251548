#include "sim/config/schema.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace syncline::config {

namespace {

using Json = nlohmann::ordered_json;

/// What parse_quantity takes, as an ECMA 262 regular expression.
std::string pattern(Dimension dimension) {
    const char* const size = "([kKMGTPE]|[KMGTP]i)?(B|b|bit)";
    const auto unit = [&]() -> std::string {
        switch (dimension) {
            case Dimension::bytes:
                return size;
            case Dimension::seconds:
                return "(s|ms|us|\u00b5s|\u03bcs|ns|ps|min|h)";
            case Dimension::bandwidth:
                return fmt::format("{}(ps|/s)", size);
            case Dimension::flops:
                return "[kKMGTPE]?[fF][lL][oO][pP]([sS]|/[sS])";
            case Dimension::rate:
                break;
        }
        return "(1|samples|images|img)?/s";
    };
    return fmt::format("^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)? *{}$", unit());
}

/// `value` as a quantity, if four digits say it exactly.
Json default_quantity(double value, Dimension dimension, const QuantityRange& range) {
    if (range.word && value == range.word_value) return range.word;
    const std::string text = format_quantity(value, dimension);
    const bool exact = parse_quantity(text, dimension).value == value && (value > 0 || range.zero);
    return exact ? Json(text) : Json();
}

class Describer : public Fields {
public:
    Json properties = Json::object();
    Json required = Json::array();

    void text(Key key, std::string& value) override {
        add(key, {{"type", "string"}, {"minLength", 1}}, value.empty() ? Json() : Json(value));
    }
    void flag(Key key, bool& value) override { add(key, {{"type", "boolean"}}, value); }
    void integer(Key key, std::int64_t& value, std::int64_t least, std::int64_t most) override {
        Json type = whole(least);
        if (most < std::numeric_limits<std::int64_t>::max()) type["maximum"] = most;
        add(key, type, value);
    }
    void integers(Key key, std::vector<std::int64_t>& values, std::size_t size, std::int64_t least) override {
        const Json list{{"type", "array"}, {"items", whole(least)}, {"minItems", size}, {"maxItems", size}};
        add(key, {{"anyOf", {whole(least), list}}}, values.size() == size ? Json(values) : Json());
    }
    void quantity(Key key, double& value, Dimension dimension, QuantityRange range) override {
        Json type{{"type", "string"}, {"pattern", pattern(dimension)}};
        if (range.word) type = {{"anyOf", {type, {{"const", range.word}}}}};
        add(key, type, default_quantity(value, dimension, range));
    }
    void choice(Key key, int& value, const std::vector<std::string>& words) override {
        add(key, {{"enum", words}}, words.at(static_cast<std::size_t>(value)));
    }
    void section(Key key, const std::function<void(Fields&)>& body, const char* off) override {
        Json any = Json::array({mapping(body)});
        if (off) any.push_back({{"const", off}});
        if (key.file) any.push_back({{"type", "string"}});
        add(key, any.size() == 1 ? any[0] : Json{{"anyOf", any}}, {});
    }
    void each(Key key, const std::function<void(Fields&)>& body) override {
        add(key, {{"type", "array"}, {"minItems", 1}, {"items", mapping(body)}}, {});
    }
    void named(Key key, const std::function<void(const std::string&, Fields&)>& body) override {
        const Json value = mapping([&](Fields& fields) { body("", fields); });
        add(key, {{"type", "object"}, {"additionalProperties", value}}, {});
    }

    void reject(std::string_view, const std::string&, const std::string&) override {}
    bool given(std::string_view) const override { return false; }
    bool sound() const override { return false; }

    static Json mapping(const std::function<void(Fields&)>& body) {
        Describer inner;
        body(inner);
        Json type{{"type", "object"}};
        if (inner.properties.empty()) return type;
        type["properties"] = inner.properties;
        if (!inner.required.empty()) type["required"] = inner.required;
        type["additionalProperties"] = false;
        return type;
    }

private:
    static Json whole(std::int64_t least) { return {{"type", "integer"}, {"minimum", least}}; }

    void add(const Key& key, const Json& type, const Json& value) {
        Json& property = properties[key.name];
        property["description"] = key.doc;
        property.update(type);
        if (key.required)
            required.push_back(key.name);
        else if (!value.is_null())
            property["default"] = value;
    }
};

}  // namespace

std::string schema(const std::string& id, const std::string& title, const std::function<void(Fields&)>& body) {
    Json document{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", id}, {"title", title}};
    document.update(Describer::mapping(body));
    return document.dump(2) + "\n";
}

}  // namespace syncline::config
