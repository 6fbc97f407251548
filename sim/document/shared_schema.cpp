#include "sim/document/shared_schema.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/utf8.hpp"

namespace syncline::config {

namespace {

using Json = nlohmann::ordered_json;
using Path = std::vector<std::string>;

constexpr const char* in_definitions = "#/$defs/";

class Sharing {
public:
    Json share(const Json& schema) {
        count(schema);
        Json shared = rewritten(schema, {});
        if (!definitions_.empty()) shared["$defs"] = std::move(definitions_);
        return shared;
    }

private:
    /// Returns a text that is the same for values that may share a definition: keys with their names, and mappings.
    static std::string identity(const std::string& key, const Json& value) { return key + '\n' + value.dump(); }

    static bool holds_forms(const std::string& word) {
        return word == "anyOf" || word == "items" || word == "additionalProperties";
    }

    /// Counts a value that may be shared. Only its first place counts what is inside it.
    void count(const std::string& key, const Json& value) {
        if (++uses_[identity(key, value)] == 1) count(value);
    }

    void count(const Json& schema) {
        for (const auto& [word, value] : schema.items()) {
            if (word == "properties")
                for (const auto& [key, property] : value.items()) count(key, property);
            else if (holds_forms(word))
                count_forms(value);
        }
    }

    void count_forms(const Json& forms) {
        if (forms.is_array())
            for (const Json& form : forms) count_forms(form);
        else if (forms.is_object())
            forms.contains("properties") ? count("", forms) : count(forms);
    }

    Json rewritten(const Json& schema, const Path& path) {
        Json result = Json::object();
        for (const auto& [word, value] : schema.items()) {
            if (word == "properties")
                for (const auto& [key, property] : value.items()) {
                    Path inner = path;
                    inner.push_back(key);
                    result[word][key] = placed(key, property, inner);
                }
            else
                result[word] = holds_forms(word) ? rewritten_forms(value, path) : value;
        }
        return result;
    }

    Json rewritten_forms(const Json& forms, const Path& path) {
        if (forms.is_object()) return forms.contains("properties") ? placed("", forms, path) : rewritten(forms, path);
        if (!forms.is_array()) return forms;
        Json result = Json::array();
        for (const Json& form : forms) result.push_back(rewritten_forms(form, path));
        return result;
    }

    /// Returns the value, or a reference to its definition.
    Json placed(const std::string& key, const Json& value, const Path& path) {
        const std::string same = identity(key, value);
        if (uses_.at(same) == 1) return rewritten(value, path);
        const auto [known, first] = names_.emplace(same, "");
        if (first) {
            const std::string name = known->second = name_of(path);
            definitions_[name];  // in the order of the first places
            Json definition = rewritten(value, path);
            definitions_[name] = std::move(definition);
        }
        return {{"$ref", in_definitions + names_.at(same)}};
    }

    std::string name_of(const Path& path) {
        std::string name;
        for (auto key = path.rbegin(); key != path.rend(); ++key) {
            name = name.empty() ? *key : fmt::format("{}.{}", *key, name);
            if (taken_.insert(name).second) return name;
        }
        for (int number = 2;; ++number)
            if (std::string numbered = fmt::format("{}.{}", name, number); taken_.insert(numbered).second)
                return numbered;
    }

    std::map<std::string, int> uses_;
    std::map<std::string, std::string> names_;  ///< of definitions
    std::set<std::string> taken_;
    Json definitions_ = Json::object();
};

nlohmann::json expanded(const nlohmann::json& shared, const nlohmann::json& part) {
    if (!part.is_structured()) return part;
    if (part.contains("$ref")) {
        const std::string name = part.at("$ref").get<std::string>().substr(std::string_view(in_definitions).size());
        return expanded(shared, shared.at("$defs").at(name));
    }
    nlohmann::json result = part;
    if (part.is_object()) result.erase("$defs");
    for (nlohmann::json& inner : result) inner = expanded(shared, inner);
    return result;
}

void write(std::string& text, const Json& value, std::size_t indent, std::size_t used) {
    constexpr std::size_t columns = 140;
    const std::string whole = value.dump();
    if (!value.is_structured() || value.empty() || indent + used + count_characters(whole) + 1 <= columns) {
        text += whole;
        return;
    }
    const std::string inner(indent + 2, ' ');
    const char* separator = "\n";
    text += value.is_array() ? '[' : '{';
    for (const auto& [key, item] : value.items()) {
        const std::string before = value.is_array() ? "" : Json(key).dump() + ": ";
        text += fmt::format("{}{}{}", separator, inner, before);
        write(text, item, indent + 2, before.size());
        separator = ",\n";
    }
    text += '\n' + std::string(indent, ' ') + (value.is_array() ? ']' : '}');
}

}  // namespace

Json share(const Json& schema) {
    return Sharing().share(schema);
}

nlohmann::json expanded(const nlohmann::json& shared) {
    return expanded(shared, shared);
}

std::string lines_of(const Json& value) {
    std::string text;
    write(text, value, 0, 0);
    return text + "\n";
}

}  // namespace syncline::config
