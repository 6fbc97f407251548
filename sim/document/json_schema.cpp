#include "sim/document/json_schema.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/document/shared_schema.hpp"

namespace syncline::config {

namespace {

using Json = nlohmann::ordered_json;

/// Returns what parse_quantity accepts as an ECMA 262 regular expression.
std::string pattern(Dimension dimension) {
    const char* const size = "([kKMGTPE]|[KMGTP]i)?(B|b|bit)";
    const auto unit = [&]() -> std::string {
        switch (dimension) {
            case Dimension::bytes:
                return size;
            case Dimension::seconds:
                return "(s|ms|us|\u00b5s|\u03bcs|ns|ps|min|h|d|days?)";
            case Dimension::bandwidth:
                return fmt::format("{}(ps|/s)", size);
            case Dimension::flops:
                return "[kKMGTPE]?[fF][lL][oO][pP]([sS]|/[sS])";
            case Dimension::count:
                return "[kMBGT]?";
            case Dimension::power:
                return "[kKMGTPE]?W";
            case Dimension::energy:
                return "[kKMGTPE]?(J|Wh)";
            case Dimension::rate:
                break;
        }
        return "(1|samples|images|img)?/s";
    };
    return fmt::format("^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)? *{}$", unit());
}

/// Returns `value` as a quantity, if four digits represent it exactly.
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
    void texts(Key key, std::vector<std::string>& values) override {
        // In YAML a text may look like a number or a truth value.
        const Json text{{"type", {"string", "number", "boolean"}}, {"minLength", 1}};
        add(key, list(text), values.empty() ? Json() : Json(values));
    }
    void file(Key key, const FileReader&) override { add(key, {{"type", "string"}, {"minLength", 1}}, {}); }
    void paths(Key key, const PathsReader&) override {
        const Json name{{"type", "string"}, {"minLength", 1}};
        add(key, {{"anyOf", {name, list(name)}}}, {});
    }
    void flag(Key key, bool& value) override { add(key, {{"type", "boolean"}}, value); }
    void integer(Key key, std::int64_t& value, std::int64_t least, std::int64_t most) override {
        // A value out of range means that the key is not given.
        add(key, whole(least, most), value < least ? Json() : Json(value));
    }
    void integer_or_word(Key key, std::int64_t& value, std::int64_t most, const char* word) override {
        add(key, {{"anyOf", {whole(1, most), {{"const", word}}}}}, value == 0 ? Json(word) : Json(value));
    }
    void integers(Key key, std::vector<std::int64_t>& values, std::size_t size, std::int64_t least) override {
        const Json list{{"type", "array"}, {"items", whole(least)}, {"minItems", size}, {"maxItems", size}};
        add(key, {{"anyOf", {whole(least), list}}}, values.size() == size ? Json(values) : Json());
    }
    void integer_list(Key key, std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most) override {
        add(key, list(whole(least, most)), values.empty() ? Json() : Json(values));
    }
    void count_or_list(Key key, std::int64_t&, std::vector<std::int64_t>&, std::int64_t most) override {
        add(key, {{"anyOf", {whole(1, most), list(whole(0, most))}}}, {});
    }
    void quantity(Key key, double& value, Dimension dimension, QuantityRange range) override {
        const Json any = quantity(dimension, range);
        add(key, any.size() == 1 ? any[0] : Json{{"anyOf", any}}, default_quantity(value, dimension, range));
    }
    void quantities(Key key, std::vector<double>& values, Dimension dimension, QuantityRange range) override {
        Json any = quantity(dimension, range);
        any.push_back(list(any.size() == 1 ? any[0] : Json{{"anyOf", any}}));
        add(key, {{"anyOf", any}}, values.size() == 1 ? default_quantity(values[0], dimension, range) : Json());
    }
    void sizes(Key key, std::vector<std::uint64_t>&) override {
        const Json size{{"type", "string"}, {"pattern", pattern(Dimension::bytes)}};
        const Json range{{"type", "string"}, {"pattern", "^.+\\.\\..+$"}};
        add(key, {{"anyOf", {size, range, list(size)}}}, {});
    }
    void number(Key key, double& value, double least, double most) override {
        // A value out of range means that the key is not given.
        add(key, number(least, most), value >= least && value <= most ? Json(value) : Json());
    }
    void number_or_percent(Key key, double&, bool&, double least, double most, const char* off) override {
        add(key, {{"anyOf", numbers_or_percents(least, most, off)}}, off ? Json(off) : Json());
    }
    void choice(Key key, int& value, const std::vector<std::string>& words, std::vector<std::int64_t>* list) override {
        Json values = Json::array();
        for (const std::string& word : words) values.push_back(constant(word));
        Json type{{"enum", values}};
        if (list) type = {{"anyOf", {type, {{"type", "array"}, {"minItems", 1}, {"items", whole(0)}}}}};
        add(key, type, value < 0 ? Json() : Json(words.at(static_cast<std::size_t>(value))));
    }
    void section(Key key, const std::function<void(Fields&)>& body, const char* off) override {
        Json any = Json::array({mapping(body)});
        if (off) any.push_back({{"const", off}});
        if (key.file) any.push_back({{"type", "string"}});
        add(key, any.size() == 1 ? any[0] : Json{{"anyOf", any}}, off ? Json(off) : Json());
    }
    void each(Key key, const std::function<void(Fields&)>& body) override {
        add(key, {{"type", "array"}, {"minItems", 1}, {"items", mapping(body)}}, {});
    }
    void quantity_or_each(Key key, double& value, Dimension dimension, QuantityRange range,
                          const std::function<void(Fields&)>& body) override {
        Json any = quantity(dimension, range);
        any.push_back(list(mapping(body)));
        add(key, {{"anyOf", any}}, default_quantity(value, dimension, range));
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
    static Json whole(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
        Json type{{"type", "integer"}, {"minimum", least}};
        if (most < std::numeric_limits<std::int64_t>::max()) type["maximum"] = most;
        return type;
    }
    /// Returns the JSON value of a plain word in YAML, where `true` and `false` are no texts.
    static Json constant(const std::string& word) {
        return word == "true" || word == "false" ? Json(word == "true") : Json(word);
    }
    static Json number(double least, double most) {
        return {{"type", "number"}, {"minimum", least}, {"maximum", most}};
    }
    static Json numbers_or_percents(double least, double most, const char* off) {
        const Json part{{"type", "string"}, {"pattern", "^([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)? *%$"}};
        Json any{number(least, most), part};
        if (off) any.push_back({{"const", off}});
        return any;
    }
    static Json list(const Json& items) { return {{"type", "array"}, {"minItems", 1}, {"items", items}}; }
    /// Returns the forms that a quantity may have.
    static Json quantity(Dimension dimension, const QuantityRange& range) {
        Json any = Json::array({{{"type", "string"}, {"pattern", pattern(dimension)}}});
        if (dimension == Dimension::count) any.push_back({{"type", "number"}});
        if (range.word) any.push_back({{"const", range.word}});
        return any;
    }

    /// Completes the description by what else a reader needs. A default that the table puts into words replaces the
    /// value of the member.
    void add(const Key& key, Json type, const Json& value) {
        std::string text = key.doc;
        const bool usual = !key.required && !key.unless.first && !value.is_null() && text.find("Default:") == text.npos;
        if (key.required) required.push_back(key.name);
        if (key.required) text += " Required.";
        if (key.unless.third)
            text += fmt::format(" Required without `{}`, `{}` and `{}`.", key.unless.first, key.unless.second,
                                key.unless.third);
        else if (key.unless.second)
            text += fmt::format(" Required without `{}` and `{}`.", key.unless.first, key.unless.second);
        else if (key.unless.first)
            text += fmt::format(" Required without `{}`.", key.unless.first);
        if (usual) text += fmt::format(" Default: `{}`.", shown(value));
        Json& property = properties[key.name];
        property["description"] = text;
        if (key.body) {
            Json any = type.contains("anyOf") ? type["anyOf"] : Json::array({type});
            any.push_back(mapping(*key.body));
            type = {{"anyOf", any}};
        }
        property.update(type);
        if (usual) property["default"] = value;
    }
    static std::string shown(const Json& value) {
        return value.is_string()         ? value.get<std::string>()
               : value.is_number_float() ? fmt::format("{}", value.get<double>())
                                         : value.dump();
    }
};

void collect_keys(const Json& schema, const std::string& before, std::set<std::string>& known,
                  std::vector<DescribedKey>& keys) {
    for (const Json& form : schema.value("anyOf", Json::array())) collect_keys(form, before, known, keys);
    if (!schema.contains("properties")) return;
    for (const auto& [name, property] : schema["properties"].items()) {
        const std::string path = before + name;
        if (known.insert(path).second) keys.push_back({path, property.at("description")});
        collect_keys(property, path + ".", known, keys);
    }
}

void collect_values(const Json& schema, const std::string& before, std::map<std::string, std::string>& values) {
    if (schema.contains("anyOf"))
        for (const Json& form : schema["anyOf"]) collect_values(form, before, values);
    if (!schema.contains("properties")) return;
    for (const auto& [name, property] : schema["properties"].items()) {
        const std::string path = before + name;
        if (const auto value = property.find("default"); value != property.end())
            values.emplace(path, value->is_string() ? value->get<std::string>() : value->dump());
        collect_values(property, path + ".", values);
    }
}

}  // namespace

std::map<std::string, std::string> held_values(const std::function<void(Fields&)>& body) {
    std::map<std::string, std::string> values;
    collect_values(Describer::mapping(body), "", values);
    return values;
}

std::vector<DescribedKey> key_paths(const std::function<void(Fields&)>& body) {
    std::set<std::string> known;
    std::vector<DescribedKey> keys;
    collect_keys(Describer::mapping(body), "", known, keys);
    return keys;
}

std::string schema(const std::string& id, const std::string& title, const std::function<void(Fields&)>& body) {
    Json document{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", id}, {"title", title}};
    document.update(Describer::mapping(body));
    return lines_of(share(document));
}

}  // namespace syncline::config
