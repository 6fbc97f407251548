#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostics.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/platform_parts.hpp"
#include "sim/topology/families.hpp"

namespace syncline::config {

namespace {

constexpr QuantityRange latencies{.word = "none", .most = most_latency_s};

/// Returns "a tree", "an exponential graph".
std::string called(const shapes::Family& family) {
    return family.called != nullptr ? family.called : fmt::format("a {}", family.name);
}

void check_keys(Fields& fields, Shape shape) {
    const shapes::Family& own = shapes::family_of(shape);
    for (const shapes::Family* owner : shapes::all)
        for (const ShapeParameter& parameter : owner->parameters)
            if (owner != &own && fields.given(parameter.key))
                fields.reject(parameter.key, fmt::format("'{}' has no effect in {}", parameter.key, called(own)),
                              fmt::format("it applies to {}: `topology: {}`; `{}: ~` removes an inherited one",
                                          called(*owner), owner->name, parameter.key));
    if (shape != Shape::graph) return;
    if (fields.given("file") && fields.given("edges"))
        fields.reject("edges", "'edges' and 'file' exclude each other", "remove one of the two");
    if (!fields.given("file") && !fields.given("edges"))
        fields.reject("edges", "a graph needs 'edges', or a 'file' that holds them", "");
}

void describe(Fields& fields, HierarchyLevel& level) {
    std::vector<std::pair<std::string, Shape>> patterns;
    for (const shapes::Family* family : shapes::all)
        if (family->join != nullptr) patterns.emplace_back(family->name, family->shape);
    fields.one_of({"pattern", "Pattern that connects the members of one group.", true}, level.pattern, patterns);
    fields.integer({"size", "Number of members of one group. Default of the outermost level: as many as needed."},
                   level.size, 1, largest_count);
}

void describe(Fields& fields, UserEdge& edge) {
    fields.text({"from", "Name of a host or switch.", true}, edge.from);
    fields.text({"to", "Name of another host or switch.", true}, edge.to);
    fields.quantity({"bandwidth", "Bandwidth of this cable in each direction. Default: the topology's."},
                    edge.wire.bandwidth_Bps, Dimension::bandwidth, bandwidths);
    fields.quantity({"latency", "Latency of this cable. Default: the topology's."}, edge.wire.latency_s,
                    Dimension::seconds, latencies);
    edge.instant = fields.given("latency") && edge.wire.latency_s == 0;
}

/// Describes one key of a shape, by the type of its value.
struct DescribeParameter {
    Fields& fields;
    TopologySpec& spec;
    const ShapeParameter& it;
    Key key{it.key, it.doc};

    void operator()(bool TopologySpec::*value) const { fields.flag(key, spec.*value); }
    void operator()(std::int64_t TopologySpec::*value) const { fields.integer(key, spec.*value, it.least, it.most); }
    void operator()(std::vector<std::int64_t> TopologySpec::*values) const {
        fields.integer_list(key, spec.*values, it.least, it.most);
    }
    void operator()(std::vector<std::string> TopologySpec::*values) const { fields.texts(key, spec.*values); }
    template <class Item>
    void operator()(std::vector<Item> TopologySpec::*items) const {
        fields.each(key, [&](Fields& entry) {
            Item item;
            describe(entry, item);
            if (entry.sound()) (spec.*items).push_back(std::move(item));
        });
    }
    void operator()(GraphReader read_graph) const {
        fields.file(key, [&](const std::string& path, const std::string& text, const Fields::Beside&) {
            try {
                TopologySpec graph = read_graph(path, text);
                for (const GraphNote& note : graph.notes)
                    warn({{path, static_cast<int>(note.line), 1, ""}, note.text, ""});
                spec.edges = std::move(graph.edges);
                spec.order = std::move(graph.order);
                for (std::string& name : graph.switches) spec.switches.push_back(std::move(name));
            } catch (const TopologyError& error) {
                fields.reject(it.key, error.what(), error.hint);
            }
        });
    }
};

}  // namespace

const std::vector<std::string>& shape_names() {
    static const auto names = [] {
        std::vector<std::string> result;
        for (std::size_t shape = 0; shape < shapes::all.size(); ++shape)
            result.emplace_back(shape_name(static_cast<Shape>(shape)));
        return result;
    }();
    return names;
}

bool is_shape(const std::string& name) {
    return std::find(shape_names().begin(), shape_names().end(), name) != shape_names().end();
}

void describe(Fields& fields, TopologySpec& spec) {
    fields.text({"name", "Name shown in messages and results."}, spec.name);
    int shape = static_cast<int>(spec.shape);
    fields.choice({"topology", "Shape of the topology, which determines its other keys."}, shape, shape_names());
    spec.shape = static_cast<Shape>(shape);
    fields.integer(
        {"hosts", "Number of hosts. Default: as many as the other keys determine, or else as many as needed."},
        spec.hosts, 1, largest_count);
    fields.quantities({"bandwidth",
                       "Bandwidth of a cable in each direction: `25 Gbps`; or a list by level, hosts first, whose last "
                       "value applies to all further levels."},
                      spec.bandwidth_Bps, Dimension::bandwidth, bandwidths);
    fields.quantities({"latency", "Latency of a cable: `1 us`, or `none`; or a list by level, as for `bandwidth`."},
                      spec.latency_s, Dimension::seconds, latencies);
    for (const shapes::Family* family : shapes::all)
        for (const ShapeParameter& parameter : family->parameters)
            std::visit(DescribeParameter{fields, spec, parameter}, parameter.value);
    check_keys(fields, spec.shape);
}

std::optional<Topology> build(Fields& fields, const TopologySpec& spec, Use use, std::int64_t hosts) {
    try {
        return make_topology(spec, use, hosts);
    } catch (const TopologyError& error) {
        fields.reject(error.key == "shape" ? "topology" : error.key, error.what(), error.hint);
        return {};
    }
}

}  // namespace syncline::config
