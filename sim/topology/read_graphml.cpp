#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string_view>

#include "sim/base/number.hpp"
#include "sim/base/xml_reader.hpp"
#include "sim/topology/graph_file.hpp"

namespace syncline {

namespace {

/// A point on the sphere, in degrees.
struct Coordinates {
    double latitude = 0, longitude = 0;
};

/// Returns the time of light in glass, at two thirds of its speed in vacuum, along the great circle (haversine
/// formula).
double seconds_between(const Coordinates& a, const Coordinates& b) {
    constexpr double earth_radius_m = 6'371'009, glass_m_per_s = 299'792'458 * 2 / 3.0;
    const auto half_sine = [](double degrees) { return std::sin(degrees * std::numbers::pi / 360); };
    const auto cosine = [](double degrees) { return std::cos(degrees * std::numbers::pi / 180); };
    const double across = half_sine(b.latitude - a.latitude), along = half_sine(b.longitude - a.longitude);
    const double square = across * across + cosine(a.latitude) * cosine(b.latitude) * along * along;
    return 2 * earth_radius_m * std::asin(std::sqrt(std::min(square, 1.0))) / glass_m_per_s;
}

/// Replaces boost::read_graphml, which does not return the ids of nodes, where most tools put their names, which stops
/// at keys without a type, which yEd writes, and which overflows its stack on files that are nested deeply.
class Reader : public XmlHandler {
public:
    void open(const XmlTag& tag) override {
        const auto attribute = [&](std::string_view name) { return tag.attribute(name).value_or(""); };
        const std::string_view name = tag.name.substr(tag.name.find(':') + 1);  // without the prefix of its namespace
        const Role parent = open_.empty() ? Role::document : open_.back();
        Role role = Role::other;
        if (parent == Role::document) {
            if (name != "graphml") throw TopologyError("", "this is not GraphML: it has no <graphml> element");
            role = Role::graphml;
        } else if (parent == Role::graphml && name == "key") {
            role = Role::key;
            key_ = attribute("id");
            keys_[key_] = {attribute("attr.name"), attribute("for"), ""};
        } else if (parent == Role::key && name == "default") {
            role = Role::fallback;
        } else if ((parent == Role::graphml || parent == Role::node) && name == "graph") {
            role = Role::graph;
            if (parent == Role::graphml && std::exchange(seen_graph_, true))
                throw TopologyError("", "the file has more than one graph");
            directed_.push_back(attribute("edgedefault") == "directed");
        } else if (parent == Role::graph && name == "node") {
            role = Role::node;
            add_node(attribute("id"), tag.place.line);
        } else if (parent == Role::graph && name == "edge") {
            role = Role::edge;
            require_not_too_many(edges_.size() + 1);
            const std::string own = attribute("directed");
            edges_.push_back({.source = attribute("source"), .target = attribute("target")});
            edges_.back().edge.line = tag.place.line;
            edges_.back().edge.one_way = own.empty() ? directed_.back() : own == "true";
        } else if (parent == Role::graph && name == "hyperedge") {
            throw TopologyError("", "hyperedges are not supported", "a cable has two ends");
        } else if ((parent == Role::node || parent == Role::edge) && name == "data") {
            role = Role::data;
            key_ = attribute("key");
        }
        open_.push_back(role);
    }

    void close(std::string_view, std::string_view text) override {
        const Role role = open_.back();
        open_.pop_back();
        if (role == Role::fallback) {
            keys_[key_].fallback = text;
        } else if (role == Role::data && open_.back() == Role::node) {
            note(key_name(), text, vertices_[nodes_.back()]);
        } else if (role == Role::data) {
            note(key_name(), text, edges_.back());
        } else if (role == Role::graph) {
            directed_.pop_back();
        } else if (role == Role::node) {
            nodes_.pop_back();
        }
    }

