#include "sim/config/measured_overrides.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sim/config/key_path.hpp"
#include "sim/config/override.hpp"

namespace syncline::config {

namespace {

/// Whether path `inner` is `outer`, or a key in it.
bool within(std::string_view inner, std::string_view outer) {
    return inner == outer || lies_in(inner, outer);
}

/// How far a path leads into a document.
struct Way {
    const Node* end;  ///< the last value on it
    bool whole;       ///< it stands at the path's end
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
                            fmt::format("rows give '{}', and parameter '{}' would replace it", series.over[i], key),
                            "what a row says is known: take the parameter out");
}

void check_set(Assembly& assembly, const Node& node, const std::string& key) {
    const Node* set = node.find("set");
    if (!set || set->kind != Node::Kind::mapping) return;
    Node changes = *set;
    assembly.attempt([&] { split_paths(changes); });
    if (const Way way = go(changes, key); way.whole)
        assembly.report(way.end->mark, fmt::format("parameter '{}' would replace this", key),
                        "what a series sets is known: take the parameter out, or this key");
}

}  // namespace

void check_overrides(Assembly& assembly, const Measurements& measurements, const Node& measured,
                     const std::vector<Node>& last) {
    for (const MeasuredParameter& parameter : measurements.parameters) {
        for (std::size_t i = 0; i < measurements.series.size(); ++i) {
            const Node& node = measured.find("series")->items[i];
            check_over(assembly, measurements.series[i], node, parameter.key);
            check_set(assembly, node, parameter.key);
        }
        for (const Node& changes : last)
            if (const Way way = go(changes, parameter.key); way.whole || way.end->kind != Node::Kind::mapping)
                assembly.report(changes.mark,
                                fmt::format("'{}' is a parameter: its value is found from the rows", parameter.key),
                                "to give it, take the parameter out of the file");
    }
}

}  // namespace syncline::config
