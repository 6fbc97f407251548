#include "sim/config/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/number.hpp"
#include "sim/base/trimmed.hpp"
#include "sim/document/key_path.hpp"
#include "sim/document/override.hpp"
#include "sim/document/whole_number.hpp"
#include "sim/document/yaml_text.hpp"

namespace syncline::config {

namespace {

constexpr const char* axis_example = "write for example [8, 16], 2..64 step 2, or 2^1..2^10";

std::optional<std::int64_t> whole(std::string_view text) {
    return number_in<std::int64_t>(trimmed(text, " "));
}

/// A power such as `2^10`.
struct BasePower {
    std::int64_t base, exponent;
};

std::optional<BasePower> power(std::string_view text) {
    const auto caret = text.find('^');
    if (caret == std::string_view::npos) return {};
    const auto base = whole(text.substr(0, caret)), exponent = whole(text.substr(caret + 1));
    if (!base || !exponent || *base < 2 || *exponent < 0) return {};
    return BasePower{*base, *exponent};
}

/// The result of reading a range: numbers, or an error.
struct Range {
    std::vector<std::int64_t> numbers;
    std::string error;
};

Range powers(std::string_view first, std::string_view last, std::string_view step) {
    const auto from = power(first), to = power(last);
    const auto by = step.empty() ? std::optional<std::int64_t>(1) : whole(step);
    if (!from || !to || from->base != to->base) return {{}, "both ends must be powers of the same whole number"};
    if (!by || *by < 1) return {{}, fmt::format("'{}' is not a step", trimmed(step, " "))};
    if (from->exponent > to->exponent)
        return {{}, fmt::format("{} is more than {}", trimmed(first, " "), trimmed(last, " "))};
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> numbers;
    std::int64_t value = 1;
    for (std::int64_t exponent = 0;; ++exponent) {
        if (exponent >= from->exponent && (exponent - from->exponent) % *by == 0) numbers.push_back(value);
        if (exponent == to->exponent) return {std::move(numbers), ""};
        if (value > most / from->base) return {{}, fmt::format("{} is too large", trimmed(last, " "))};
        value *= from->base;
    }
}

Range steps(std::string_view first, std::string_view last, std::string_view step) {
    const auto from = whole(first), to = whole(last);
    const auto by = step.empty() ? std::optional<std::int64_t>(1) : whole(step);
    if (!from || !to) return {{}, "the ends of a range must be whole numbers, or powers of one"};
    if (!by || *by < 1) return {{}, fmt::format("'{}' is not a step", trimmed(step, " "))};
    if (*from > *to) return {{}, fmt::format("{} is more than {}", *from, *to)};
    // Unsigned differences do not overflow.
    const auto width = static_cast<std::uint64_t>(*to) - static_cast<std::uint64_t>(*from);
    if (width / static_cast<std::uint64_t>(*by) >= most_points)
        return {{}, fmt::format("the range has more than {} values", most_points)};
    std::vector<std::int64_t> numbers;
    for (std::uint64_t at = 0; at <= width; at += static_cast<std::uint64_t>(*by)) {
        numbers.push_back(*from + static_cast<std::int64_t>(at));
        if (width - at < static_cast<std::uint64_t>(*by)) break;
    }
    return {std::move(numbers), ""};
}

/// Returns whether a value is two dots with a number on each side: `../x.yaml` is not, and `4B..1MB` is a range of
/// sizes, which `sweep` reads.
bool is_range(const Node& node) {
    const auto dots = node.scalar.find("..");
    if (node.quoted || dots == std::string::npos || dots == 0) return false;
    const std::string_view text = node.scalar;
    const auto number = [](std::string_view part) {
        part = trimmed(part, " ");
        return !part.empty() && part.find_first_not_of("-0123456789^") == std::string_view::npos;
    };
    const std::string_view rest = text.substr(dots + 2);
    return number(text.substr(0, dots)) && number(rest.substr(0, rest.find("step")));
}

Range range_of(std::string_view text) {
    const auto dots = text.find(".."), word = text.find("step");
    const std::string_view first = text.substr(0, dots);
    const std::string_view last = text.substr(dots + 2, word == std::string_view::npos ? word : word - dots - 2);
    const std::string_view step = word == std::string_view::npos ? "" : text.substr(word + 4);
    return text.find('^') == std::string_view::npos ? steps(first, last, step) : powers(first, last, step);
}

std::string setting_text(const Node& node) {
    return node.kind == Node::Kind::scalar ? node.scalar : flow_text(node);
}

std::string without_directory(const Node& node) {
    static const std::set<std::string> extensions{".yaml", ".yml", ".xml", ".graphml", ".dot", ".gv"};
    if (node.kind != Node::Kind::scalar) return flow_text(node);
    const std::filesystem::path path = node.scalar;
    return extensions.contains(path.extension().string()) ? path.stem().string() : node.scalar;
}

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string nearest_of(const std::string& word, const std::vector<std::string>& known) {
    return did_you_mean(word, known, fmt::format("write one of '{}'", fmt::join(known, "', '")));
}

}  // namespace

void check_axis(Assembly& assembly, const std::string& key, const Mark& mark) {
    static const std::vector<std::string> varied{"platform", "workload", "training", "collective",
                                                 "trace",    "jobs",     "queue",    "traffic"};
    const KeyPath path = parse_path(key);
    const std::string first = path.parts.empty() ? key : path.parts.front().key;
    if (!is_one_of(first, varied))
        assembly.report(mark, fmt::format("'{}' is not a key of a scenario", first), nearest_of(first, varied));
}

void check_variants(Assembly& assembly, const AxisColumn& column, const std::vector<std::string>& names) {
    if (names.empty()) return assembly.report(column.mark, "there are no variants", "remove 'variant'");
    for (const Node& value : column.values)
        if (value.kind != Node::Kind::scalar || !is_one_of(value.scalar, names))
            assembly.report(value.mark, fmt::format("there is no variant '{}'", flow_text(value)),
                            nearest_of(value.scalar, names));
}

AxisColumn read_axis(Assembly& assembly, const std::string& key, const Mark& mark, const Node& node) {
    AxisColumn column{key, mark, {}, {}};
    if (node.kind == Node::Kind::sequence) {
        column.values = node.items;
        if (column.values.empty())
            assembly.report(node.mark, fmt::format("axis '{}' has no values", key), axis_example);
    } else if (node.kind == Node::Kind::null) {
        assembly.report(node.mark, fmt::format("axis '{}' has no values", key), axis_example);
    } else if (node.kind == Node::Kind::scalar && is_range(node)) {
        const Range range = range_of(node.scalar);
        if (!range.error.empty())
            assembly.report(node.mark, fmt::format("axis '{}': {}", key, range.error), axis_example);
        for (const std::int64_t number : range.numbers) {
            column.values.push_back(node);
            column.values.back().scalar = fmt::to_string(number);
        }
    } else {
        column.values = {node};
    }
    column.texts = texts_of(column.values);
    return column;
}

std::vector<std::string> texts_of(const std::vector<Node>& values) {
    std::vector<std::string> full, brief;
    for (const Node& value : values) {
        full.push_back(setting_text(value));
        brief.push_back(without_directory(value));
    }
    const auto distinct = [](const std::vector<std::string>& texts) {
        return std::set<std::string>(texts.begin(), texts.end()).size();
    };
    return distinct(brief) == distinct(full) ? brief : full;
}

std::vector<Entry> flattened(const Node& mapping, const std::string& prefix) {
    std::vector<Entry> entries;
    for (const Entry& entry : mapping.entries) {
        const std::string path = prefix + plain_path(entry.key);
        if (entry.value.kind != Node::Kind::mapping) {
            entries.push_back({path, entry.mark, entry.value});
            continue;
        }
        for (Entry& inner : flattened(entry.value, path + ".")) entries.push_back(std::move(inner));
    }
    return entries;
}

Node document_of(const std::string& path, const Mark& mark, Node value) {
    Node document = mapping_at(mark, {{path, mark, std::move(value)}});
    split_paths(document);
    return document;
}

}  // namespace syncline::config
