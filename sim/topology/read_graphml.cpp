#include <fmt/format.h>

#include <map>
#include <string_view>

#include "sim/base/xml_reader.hpp"
#include "sim/topology/graph_file.hpp"

namespace syncline {

namespace {

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
            add_node(attribute("id"));
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
            note(key_name(), text, result_.vertices[nodes_.back()]);
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
                for (FileVertex& vertex : result_.vertices) fall_back(key, vertex);
            if (of_all || key.of == "edge")
                for (Edge& edge : edges_) fall_back(key, edge);
        }
        for (std::size_t i = 0; i < ids_.size(); ++i)
            if (result_.vertices[i].name.empty()) result_.vertices[i].name = ids_[i];
        for (Edge& edge : edges_) {
            use_speed(edge);
            edge.edge.from = vertex(edge.source);
            edge.edge.to = vertex(edge.target);
            result_.edges.push_back(std::move(edge.edge));
        }
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
    struct Edge {
        std::string source, target;
        FileEdge edge = {};
        std::string raw_speed = {}, speed = {}, units = {};  ///< bits per second; "10" and "G"
    };

    /// The Internet Topology Zoo writes speeds of links in keys of its own.
    static void use_speed(Edge& edge) {
        if (!edge.edge.bandwidth.empty()) return;
        if (!edge.raw_speed.empty())
            edge.edge.bandwidth = edge.raw_speed + " bps";
        else if (!edge.speed.empty())
            edge.edge.bandwidth = fmt::format("{} {}bps", edge.speed, edge.units == "K" ? "k" : edge.units);
    }

    void add_node(const std::string& id) {
        // Each vertex has an edge; so it is of no use to read more than twice as many.
        require_not_too_many(result_.vertices.size() / 2);
        if (!index_.emplace(id, result_.vertices.size()).second)
            throw TopologyError("", fmt::format("two nodes have the id '{}'", id));
        nodes_.push_back(result_.vertices.size());
        result_.vertices.emplace_back();
        ids_.push_back(id);
    }

    std::string_view key_name() const {
        const auto key = keys_.find(key_);
        return key == keys_.end() ? "" : std::string_view(key->second.name);
    }

    static std::string* place(std::string_view name, FileVertex& vertex) {
        return name == "name" ? &vertex.name : name == "kind" ? &vertex.kind : nullptr;
    }
    static std::string* place(std::string_view name, Edge& edge) {
        return name == "bandwidth"        ? &edge.edge.bandwidth
               : name == "latency"        ? &edge.edge.latency
               : name == "LinkSpeedRaw"   ? &edge.raw_speed
               : name == "LinkSpeed"      ? &edge.speed
               : name == "LinkSpeedUnits" ? &edge.units
                                          : nullptr;
    }
    template <class Element>
    static void note(std::string_view name, std::string_view text, Element& element) {
        if (std::string* value = place(name, element)) *value = text;
    }
    template <class Element>
    static void fall_back(const Key& key, Element& element) {
        std::string* value = place(key.name, element);
        if (value != nullptr && value->empty()) *value = key.fallback;
    }

    std::size_t vertex(const std::string& id) const {
        const auto found = index_.find(id);
        if (found == index_.end()) throw TopologyError("", fmt::format("an edge refers to an unknown node '{}'", id));
        return found->second;
    }

    FileGraph result_;
    std::vector<std::string> ids_;  ///< of the vertices' nodes
    std::vector<Edge> edges_;
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
