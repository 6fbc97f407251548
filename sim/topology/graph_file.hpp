#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"

/// The contents of a graph file before it becomes a topology. Only the files that implement formats.hpp include this.
namespace syncline {

struct FileVertex {
    std::string name;
    std::string kind;  ///< empty: not given in the file
};

struct FileEdge {
    std::size_t from = 0, to = 0;    ///< indices of `vertices`
    std::string bandwidth, latency;  ///< empty: not given in the file
    bool one_way = false;
    std::size_t line = 0;  ///< of the file; 0: unknown
};

struct FileGraph {
    std::vector<FileVertex> vertices;
    std::vector<FileEdge> edges;
    std::vector<GraphNote> notes;
};

/// Both throw TopologyError if the text is not in that format, is nested too deeply, or has more than most_cables
/// edges.
FileGraph read_dot(const std::string& text);
FileGraph read_graphml(const std::string& text);

/// Throws TopologyError if a file has too many edges.
void require_not_too_many(std::size_t edges);

}  // namespace syncline
