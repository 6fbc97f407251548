#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <variant>

#include "sim/topology/shape.hpp"

/// The table of shapes. Each shape is one row, defined in a file of its own, whose first comment describes it. Other
/// rooms use the names and parameters only.
namespace syncline {

struct Bisection;
struct GraphLayout;
class Network;

/// A kind of cable in a picture: its position in the legend, and its label there.
struct CableKind {
    std::int64_t order = 0;
    std::string label;
};
using CableKinds = std::function<CableKind(std::uint32_t from, std::uint32_t to)>;

/// Reads the file of a graph: see parse_graph().
using GraphReader = TopologySpec (*)(const std::string& file_name, const std::string& text);

/// A key that only one shape has, the member that holds its value, and its description. The range is that of numbers.
struct ShapeParameter {
    const char* key;
    std::variant<bool TopologySpec::*, std::int64_t TopologySpec::*, std::vector<std::int64_t> TopologySpec::*,
                 std::vector<HierarchyLevel> TopologySpec::*, std::vector<std::string> TopologySpec::*,
                 std::vector<UserEdge> TopologySpec::*, GraphReader>
        value;
    const char* doc;
    std::int64_t least = 1, most = largest_count;
};

namespace shapes {

class Builder;
struct Request;

struct Family {
    Shape shape = Shape::star;
    const char* name = nullptr;    ///< in files: "full-mesh"
    const char* called = nullptr;  ///< in messages, if not "a" and the name
    std::span<const ShapeParameter> parameters = {};
    bool overlay = true;                                  ///< can do without switches
    Topology (*build)(const Request& request) = nullptr;  ///< null: a hierarchy of one level, for patterns
    /// Connects the members of a group, if the shape can be the pattern of a hierarchy's level; otherwise null.
    void (*join)(Builder& builder, std::span<const std::int64_t> members, std::int64_t level) = nullptr;
    bool branches = false;  ///< as a pattern: equally short paths are not only the directions around a ring

    /// Null: hosts on a circle, or with switches in layers.
    GraphLayout (*lay_out)(const TopologySpec& spec, const Topology& topology) = nullptr;
    /// Null: by the levels of switches, if there are any.
    CableKinds (*cable_kinds)(const TopologySpec& spec, const Topology& topology) = nullptr;
    /// See cyclic_factors(). Null: none.
    std::vector<std::uint32_t> (*factors)(const TopologySpec& spec, const Topology& topology) = nullptr;
    /// Returns the bisection by a formula, nothing if it does not apply. Null: there is no formula.
    std::optional<Bisection> (*bisection)(const TopologySpec& spec, const Topology& topology,
                                          const Network& network) = nullptr;
};

namespace families {

extern const Family star, ring, full_mesh, exponential, hypercube, tree, torus, hierarchical, fat_tree, dragonfly,
    rails, graph;

}  // namespace families

/// All shapes, in the order in which their parameters are described. Their names are listed in the order of Shape.
inline constexpr std::array all{&families::star,        &families::ring,         &families::full_mesh,
                                &families::exponential, &families::hypercube,    &families::tree,
                                &families::torus,       &families::hierarchical, &families::fat_tree,
                                &families::dragonfly,   &families::rails,        &families::graph};

const Family& family_of(Shape shape);

}  // namespace shapes
}  // namespace syncline
