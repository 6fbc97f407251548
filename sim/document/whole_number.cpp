#include "sim/document/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace syncline::config {

namespace {

bool is_whole(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns a hint how to write the number that is probably meant.
std::string respelling(const Node& node) {
    if (node.quoted && is_whole(node.scalar)) return fmt::format("write {} without quotes", node.scalar);
    double value = 0;
    const char* const begin = node.scalar.data() + (node.scalar.starts_with('+') ? 1 : 0);
    const char* const end = node.scalar.data() + node.scalar.size();
    const auto [stop, problem] = std::from_chars(begin, end, value);
    const bool meant = problem == std::errc() && stop == end && std::abs(value) < 1e15 && value == std::floor(value);
    return meant ? fmt::format("write {:.0f}", value) : "write plain digits, such as 32";
}

std::string bounds(std::int64_t least, std::int64_t most) {
    const bool open = most == std::numeric_limits<std::int64_t>::max();
    return open ? fmt::format("at least {}", least) : fmt::format("from {} to {}", least, most);
}

}  // namespace

WholeNumber parse_whole(const Node& node, std::int64_t least, std::int64_t most) {
    const auto wrong = [&](const char* why, const std::string& hint) {
        return WholeNumber{std::nullopt, fmt::format("{} {}", kind_of(node), why), hint};
    };
    const std::string& text = node.scalar;
    if (node.kind != Node::Kind::scalar || node.quoted || !is_whole(text))
        return wrong("is not a whole number", respelling(node));

    const std::string sign = text.starts_with('-') ? "-" : "";
    const auto digits = std::min(text.find_first_not_of("-0"), text.size() - 1);
    if (digits > sign.size()) return wrong("has a leading zero", fmt::format("write {}{}", sign, text.substr(digits)));
    std::int64_t value = 0;
    const auto problem = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    if (problem != std::errc() || value < least || value > most) return wrong("is out of range", bounds(least, most));
    return {value, "", ""};
}

std::string kind_of(const Node& node) {
    const char* const quote = node.quoted ? "\"" : "'";
    switch (node.kind) {
        case Node::Kind::scalar:
            return quote + node.scalar + quote;
        case Node::Kind::sequence:
            return "a list";
        case Node::Kind::mapping:
            return "a mapping";
        case Node::Kind::null:
            break;
    }
    return "empty";
}

}  // namespace syncline::config
