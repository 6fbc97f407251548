#include "sim/import/foreign_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/number.hpp"
#include "sim/document/whole_number.hpp"

namespace syncline::config {

std::optional<std::int64_t> foreign_whole(const Node& node) {
    if (node.kind != Node::Kind::scalar || node.quoted) return std::nullopt;
    if (const auto whole = number_in<std::int64_t>(node.scalar)) return whole;
    const auto real = number_in<double>(node.scalar);
    constexpr double largest = 9e15;  // doubles below are exact
    if (!real || std::abs(*real) > largest || *real != std::floor(*real)) return std::nullopt;
    return static_cast<std::int64_t>(*real);
}

const Node* ForeignKeys::find(Names names) {
    const Node* found = nullptr;
    for (const char* name : names) {
        const Entry* const entry = mapping_.entry(name);
        if (entry == nullptr) continue;
        read_.insert(entry->key);
        if (found == nullptr && entry->value.kind != Node::Kind::null) found = &entry->value;
    }
    return found;
}

bool ForeignKeys::is_null(const char* name) {
    const Entry* const entry = mapping_.entry(name);
    if (entry == nullptr || entry->value.kind != Node::Kind::null) return false;
    read_.insert(entry->key);
    return true;
}

std::optional<Given> ForeignKeys::whole(Names names, std::int64_t most, std::int64_t least) {
    const Node* const value = find(names);
    if (value == nullptr) return std::nullopt;
    const auto number = foreign_whole(*value);
    if (number && *number >= least && *number <= most) return Given{*number, value->mark};
    if (number)
        findings_.fail(value->mark,
                       fmt::format("'{}{}' is {}, not from {} to {}", path_, *names.begin(), *number, least, most));
    else
        findings_.fail(value->mark,
                       fmt::format("'{}{}': {} is not a whole number", path_, *names.begin(), kind_of(*value)));
    return Given{least, value->mark};
}

std::optional<double> ForeignKeys::number(Names names) {
    const Node* const value = find(names);
    if (value == nullptr) return std::nullopt;
    const auto number =
        value->kind == Node::Kind::scalar && !value->quoted ? number_in<double>(value->scalar) : std::nullopt;
    if (number && std::isfinite(*number)) return number;
    findings_.fail(value->mark, fmt::format("'{}{}': {} is not a number", path_, *names.begin(), kind_of(*value)));
    return 0;
}

std::optional<bool> ForeignKeys::flag(Names names) {
    const Node* const value = find(names);
    if (value == nullptr) return std::nullopt;
    if (value->kind == Node::Kind::scalar && !value->quoted) {
        const std::string& text = value->scalar;
        if (text == "true" || text == "True" || text == "TRUE") return true;
        if (text == "false" || text == "False" || text == "FALSE") return false;
    }
    findings_.fail(value->mark, fmt::format("'{}{}': {} is not true or false", path_, *names.begin(), kind_of(*value)));
    return false;
}

std::optional<std::string> ForeignKeys::word(Names names) {
    const Node* const value = find(names);
    if (value == nullptr) return std::nullopt;
    if (value->kind == Node::Kind::scalar) return value->scalar;
    findings_.fail(value->mark, fmt::format("'{}{}': {} is not a word", path_, *names.begin(), kind_of(*value)));
    return "";
}

Given ForeignKeys::needed(Names names, std::int64_t most, std::int64_t least) {
    if (const auto given = whole(names, most, least)) return *given;
    findings_.fail(mapping_.mark, fmt::format("'{}{}' is missing", path_, *names.begin()));
    return {least, mapping_.mark};
}

void ForeignKeys::ignore(std::string_view names) {
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        read_.insert(names.substr(0, end));
        names.remove_prefix(std::min(end + 1, names.size()));
    }
}

void ForeignKeys::report_others() const {
    std::vector<std::string> others;
    const Entry* first = nullptr;
    for (const Entry& entry : mapping_.entries) {
        if (read_.contains(entry.key)) continue;
        if (first == nullptr) first = &entry;
        others.push_back(path_ + entry.key);
    }
    if (first) findings_.note(first->mark, fmt::format("not understood: {}", fmt::join(others, ", ")));
}

}  // namespace syncline::config
