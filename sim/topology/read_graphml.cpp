#include <boost/property_tree/xml_parser.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include "sim/topology/graph_file.hpp"

namespace syncline {

namespace {

namespace pt = boost::property_tree;

/// Throws on elements nested deeper than the XML parser's stack allows, and on too many edges, before the parser
/// starts.
void skim(std::string_view text) {
    int depth = 0;
    std::size_t edges = 0;
    const auto skip_past = [&text](std::string_view end) {
        const auto found = text.find(end);
        text.remove_prefix(found == std::string_view::npos ? text.size() : found + end.size());
    };
    while (true) {
        text.remove_prefix(std::min(text.find('<'), text.size()));
        if (text.empty()) return;
        if (text.starts_with("<!--")) {
            skip_past("-->");
        } else if (text.starts_with("<![CDATA[")) {
            skip_past("]]>");
        } else if (text.starts_with("<!") || text.starts_with("<?")) {
            skip_past(">");
        } else if (text.starts_with("</")) {
            --depth;
            skip_past(">");
        } else {
            if (++depth > deepest_nesting) throw TopologyError("", "elements are nested too deeply");
            if (text.starts_with("<edge")) require_not_too_many(++edges);
            char before = 0;
            // The value of an attribute may contain a '>'.
            while (true) {
                const auto end = std::min(text.find_first_of("=>"), text.size());
                if (end > 0) before = text[end - 1];
                text.remove_prefix(end);
                if (!text.starts_with('=')) break;
                text.remove_prefix(1);
                before = '=';
                if (!text.starts_with('"') && !text.starts_with('\'')) continue;
                const char quote[] = {text[0], 0};
                text.remove_prefix(1);
                skip_past(quote);
            }
            if (before == '/') --depth;
        }
    }
}

/// Replaces boost::read_graphml, which does not return the ids of nodes, where most tools put their names, and which
/// stops at keys without a type, which yEd writes.
class Reader {
public:
    explicit Reader(const pt::ptree& file) {
        for (const auto& [tag, key] : file)
            if (tag == "key") keys_[attribute(key, "id")] = {attribute(key, "attr.name"), key.get("default", "")};
        for (const auto& [tag, graph] : file) {
            if (tag != "graph") continue;
            if (seen_graph_) throw TopologyError("", "the file has more than one graph");
            seen_graph_ = true;
            nodes(graph);
            edges(graph);
        }
        if (!seen_graph_) throw TopologyError("", "this is not GraphML: it has no <graph> element");
    }

    FileGraph result;

private:
    struct Key {
        std::string name, fallback;
    };
    std::map<std::string, Key> keys_;
    std::map<std::string, std::size_t> index_;  ///< of vertices, by the id of their node
    bool seen_graph_ = false;

    static std::string attribute(const pt::ptree& element, const std::string& name) {
        return element.get(pt::ptree::path_type("<xmlattr>/" + name, '/'), "");
    }

    /// Returns the <data> of `element`, or the default of the key with that name.
    std::string data(const pt::ptree& element, const std::string& name) const {
        for (const auto& [tag, child] : element) {
            if (tag != "data") continue;
            const auto key = keys_.find(attribute(child, "key"));
            if (key != keys_.end() && key->second.name == name) return child.data();
        }
        for (const auto& [id, key] : keys_)
            if (key.name == name) return key.fallback;
        return "";
    }

    void nodes(const pt::ptree& graph) {
        for (const auto& [tag, node] : graph) {
            if (tag != "node") continue;
            const std::string id = attribute(node, "id"), name = data(node, "name");
            if (!index_.emplace(id, result.vertices.size()).second)
                throw TopologyError("", fmt::format("two nodes have the id '{}'", id));
            result.vertices.push_back({name.empty() ? id : name, data(node, "kind")});
            // A node of yEd may be a group that contains a graph.
            for (const auto& [inner_tag, inner] : node)
                if (inner_tag == "graph") nodes(inner);
        }
    }

    std::size_t vertex(const std::string& id) const {
        const auto found = index_.find(id);
        if (found == index_.end()) throw TopologyError("", fmt::format("an edge refers to an unknown node '{}'", id));
        return found->second;
    }

    void edges(const pt::ptree& graph) {
        const bool directed = attribute(graph, "edgedefault") == "directed";
        for (const auto& [tag, element] : graph) {
            if (tag == "hyperedge") throw TopologyError("", "hyperedges are not supported", "a cable has two ends");
            if (tag == "edge") {
                const std::string own = attribute(element, "directed");
                result.edges.push_back({vertex(attribute(element, "source")), vertex(attribute(element, "target")),
                                        data(element, "bandwidth"), data(element, "latency"),
                                        own.empty() ? directed : own == "true"});
            } else if (tag == "node") {
                for (const auto& [inner_tag, inner] : element)
                    if (inner_tag == "graph") edges(inner);
            }
        }
    }
};

}  // namespace

FileGraph read_graphml(const std::string& text) {
    skim(text);
    pt::ptree tree;
    try {
        std::istringstream stream(text);
        pt::read_xml(stream, tree, pt::xml_parser::trim_whitespace | pt::xml_parser::no_comments);
    } catch (const pt::xml_parser_error& problem) {
        throw TopologyError("", fmt::format("line {}: this is not XML: {}", problem.line(), problem.message()));
    }
    const auto root = tree.find("graphml");
    if (root == tree.not_found()) throw TopologyError("", "this is not GraphML: it has no <graphml> element");
    return Reader(root->second).result;
}

}  // namespace syncline