    FileGraph finish() {
        if (!seen_graph_) throw TopologyError("", "this is not GraphML: it has no <graph> element");
        for (const auto& [id, key] : keys_) {
            const bool of_all = key.of.empty() || key.of == "all";
            if (of_all || key.of == "node")
                for (Vertex& vertex : vertices_) fall_back(key, vertex);
            if (of_all || key.of == "edge")
                for (Edge& edge : edges_) fall_back(key, edge);
        }
        for (Vertex& vertex : vertices_)
            if (vertex.vertex.name.empty()) vertex.vertex.name = vertex.id;
        for (Edge& edge : edges_) {
            use_speed(edge);
            edge.edge.from = vertex(edge.source);
            edge.edge.to = vertex(edge.target);
            use_places(edge);
        }
        note_labels();
        note_places();
        for (Vertex& vertex : vertices_) result_.vertices.push_back(std::move(vertex.vertex));
        for (Edge& edge : edges_) result_.edges.push_back(std::move(edge.edge));
        return std::move(result_);
    }

private:
    /// The meaning of an element where it stands.
    enum class Role { document, graphml, key, fallback, graph, node, edge, data, other };

    struct Key {
        std::string name;
        std::string of;  ///< kind of the elements that have it: node, edge, all, …
        std::string fallback;
    };
    /// Keys of the Internet Topology Zoo.
    struct Place {
        std::string latitude, longitude, hyperedge;
    };
    struct Vertex {
        std::string_view id;  ///< in index_
        std::size_t line = 0;
        FileVertex vertex = {};
        std::unique_ptr<Place> place = {};  ///< graphs of millions of vertices have none
    };
    struct Edge {
        std::string source, target;
        FileEdge edge = {};
        std::string raw_speed = {}, speed = {}, units = {};  ///< bits per second; "10" and "G"
        std::string label = {};
    };

    /// The Internet Topology Zoo writes speeds of links in keys of its own.
    static void use_speed(Edge& edge) {
        if (!edge.edge.bandwidth.empty()) return;
        if (!edge.raw_speed.empty())
            edge.edge.bandwidth = edge.raw_speed + " bps";
        else if (!edge.speed.empty())
            edge.edge.bandwidth = fmt::format("{} {}bps", edge.speed, edge.units == "K" ? "k" : edge.units);
    }

    static std::optional<Coordinates> place_of(const Vertex& vertex) {
        if (vertex.place == nullptr) return {};
        const auto latitude = number_in<double>(vertex.place->latitude);
        const auto longitude = number_in<double>(vertex.place->longitude);
        constexpr double pole = 90, round = 360;
        if (!latitude || !longitude || !(std::abs(*latitude) <= pole) || !(std::abs(*longitude) <= round)) return {};
        return Coordinates{*latitude, *longitude};
    }

    /// Takes the latency from the places of the ends, if the file does not say it.
    void use_places(Edge& edge) {
        if (!edge.edge.latency.empty()) return;
        const auto from = place_of(vertices_[edge.edge.from]), to = place_of(vertices_[edge.edge.to]);
        if (from && to) {
            edge.edge.latency = fmt::format("{} s", seconds_between(*from, *to));
            if (placed_++ == 0) first_placed_ = edge.edge.line;
        } else if (unplaced_++ == 0) {
            first_unplaced_ = edge.edge.line;
        }
    }

    void note_places() {
        if (placed_ == 0) return;
        result_.notes.push_back(
            {first_placed_, fmt::format("the latencies of {} edges are from coordinates, at two thirds of "
                                        "light's speed",
                                        placed_)});
        if (unplaced_ > 0)
            result_.notes.push_back({first_unplaced_, fmt::format("{} edges have no coordinates at both ends: their "
                                                                  "latency is that of the topology",
                                                                  unplaced_)});
    }

