#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "sim/base/units.hpp"
#include "sim/base/utf8.hpp"
#include "sim/topology/formats.hpp"
#include "sim/topology/graph_file.hpp"

namespace syncline {

void require_not_too_many(std::size_t edges) {
    if (edges > static_cast<std::size_t>(most_cables))
        throw TopologyError("", fmt::format("the file has more than {} edges", most_cables),
                            "use a shape such as fat-tree or torus for a large topology");
}

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// Rejects binary data: both parsers expect text, and other programs show the names.
void require_text(std::string_view text) {
    if (text.size() > most_bytes) throw TopologyError("", "the file is larger than 64 MiB");
    for (int line = 1; !text.empty();) {
        if (text[0] >= ' ' && text[0] <= '~') {  // fast path for most characters
            text.remove_prefix(1);
            continue;
        }
        const auto character = take_character(text);
        if (character == U'\n') ++line;
        const bool space = character == U'\n' || character == U'\r' || character == U'\t';
        if (!character || (is_control(*character) && !space))
            throw TopologyError("", fmt::format("line {}: this is not UTF-8 text", line));
    }
}

bool is_graphml(std::string_view file_name) {
    return file_name.ends_with(".graphml") || file_name.ends_with(".xml");
}
bool is_dot(std::string_view file_name) {
    return file_name.ends_with(".dot") || file_name.ends_with(".gv");
}

FileGraph read(const std::string& file_name, const std::string& text) {
    if (is_graphml(file_name)) return read_graphml(text);
    if (is_dot(file_name)) return read_dot(text);
    throw TopologyError("", "the format cannot be told from the file's name",
                        "use a name that ends in .graphml, .xml, .dot or .gv");
}

double quantity(const std::string& of_edge, const std::string& text, Dimension dimension) {
    if (text.empty()) return 0;
    const auto refuse = [&](const std::string& problem, const std::string& hint = "") {
        throw TopologyError("", fmt::format("{}: {}", of_edge, problem), hint);
    };
    const Quantity read = parse_quantity(text, dimension);
    if (!read.value) refuse(read.error, read.hint);
    const bool bandwidth = dimension == Dimension::bandwidth;
    if (*read.value < 0 || (*read.value == 0 && bandwidth)) refuse(text + " is not positive");
    if (bandwidth && *read.value < least_bandwidth_Bps) refuse(text + " is too low", "at least 1 Bps");
    if (*read.value > (bandwidth ? most_bandwidth_Bps : most_latency_s))
        refuse(text + " is too high", bandwidth ? "at most 1e9 GBps" : "at most an hour");
    return *read.value;
}

/// Returns the switches of `graph`. Throws on unknown kinds, invalid names, and two vertices with one name.
std::vector<std::string> switches_of(const FileGraph& graph) {
    std::vector<std::string> names, switches;
    for (const auto& [name, kind] : graph.vertices) {
        if (const char* problem = problem_of_name(name))
            throw TopologyError("", fmt::format("the name '{}' {}", name, problem));
        if (!kind.empty() && kind != "host" && kind != "switch")
            throw TopologyError("", fmt::format("kind of '{}': unknown kind '{}'", name, kind), "write host or switch");
        names.push_back(name);
        if (kind == "switch") switches.push_back(name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) throw TopologyError("", fmt::format("two vertices are named '{}'", *twice));
    return switches;
}

/// Returns one edge for each cable, in the order of the file.
std::vector<UserEdge> cables_of(const FileGraph& graph) {
    struct Seen {
        std::size_t cable;
        bool undirected;  ///< the file has it as one edge
        bool backward;    ///< the file has the direction towards the cable's first end
    };
    std::map<std::pair<std::size_t, std::size_t>, Seen> seen;
    std::vector<UserEdge> cables;
    for (const FileEdge& edge : graph.edges) {
        const std::string &from = graph.vertices[edge.from].name, &to = graph.vertices[edge.to].name;
        const std::string line = edge.line > 0 ? fmt::format("line {}: ", edge.line) : "";
        const std::string ends = fmt::format("the edge {} {} {}", from, edge.one_way ? "->" : "--", to);
        const std::string name = line + ends;
        if (edge.from == edge.to) throw TopologyError("", name + " is a loop", "a cable joins two vertices");
        const Wire wire{quantity(line + "bandwidth of " + ends, edge.bandwidth, Dimension::bandwidth),
                        quantity(line + "latency of " + ends, edge.latency, Dimension::seconds)};

        const auto [entry, first] =
            seen.try_emplace(std::minmax(edge.from, edge.to), Seen{cables.size(), !edge.one_way, !edge.one_way});
        if (first) {
            cables.push_back({from, to, wire, !edge.latency.empty() && wire.latency_s == 0});
            continue;
        }
        const UserEdge& there = cables[entry->second.cable];
        if (!edge.one_way && entry->second.undirected && there.from == from) {
            cables.push_back({from, to, wire, !edge.latency.empty() && wire.latency_s == 0, true});
            continue;
        }
        if (!edge.one_way && entry->second.undirected)
            throw TopologyError("", name + " is listed twice",
                                "write a parallel cable with the ends in the same order");
        if (entry->second.backward || !edge.one_way || there.from == from)
            throw TopologyError("", name + " is listed twice");
        if (there.wire.bandwidth_Bps != wire.bandwidth_Bps || there.wire.latency_s != wire.latency_s)
            throw TopologyError("", name + " and its opposite have different bandwidths or latencies",
                                "both directions of a cable have the same bandwidth and latency");
        entry->second.backward = true;
    }
    for (const auto& [between, there] : seen)
        if (!there.backward)
            throw TopologyError(
                "",
                fmt::format("the edge {} -> {} has no opposite edge", cables[there.cable].from, cables[there.cable].to),
                "cables are full-duplex: write an undirected graph, or both directions");
    return cables;
}

}  // namespace

const char* problem_of_name(std::string_view name) {
    constexpr std::size_t longest = 1000;
    if (name.empty()) return "is empty";
    if (name.size() > longest) return "is longer than 1000 bytes";
    if (name.front() == ' ' || name.back() == ' ') return "begins or ends with a space";
    while (!name.empty()) {
        const auto character = take_character(name);
        if (!character) return "is not UTF-8";
        if (is_control(*character)) return "contains a control character";
        if (is_noncharacter(*character)) return "contains a character that XML cannot hold";
    }
    return nullptr;
}

bool is_graph_file(const std::string& file_name) {
    return is_graphml(file_name) || is_dot(file_name);
}

TopologySpec parse_graph(const std::string& file_name, const std::string& text) {
    try {
        require_text(text);
        FileGraph graph = read(file_name, text);
        TopologySpec spec;
        spec.notes = std::move(graph.notes);
        spec.shape = Shape::graph;
        spec.switches = switches_of(graph);
        for (const auto& [name, kind] : graph.vertices) {
            if (kind != "switch") spec.order.push_back(name);
        }
        spec.edges = cables_of(graph);
        if (spec.edges.empty()) throw TopologyError("", "the graph has no edges");
        spec.hosts = static_cast<std::int64_t>(graph.vertices.size() - spec.switches.size());

        std::vector<bool> has_cable(graph.vertices.size(), false);
        for (const FileEdge& edge : graph.edges) has_cable[edge.from] = has_cable[edge.to] = true;
        const auto alone = std::find(has_cable.begin(), has_cable.end(), false);
        if (alone != has_cable.end())
            throw TopologyError("",
                                fmt::format("vertex '{}' has no edges",
                                            graph.vertices[static_cast<std::size_t>(alone - has_cable.begin())].name));
        return spec;
    } catch (const TopologyError& problem) {
        throw TopologyError(problem.key, fmt::format("{}: {}", file_name, problem.what()), problem.hint);
    }
}

}  // namespace syncline
