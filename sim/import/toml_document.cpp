#include "sim/import/toml_document.hpp"

// toml++ asserts what wrong files violate, and reports it after that; with NDEBUG it tells Clang to assume it.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace syncline::config {

namespace {

constexpr int deepest = 64;
Mark place_of(const Mark& start, const toml::source_region& region) {
    return {start.source, static_cast<int>(std::max(region.begin.line, 1U)),
            static_cast<int>(std::max(region.begin.column, 1U))};
}

/// Throws ConfigError if a key may have so many parts (`a.b.c`) that the recursion of toml++ would not end well.
void check_keys_depth(const Mark& start) {
    constexpr int most_parts = 32;
    Mark mark = start;
    int dots = 0;
    for (const char c : start.source->text) {
        if (c == '.' && ++dots > most_parts)
            throw ConfigError(
                {{locate(mark), "this has too many parts", "the maximum of TOML is 32, separated by dots"}});
        if (std::string_view("\n=,{}[]").find(c) != std::string_view::npos) dots = 0;
        ++mark.column;
        if (c == '\n') mark = {mark.source, mark.line + 1, 1};
    }
}

Node node_of(const toml::node& value, const Mark& start, int depth) {
    const Mark mark = place_of(start, value.source());
    if (depth > deepest) throw ConfigError({{locate(mark), "this is nested too deeply", "the maximum is 64 levels"}});
    if (const toml::table* const table = value.as_table()) {
        Node node = mapping_at(mark);
        for (const auto& [key, inner] : *table)
            node.entries.push_back(
                {std::string(key.str()), place_of(start, key.source()), node_of(inner, start, depth + 1)});
        return node;
    }
    Node node = empty_at(mark, Node::Kind::sequence);
    if (const toml::array* const array = value.as_array()) {
        for (const toml::node& inner : *array) node.items.push_back(node_of(inner, start, depth + 1));
        return node;
    }
    node.kind = Node::Kind::scalar;
    if (const auto* const text = value.as_string()) {
        node.scalar = text->get();
        node.quoted = true;
    } else if (const auto* const flag = value.as_boolean()) {
        node.scalar = flag->get() ? "true" : "false";
    } else if (const auto* const whole = value.as_integer()) {
        node.scalar = std::to_string(whole->get());
    } else if (const auto* const real = value.as_floating_point()) {
        std::ostringstream stream;
        stream.precision(17);
        stream << real->get();
        node.scalar = stream.str();
    } else {  // a date or a time, which no key has here
        node.quoted = true;
    }
    return node;
}

}  // namespace

Node toml_document(const Mark& start) {
    const std::string& text = start.source->text;
    check_keys_depth(start);
    // The behaviour of toml++ 3.3 is undefined at some characters beyond ASCII (is_non_ascii_horizontal_whitespace). No
    // value that is read has any, and columns stay those of bytes.
    std::string ascii = text;
    std::replace_if(
        ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    try {
        return node_of(toml::parse(ascii), start, 0);
    } catch (const toml::parse_error& error) {
        throw ConfigError(
            {{locate(place_of(start, error.source())), "this is not TOML: " + std::string(error.description()), ""}});
    }
}

}  // namespace syncline::config
