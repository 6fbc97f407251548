#include "sim/serve/knob_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"
#include "sim/base/trimmed.hpp"
#include "sim/base/units.hpp"
#include "sim/document/document.hpp"
#include "sim/document/yaml_text.hpp"

namespace syncline::serve {

namespace {

using config::Node;

/// Texts that mean the same number may differ in the last digits: `1 GBps`, `8 Gbps`.
constexpr double least_difference = 1e-9;

bool near(double one, double other) {
    return std::abs(one - other) <= least_difference * std::max(std::abs(one), std::abs(other));
}

/// Returns a text as a document; nothing if it is none.
std::optional<Node> parsed(config::Library& library, const std::string& text) {
    try {
        return library.parse("value", text, "");
    } catch (const ConfigError&) {
        return {};
    }
}

bool same_scalar(const std::string& one, const std::string& other) {
    if (one == other) return true;
    for (const Dimension dimension : dimensions_with_units) {
        const auto a = parse_quantity(one, dimension).value, b = parse_quantity(other, dimension).value;
        if (a && b && near(*a, *b)) return true;
    }
    const auto a = number_of(one), b = number_of(other);
    const auto plain = [](const std::string& text) {
        return text.find_first_not_of("+-.0123456789eE %") == std::string::npos;
    };
    return a && b && plain(one) && plain(other) && near(*a, *b);
}

bool same_node(const Node& one, const Node& other);

/// Returns whether a word may be the short form of a mapping.
bool stands_for(const Node& word, const Node& mapping) {
    if (word.kind != Node::Kind::scalar || mapping.kind != Node::Kind::mapping) return false;
    const Node* const shape = mapping.find("topology");
    const Node* const name = mapping.find("name");
    return (shape != nullptr && mapping.entries.size() == 1 && shape->scalar == word.scalar) ||
           (name != nullptr && name->scalar == word.scalar);
}

bool same_node(const Node& one, const Node& other) {
    if (stands_for(one, other) || stands_for(other, one)) return true;
    if (one.kind != other.kind || one.items.size() != other.items.size() || one.entries.size() != other.entries.size())
        return false;
    for (std::size_t i = 0; i < one.items.size(); ++i)
        if (!same_node(one.items[i], other.items[i])) return false;
    for (const config::Entry& entry : one.entries) {
        const Node* const there = other.find(entry.key);
        if (there == nullptr || !same_node(entry.value, *there)) return false;
    }
    return same_scalar(one.scalar, other.scalar);
}

constexpr std::array<std::string_view, 11> prefixes{"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 6> binary_prefixes{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

/// Returns the quantity with the prefix that gives a short number. `first` is the smallest one that the unit has.
template <std::size_t size>
std::string shortest(double number, const std::array<std::string_view, size>& all, std::size_t at, std::size_t first,
                     std::size_t last, double step, std::string_view unit) {
    while (number >= step && at < last) number /= step, ++at;
    while (number < 1 && at > first) number *= step, --at;
    return fmt::format("{:.6g} {}{}", number, all[at], unit);
}

std::optional<std::string> scalar_times(const std::string& text, double factor) {
    const std::size_t end = text.find_first_not_of("+-.0123456789eE");
    if (end == std::string::npos || end == 0) return {};
    const auto number = number_in<double>(trimmed(std::string_view(text).substr(0, end), " "));
    std::string_view unit = trimmed(std::string_view(text).substr(end), " ");
    if (!number || unit.empty() || unit == "%") return {};
    const auto is_base = [&](std::string_view rest, Dimension dimension) {
        return parse_quantity(fmt::format("1 {}", rest), dimension).value == 1.0 ||
               (dimension != Dimension::seconds && parse_quantity(fmt::format("8 {}", rest), dimension).value == 1.0);
    };
    for (const Dimension dimension : dimensions_with_units) {
        for (std::size_t at = 0; at < binary_prefixes.size(); ++at)
            if (unit.starts_with(binary_prefixes[at]) && is_base(unit.substr(2), dimension))
                return shortest(*number * factor, binary_prefixes, at, 0, binary_prefixes.size() - 1, 1024,
                                unit.substr(2));
        for (std::size_t at = 0; at < prefixes.size(); ++at) {
            if (!unit.starts_with(prefixes[at]) || !is_base(unit.substr(prefixes[at].size()), dimension)) continue;
            constexpr std::size_t one = 4;
            const bool time = dimension == Dimension::seconds;
            return shortest(*number * factor, prefixes, at, time ? 0 : one, time ? one : prefixes.size() - 1, 1000,
                            unit.substr(prefixes[at].size()));
        }
    }
    return {};
}

}  // namespace

bool same_value(const std::string& one, const std::string& other) {
    if (same_scalar(one, other)) return true;
    config::Library library;
    const auto a = parsed(library, one), b = parsed(library, other);
    return a && b && same_node(*a, *b);
}

std::optional<double> number_of(const std::string& text) {
    if (text == "none") return 0;
    if (const auto number = number_in<double>(trimmed(text, " "))) return number;
    if (text.ends_with('%')) {
        const auto percent = number_in<double>(trimmed(std::string_view(text).substr(0, text.size() - 1), " "));
        if (percent) return *percent / 100;
    }
    for (const Dimension dimension : dimensions_with_units)
        if (const auto value = parse_quantity(text, dimension).value) return value;
    return {};
}

std::optional<std::string> times(const std::string& text, double factor) {
    if (!text.starts_with('[')) return scalar_times(text, factor);
    config::Library library;
    const auto list = parsed(library, text);
    if (!list || list->items.empty()) return {};
    std::string result;
    for (const Node& item : list->items) {
        if (item.kind != Node::Kind::scalar) return {};
        const auto scaled = item.scalar == "none" ? std::optional(item.scalar) : scalar_times(item.scalar, factor);
        if (!scaled) return {};
        result += (result.empty() ? "[" : ", ") + *scaled;
    }
    return result + "]";
}

std::size_t put_in(std::vector<std::string>& values, const std::string& value) {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const std::string& one) { return same_value(one, value); });
    if (found != values.end()) return static_cast<std::size_t>(found - values.begin());
    std::vector<std::string> longer = values;
    const auto number = number_of(value);
    const auto larger = std::find_if(longer.begin(), longer.end(), [&](const std::string& one) {
        const auto other = number_of(one);
        return number && other && *other > *number;
    });
    const bool numbers = number && std::all_of(longer.begin(), longer.end(),
                                               [](const std::string& one) { return number_of(one).has_value(); });
    const auto at = longer.insert(numbers ? larger : longer.begin(), value);
    const auto index = static_cast<std::size_t>(at - longer.begin());
    values = std::move(longer);
    return index;
}

}  // namespace syncline::serve
