#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Graphs in Graphviz's language DOT (https://graphviz.org/doc/info/lang.html): subgraphs on either side of an edge,
/// defaults of nodes and edges in their scope, `strict`, comments, ports. What draws a graph is left out: its own
/// attributes, ports, texts in HTML.
namespace syncline {

struct DotValue {
    std::string text;          ///< empty: not given
    std::size_t position = 0;  ///< in the file
};

struct DotGraph {
    struct Vertex {
        std::string name;
        std::vector<DotValue> values;  ///< of the attributes asked for
    };
    struct Edge {
        std::size_t from = 0, to = 0;  ///< indices of `vertices`
        std::vector<DotValue> values;
        std::size_t position = 0;  ///< of the statement
    };

    bool directed = false;
    std::vector<Vertex> vertices;  ///< in the order in which they are named first
    std::vector<Edge>
        edges;  ///< those within a subgraph before the ones that join it; of a strict graph, the first between its ends
};

struct DotError : std::runtime_error {
    DotError(std::size_t where, const std::string& message) : std::runtime_error(message), position(where) {}
    std::size_t position;
};

/// Reads one graph with these attributes of its vertices and edges. `grows` is called with the number of vertices and
/// of edges before they are added, and may throw: `{a b c} -- {d e f}` is nine edges, so that a short text can describe
/// more than fit in memory. Throws DotError if the text is not DOT, or if its subgraphs are nested too deeply.
DotGraph read_dot(std::string_view text, const std::vector<std::string>& attributes,
                  const std::function<void(std::size_t vertices, std::size_t edges)>& grows);

}  // namespace syncline
