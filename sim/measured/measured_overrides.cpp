#include "sim/measured/measured_overrides.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sim/document/key_path.hpp"
#include "sim/document/override.hpp"

namespace syncline::config {

namespace {

/// Returns whether path `inner` is `outer` or a key in it.
bool within(std::string_view inner, std::string_view outer) {
    return inner == outer || lies_in(inner, outer);
}

/// The part of a path that exists in a document.
struct Way {
    const Node* end;  ///< the last value on it
    bool whole;       ///< `end` is at the end of the path
};

Way go(const Node& document, std::string_view path) {
    const Node* end = &document;
    for (const PathPart& part : parse_path(path).parts) {
        const Node* next = end->find(part.key);
        if (!next) return {end, false};
        end = next;
    }
    return {end, true};
}

void check_over(Assembly& assembly, const MeasuredSeries& series, const Node& node, const std::string& key) {
    for (std::size_t i = 0; i < series.over.size(); ++i)
        if (within(series.over[i], key) || within(key, series.over[i]))
            assembly.report(node.find("over")->items[i].mark,
                            fmt::format("rows give '{}', but parameter '{}' would replace it", series.over[i], key),
                            "a row's values are known; remove the parameter");
}

void check_set(Assembly& assembly, const Node& node, const std::string& key) {
    const Node* set = node.find("set");
    if (!set || set->kind != Node::Kind::mapping) return;
    Node changes = *set;
    assembly.attempt([&] { split_paths(changes); });
    if (const Way way = go(changes, key); way.whole)
        assembly.report(way.end->mark, fmt::format("parameter '{}' would replace this", key),
                        "values that a series sets are known; remove the parameter or this key");
}

}  // namespace

void check_alternative(Assembly& assembly, const Measurements& measurements, const Alternative& alternative) {
    for (const MeasuredParameter& parameter : measurements.parameters)
        for (const std::string& key : parameter.keys)
            if (const Way way = go(alternative.changes, key); way.whole)
                assembly.report(way.end->mark, fmt::format("parameter '{}' would replace this", key),
                                "its value is estimated again under each alternative; remove this key");
}

void check_overrides(Assembly& assembly, const Measurements& measurements, const Node& measured,
                     const std::vector<Node>& last) {
    for (const MeasuredParameter& parameter : measurements.parameters)
        for (const std::string& key : parameter.keys) {
            for (std::size_t i = 0; i < measurements.series.size(); ++i) {
                if (!parameter.applies_to(i)) continue;
                const Node& node = measured.find("series")->items[i];
                check_over(assembly, measurements.series[i], node, key);
                check_set(assembly, node, key);
            }
            for (const Node& changes : last)
                if (const Way way = go(changes, key); way.whole || way.end->kind != Node::Kind::mapping)
                    assembly.report(changes.mark,
                                    fmt::format("'{}' is a parameter: its value is estimated from the rows", key),
                                    "to set it, remove the parameter from the file");
        }
}

}  // namespace syncline::config