    /// Notes labels of edges, which may be rates in words, and nodes that are none.
    void note_labels() {
        std::size_t labels = 0, hyperedges = 0, line = 1, first_hyperedge = 1;
        std::string first;
        for (const Edge& edge : edges_) {
            if (edge.label.empty() || !edge.edge.bandwidth.empty() || labels++ > 0) continue;
            first =
                fmt::format("LinkLabel of the edge {} -- {} is not read: '{}'", vertices_[edge.edge.from].vertex.name,
                            vertices_[edge.edge.to].vertex.name, edge.label.substr(0, 40));
            line = edge.edge.line;
        }
        for (const Vertex& vertex : vertices_)
            if (vertex.place && vertex.place->hyperedge == "1" && hyperedges++ == 0) first_hyperedge = vertex.line;
        if (labels > 0)
            result_.notes.push_back(
                {line, labels > 1 ? fmt::format("{}, and those of {} others", first, labels - 1) : first});
        if (hyperedges > 0)
            result_.notes.push_back(
                {first_hyperedge, fmt::format("{} nodes are marked as hyperedges; they are vertices "
                                              "here",
                                              hyperedges)});
    }

    void add_node(const std::string& id, std::size_t line) {
        // Each vertex has an edge; so it is of no use to read more than twice as many.
        require_not_too_many(vertices_.size() / 2);
        const auto [known, added] = index_.emplace(id, vertices_.size());
        if (!added) throw TopologyError("", fmt::format("two nodes have the id '{}'", id));
        nodes_.push_back(vertices_.size());
        vertices_.push_back({known->first, line});
    }

    std::string_view key_name() const {
        const auto key = keys_.find(key_);
        return key == keys_.end() ? "" : std::string_view(key->second.name);
    }

    static std::string* value_of(std::string_view name, Vertex& vertex) {
        if (name == "name") return &vertex.vertex.name;
        if (name == "kind") return &vertex.vertex.kind;
        std::string Place::*const part = name == "Latitude"    ? &Place::latitude
                                         : name == "Longitude" ? &Place::longitude
                                         : name == "hyperedge" ? &Place::hyperedge
                                                               : nullptr;
        if (part == nullptr) return nullptr;
        if (vertex.place == nullptr) vertex.place = std::make_unique<Place>();
        return &(*vertex.place.*part);
    }
    static std::string* value_of(std::string_view name, Edge& edge) {
        return name == "bandwidth"        ? &edge.edge.bandwidth
               : name == "latency"        ? &edge.edge.latency
               : name == "LinkSpeedRaw"   ? &edge.raw_speed
               : name == "LinkSpeed"      ? &edge.speed
               : name == "LinkSpeedUnits" ? &edge.units
               : name == "LinkLabel"      ? &edge.label
                                          : nullptr;
    }
    template <class Element>
    static void note(std::string_view name, std::string_view text, Element& element) {
        if (std::string* value = value_of(name, element)) *value = text;
    }
    template <class Element>
    static void fall_back(const Key& key, Element& element) {
        std::string* value = value_of(key.name, element);
        if (value != nullptr && value->empty()) *value = key.fallback;
    }

    std::size_t vertex(const std::string& id) const {
        const auto found = index_.find(id);
        if (found == index_.end()) throw TopologyError("", fmt::format("an edge refers to an unknown node '{}'", id));
        return found->second;
    }

    FileGraph result_;
    std::vector<Vertex> vertices_;
    std::vector<Edge> edges_;
    std::size_t placed_ = 0, first_placed_ = 0;      ///< edges whose latency is from coordinates; line of the first one
    std::size_t unplaced_ = 0, first_unplaced_ = 0;  ///< edges without one
    std::map<std::string, Key> keys_;
    std::map<std::string, std::size_t> index_;  ///< of vertices, by the id of their node
    bool seen_graph_ = false;
    // The place in the document:
    std::vector<Role> open_;          ///< elements
    std::vector<bool> directed_;      ///< edges of the graphs that are open, unless they say otherwise
    std::vector<std::size_t> nodes_;  ///< vertices whose elements are open: a node of yEd may be a group of nodes
    std::string key_;                 ///< id of the last key that was defined or used
};

}  // namespace

FileGraph read_graphml(const std::string& text) {
    Reader reader;
    try {
        parse_xml(text, reader);
    } catch (const XmlError& problem) {
        throw TopologyError("", fmt::format("line {}: {}", problem.place.line, problem.what()));
    }
    return reader.finish();
}

}  // namespace syncline
