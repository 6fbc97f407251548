#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/topology/formats.hpp"
#include "sim/topology/xml_text.hpp"

namespace syncline {

namespace {

/// Formats `value` so that parse_quantity reads the same number again: in common units, unless they would round it.
std::string exact(double value, Dimension dimension) {
    struct Unit {
        const char* name;
        double factor;
    };
    static const std::vector<Unit> times{{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    static const std::vector<Unit> speeds{{"Tbps", 0.125e12}, {"Gbps", 0.125e9}, {"Mbps", 0.125e6}, {"kbps", 0.125e3}};
    const bool time = dimension == Dimension::seconds;
    for (const auto& [name, factor] : time ? times : speeds) {
        const std::string text = fmt::format("{} {}", value / factor, name);
        if (value >= factor && parse_quantity(text, dimension).value == value) return text;
    }
    return fmt::format("{} {}", value, time ? "s" : "B/s");
}

struct Attribute {
    const char* name;
    std::string value;
};

/// Returns the attributes of a cable; none in an overlay, whose cables have no bandwidth or latency.
std::vector<Attribute> attributes(const Wire& wire) {
    std::vector<Attribute> result;
    if (wire.bandwidth_Bps > 0) result.push_back({"bandwidth", exact(wire.bandwidth_Bps, Dimension::bandwidth)});
    if (wire.latency_s > 0 || wire.bandwidth_Bps > 0)
        result.push_back({"latency", exact(wire.latency_s, Dimension::seconds)});
    return result;
}

/// Calls `write(from, to, wire)` for each edge of the file: one per cable, or one per direction in a directed graph.
template <class Write>
void for_each_edge(const Topology& topology, const Write& write) {
    const bool directed = topology.directed();
    std::vector<bool> seen(topology.cables, false);
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex)
        for (auto [edge, end] = boost::out_edges(vertex, topology.graph); edge != end; ++edge) {
            const Arc& arc = topology.graph[*edge];
            if (!directed && seen[arc.cable]) continue;
            seen[arc.cable] = true;
            write(vertex, boost::target(*edge, topology.graph), arc.wire);
        }
}

/// Returns a DOT string. Only the quote is escaped, and a backslash is literal but takes the next character with it.
/// Throws TopologyError for an odd number of backslashes before a quote or the end, which no string can hold.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    bool odd = false;
    const auto require_even = [&] {
        if (odd)
            throw TopologyError("", fmt::format("the name '{}' cannot be written in DOT", text),
                                "a backslash before a quote or the end of a name: use `--format graphml`");
    };
    for (const char letter : text) {
        if (letter == '"') {
            require_even();
            result += '\\';
        }
        odd = letter == '\\' && !odd;
        result += letter;
    }
    require_even();
    return result + '"';
}

const char* kind_name(VertexKind kind) {
    return kind == VertexKind::host ? "host" : "switch";
}

}  // namespace

std::string to_dot(const Topology& topology) {
    const bool directed = topology.directed();
    std::string text = fmt::format("{} {} {{\n", directed ? "digraph" : "graph", quoted(topology.name));
    const auto out = std::back_inserter(text);
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        const auto& [name, kind, level] = topology.graph[vertex];
        fmt::format_to(out, "  {} [kind={}, shape={}];\n", quoted(name), kind_name(kind),
                       kind == VertexKind::host ? "box" : "ellipse");
    }
    for_each_edge(topology, [&](std::size_t from, std::size_t to, const Wire& wire) {
        fmt::format_to(out, "  {} {} {}", quoted(topology.graph[from].name), directed ? "->" : "--",
                       quoted(topology.graph[to].name));
        const char* separator = " [";
        for (const auto& [name, value] : attributes(wire)) {
            fmt::format_to(out, "{}{}={}", separator, name, quoted(value));
            separator = ", ";
        }
        text += *separator == ',' ? "];\n" : ";\n";
    });
    return text + "}\n";
}

std::string to_graphml(const Topology& topology) {
    std::string text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
    const auto out = std::back_inserter(text);
    for (const auto& [name, of] : {std::pair{"name", "node"}, std::pair{"kind", "node"}, std::pair{"bandwidth", "edge"},
                                   std::pair{"latency", "edge"}})
        fmt::format_to(out, "  <key id=\"{0}\" for=\"{1}\" attr.name=\"{0}\" attr.type=\"string\"/>\n", name, of);
    fmt::format_to(out, "  <graph edgedefault=\"{}\">\n", topology.directed() ? "directed" : "undirected");
    // A vertex's name need not be an XML name, which an id must be.
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        const auto& [name, kind, level] = topology.graph[vertex];
        fmt::format_to(out, "    <node id=\"n{}\"><data key=\"name\">{}</data><data key=\"kind\">{}</data></node>\n",
                       vertex, xml_exact(name), kind_name(kind));
    }
    for_each_edge(topology, [&](std::size_t from, std::size_t to, const Wire& wire) {
        fmt::format_to(out, "    <edge source=\"n{}\" target=\"n{}\">", from, to);
        for (const auto& [name, value] : attributes(wire))
            fmt::format_to(out, "<data key=\"{}\">{}</data>", name, value);
        text += "</edge>\n";
    });
    return text + "  </graph>\n</graphml>\n";
}

}  // namespace syncline
