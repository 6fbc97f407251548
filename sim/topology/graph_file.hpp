#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"

/// What a file of a graph says, before anything is made of it: only formats.hpp's own files include this.
namespace syncline {

struct FileVertex {
    std::string name;
    std::string kind;  ///< empty: the file does not say
};

struct FileEdge {
    std::size_t from = 0, to = 0;    ///< indices of `vertices`
    std::string bandwidth, latency;  ///< empty: the file does not say
    bool one_way = false;
};

struct FileGraph {
    std::vector<FileVertex> vertices;
    std::vector<FileEdge> edges;
};

/// Elements or subgraphs in each other; both parsers recurse.
inline constexpr int deepest_nesting = 100;

/// Both throw TopologyError: not that format, nested too deep, more than most_cables edges.
FileGraph read_dot(const std::string& text);
FileGraph read_graphml(const std::string& text);

/// Throws the TopologyError of a file with so many edges, if they are too many.
void require_not_too_many(std::size_t edges);

}  // namespace syncline
