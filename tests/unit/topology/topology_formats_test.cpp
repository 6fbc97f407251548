#include <boost/property_tree/xml_parser.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "sim/topology/formats.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

constexpr Wire wire_25g{3.125e9, 1e-6};

/// Returns a ring of n ≥ 3 hosts, or two hosts and one cable.
Topology ring(std::uint32_t hosts, const Wire& wire) {
    Topology topology;
    topology.name = "ring";
    for (std::uint32_t host = 0; host < hosts; ++host) topology.add_host("host-" + std::to_string(host));
    for (std::uint32_t host = 0; host + (hosts == 2 ? 1 : 0) < hosts; ++host)
        topology.add_cable(host, (host + 1) % hosts, wire);
    return topology;
}

/// Returns hosts with names that need quotes, switches, and wires that no decimal number of a unit gives exactly.
Topology awkward() {
    Topology topology;
    topology.name = "awk\"ward <&>";
    const std::uint32_t a = topology.add_host("a \"b\""), b = topology.add_host("<x & 'y'>"),
                        c = topology.add_host("größe; -- {"), d = topology.add_host("graph");
    const std::uint32_t leaf = topology.add_switch("10", 1), spine = topology.add_switch("-3.5", 2);
    topology.add_cable(a, leaf, {4.0 / 3, 1e-7 / 3});
    topology.add_cable(b, leaf, {12345678901.25, 0});
    topology.add_cable(c, leaf, {50e9 / 8, 1.5e-6});
    topology.add_cable(leaf, spine, {1e12 / 7, 7});
    topology.add_cable(spine, d, {});
    return topology;
}

using Edge = std::tuple<std::string, std::string, double, double>;

/// Returns the cables of a spec, each from its lesser name to its greater one, in order.
std::vector<Edge> edges(const TopologySpec& spec) {
    std::vector<Edge> result;
    for (const auto& [from, to, wire, instant, parallel] : spec.edges)
        result.emplace_back(std::min(from, to), std::max(from, to), wire.bandwidth_Bps, wire.latency_s);
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<Edge> edges(const Topology& topology) {
    TopologySpec spec;
    for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge) {
        const std::size_t from = boost::source(*edge, topology.graph), to = boost::target(*edge, topology.graph);
        if (from < to)
            spec.edges.push_back({topology.graph[from].name, topology.graph[to].name, topology.graph[*edge].wire});
    }
    return edges(spec);
}

std::vector<std::string> switches_of(const Topology& topology) {
    std::vector<std::string> names;
    for (std::uint32_t vertex = topology.hosts; vertex < topology.vertices(); ++vertex)
        names.push_back(topology.graph[vertex].name);
    std::sort(names.begin(), names.end());
    return names;
}

/// Returns the error of parse_graph; empty if there is none.
std::string error(const std::string& file_name, const std::string& text) {
    try {
        parse_graph(file_name, text);
    } catch (const TopologyError& problem) {
        INFO(problem.what());
        CHECK(std::string(problem.what()).starts_with(file_name + ": "));
        return std::string(problem.what()).substr(file_name.size() + 2);
    }
    return "";
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string graphml(const std::string& body, const std::string& direction = "undirected") {
    return "<graphml><key id='b' for='edge' attr.name='bandwidth' attr.type='string'/>"
           "<key id='l' for='edge' attr.name='latency' attr.type='string'/>"
           "<key id='n' for='node' attr.name='name' attr.type='string'/>"
           "<key id='k' for='node' attr.name='kind' attr.type='string'><default>host</default></key>"
           "<key id='y' for='node' yfiles.type='nodegraphics'/><graph edgedefault='" +
           direction + "'>" + body + "</graph></graphml>";
}

std::string repeated(const std::string& text, std::size_t times) {
    std::string result;
    for (std::size_t time = 0; time < times; ++time) result += text;
    return result;
}

}  // namespace

TEST_CASE("a written graph is read back as it was", "[topology][formats][memory]") {
    std::vector<Topology> topologies{awkward(), ring(2, {}), ring(3, wire_25g), ring(7, {1e9 / 3, 1.1e-6})};
    for (const Topology& topology : topologies)
        for (const auto& [file_name, text] :
             {std::pair{"x.dot", to_dot(topology)}, std::pair{"x.gv", to_dot(topology)},
              std::pair{"x.graphml", to_graphml(topology)}, std::pair{"x.xml", to_graphml(topology)}}) {
            INFO(file_name << ":\n" << text);
            TopologySpec spec = parse_graph(file_name, text);
            CHECK(spec.shape == Shape::graph);
            CHECK(spec.hosts == topology.hosts);
            std::sort(spec.switches.begin(), spec.switches.end());
            CHECK(spec.switches == switches_of(topology));
            CHECK(edges(spec) == edges(topology));
        }
}

TEST_CASE("graphs with odd names are read back as they were, or are not written", "[topology][formats]") {
    const std::vector<std::string> pieces{"a",
                                          "B",
                                          "0",
                                          " ",
                                          "\"",
                                          "\\",
                                          "<",
                                          ">",
                                          "&",
                                          "'",
                                          "]]>",
                                          ";",
                                          "--",
                                          "->",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          "#",
                                          "//",
                                          "/*",
                                          "=",
                                          ":",
                                          "&#65;",
                                          "é",
                                          "中",
                                          "🙂",
                                          "+",
                                          "\xe2\x80\x8e",
                                          "\xe2\x80\xae",
                                          "%0A",
                                          "\xc2\xa0",
                                          "\u2028"};
    std::mt19937 random(1);
    std::size_t refused = 0;
    for (int round = 0; round < 2000; ++round) {
        std::set<std::string> names;
        while (names.size() < 3) {
            std::string name;
            for (auto length = 1 + random() % 5; length > 0; --length) name += pieces[random() % pieces.size()];
            if (name.front() != ' ' && name.back() != ' ') names.insert(name);
        }
        Topology topology;
        std::vector<std::uint32_t> vertices;
        for (const std::string& name : names)
            vertices.push_back(vertices.size() < 2 ? topology.add_host(name) : topology.add_switch(name, 1));
        topology.add_cable(vertices[0], vertices[2], wire_25g);
        topology.add_cable(vertices[1], vertices[2], {});
        const auto check = [&](const std::string& file_name, const std::string& text) {
            INFO(text);
            TopologySpec spec = parse_graph(file_name, text);
            CHECK(spec.switches == switches_of(topology));
            CHECK(edges(spec) == edges(topology));
        };
        check("x.graphml", to_graphml(topology));
        try {
            check("x.dot", to_dot(topology));
        } catch (const TopologyError&) {  // of to_dot: DOT has no form for it
            ++refused;
            const auto has_backslash = [](const std::string& name) { return name.find('\\') != std::string::npos; };
            CHECK(std::any_of(names.begin(), names.end(), has_backslash));
        }
    }
    CHECK(refused > 0);
    CHECK(refused < 1000);
}

TEST_CASE("names that some format cannot hold are refused", "[topology][formats][memory]") {
    const auto node = [](const std::string& id) {
        return error("x.graphml",
                     graphml("<node id=\"" + id + "\"/><node id='b'/><edge source=\"" + id + "\" target='b'/>"));
    };
    CHECK(node("a&#x200f;b") == "");
    CHECK(holds(node("a&#x9f;b"), "contains a control character"));
    CHECK(holds(node("a&#9;b"), "contains a control character"));
    CHECK(holds(node(" a"), "begins or ends with a space"));
    CHECK(holds(node(std::string(1001, 'a')), "is longer than 1000 bytes"));
    CHECK(holds(error("x.dot", "graph { a -- \"b\xef\xbf\xbf\" }"), "XML cannot hold"));
}

TEST_CASE("wires are written in readable units", "[topology][formats][memory]") {
    const std::string text = to_dot(ring(2, wire_25g));
    CHECK(holds(text, "\"host-0\" -- \"host-1\" [bandwidth=\"25 Gbps\", latency=\"1 us\"];"));
    CHECK(holds(to_graphml(ring(2, wire_25g)), "<data key=\"bandwidth\">25 Gbps</data>"));
    CHECK(!holds(to_dot(ring(2, {})), "bandwidth"));
}

TEST_CASE("parallel cables are written as several edges, one-way cables as arrows", "[topology][formats][memory]") {
    Topology twice = ring(2, wire_25g);
    twice.add_cable(0, 1, wire_25g);
    const std::string text = to_dot(twice);
    CHECK(text.find("--") != text.rfind("--"));

    Topology one_way;
    one_way.add_host("a");
    one_way.add_host("b");
    one_way.add_one_way(0, 1, {});
    CHECK(holds(to_dot(one_way), "digraph"));
    CHECK(holds(to_dot(one_way), "\"a\" -> \"b\";"));
    CHECK(holds(to_graphml(one_way), "edgedefault=\"directed\""));
}

TEST_CASE("DOT is read as people write it", "[topology][formats][memory]") {
    const TopologySpec spec = parse_graph("x.dot", R"(
        // two leaves
        strict graph "fabric" {
            label = "a -- b"; rankdir=LR; node [fontsize=9, kind=switch]; edge [bandwidth="100 Gbps"];
            leaf0 [color=red]; leaf1;
            node [kind=host]
            {rank=same; leaf0; leaf1}
            leaf0 -- {a b}   /* two edges */
            subgraph cluster_x { c; d [label=<<b>"d</b>>] } -- leaf1:port:n
            leaf0 -- leaf1 [bandwidth="400 Gbps", latency="2 us", weight=7]
        })");
    CHECK(spec.switches == std::vector<std::string>{"leaf0", "leaf1"});
    CHECK(spec.hosts == 4);
    CHECK(edges(spec) == std::vector<Edge>{{"a", "leaf0", 12.5e9, 0},
                                           {"b", "leaf0", 12.5e9, 0},
                                           {"c", "leaf1", 12.5e9, 0},
                                           {"d", "leaf1", 12.5e9, 0},
                                           {"leaf0", "leaf1", 50e9, 2e-6}});
}

TEST_CASE("DOT: edges within a subgraph at the end of an edge have lines of their own", "[topology][formats][memory]") {
    CHECK(edges(parse_graph("x.dot", "graph {\n  { a -- b } -- c;\n}\n")) ==
          std::vector<Edge>{{"a", "b", 0, 0}, {"a", "c", 0, 0}, {"b", "c", 0, 0}});
    CHECK(holds(error("x.dot", "graph {\n{ a -- b\n; c -- a\n; a -- c } -- d\n}"), "line 4: "));
}

TEST_CASE("GraphML is read as other tools write it: ids or names, keys without a type, nested graphs",
          "[topology][formats][memory]") {
    const TopologySpec spec = parse_graph(
        "x.graphml",
        graphml("<node id='n0'><data key='n'>first</data><data key='y'><x/></data></node><node id='second'/>"
                "<node id='group'><data key='k'>switch</data><graph edgedefault='undirected'>"
                "<node id='n3'/><edge source='n3' target='group'/></graph></node>"
                "<edge id='e' source='n0' target='group'><data key='b'>25 Gbps</data></edge>"
                "<edge source='group' target='second'><data key='l'>1 us</data></edge>"));
    CHECK(spec.switches == std::vector<std::string>{"group"});
    CHECK(edges(spec) ==
          std::vector<Edge>{{"first", "group", 3.125e9, 0}, {"group", "n3", 0, 0}, {"group", "second", 0, 1e-6}});
}

TEST_CASE("opposite edges are one cable", "[topology][formats][memory]") {
    CHECK(parse_graph("x.dot", "digraph { a -> b; b -> a; b -> c -> b }").edges.size() == 2);
    const std::string nodes = "<node id='a'/><node id='b'/>", there = "<edge source='a' target='b'/>",
                      back = "<edge source='b' target='a'/>";
    CHECK(parse_graph("x.xml", graphml(nodes + there + back, "directed")).edges.size() == 1);
    CHECK(holds(error("x.xml", graphml(nodes + there + back)), "b -- a is listed twice"));
    CHECK(holds(error("x.xml", graphml(nodes + there + back)), "line "));
    CHECK(holds(error("x.xml", graphml(nodes + back, "directed")), "b -> a has no opposite"));
    CHECK(holds(error("x.dot", "digraph { a -> b -> c -> a }"), "a -> b has no opposite"));
    CHECK(holds(error("x.dot", "digraph { a -> b; b -> a [bandwidth=\"1 Gbps\"] }"), "different bandwidths"));
    CHECK(holds(error("x.dot", "digraph { a -> b; b -> a; a -> b }"), "a -> b is listed twice"));
    CHECK(holds(error("x.dot", "digraph { a -> b; a -> b }"), "a -> b is listed twice"));
}

TEST_CASE("GraphML: speeds of links as in the Internet Topology Zoo, and parallel cables",
          "[topology][formats][memory]") {
    const auto zoo = [](const std::string& edges) {
        return "<graphml><key id='r' for='edge' attr.name='LinkSpeedRaw' attr.type='double'/>"
               "<key id='s' for='edge' attr.name='LinkSpeed' attr.type='string'/>"
               "<key id='u' for='edge' attr.name='LinkSpeedUnits' attr.type='string'/>"
               "<key id='b' for='edge' attr.name='bandwidth' attr.type='string'/>"
               "<graph edgedefault='undirected'><node id='a'/><node id='b'/><node id='c'/>\n" +
               edges + "</graph></graphml>";
    };
    // 10 Gb/s = 1.25 GB/s; 155 Mb/s = 19.375 MB/s; 64 kb/s = 8 kB/s
    const std::string raw =
                          "<edge source='a' target='b'><data key='r'>10000000000.0</data><data key='s'>9</data></edge>",
                      megabits = "<edge source='b' target='c'><data key='u'>M</data><data key='s'>155</data></edge>",
                      kilobits = "<edge source='b' target='c'><data key='u'>K</data><data key='s'>64</data></edge>",
                      own = "<edge source='a' target='c'><data key='b'>8 Gbps</data><data key='r'>1.0</data></edge>";
    const TopologySpec spec = parse_graph("x.graphml", zoo(raw + megabits + kilobits + own));
    CHECK(edges(spec) ==
          std::vector<Edge>{{"a", "b", 1.25e9, 0}, {"a", "c", 1e9, 0}, {"b", "c", 8e3, 0}, {"b", "c", 19.375e6, 0}});
    // A fabric has both cables, and routes may take either; an overlay has no use for a second one.
    CHECK(make_topology(spec, Use::fabric).cables == 4);
    CHECK_THROWS_WITH(make_topology(spec, Use::overlay), Catch::Contains("connected twice"));
    CHECK(holds(error("x.graphml", zoo(raw + "\n<edge source='b' target='a'/>")),
                "line 3: the edge b -- a is listed twice"));
    CHECK(holds(error("x.graphml", zoo(raw + "\n<edge source='b' target='c'><data key='r'>-1</data></edge>")),
                "line 3: "));
}

TEST_CASE("GraphML: latencies from coordinates, and what is noted", "[topology][formats]") {
    const auto zoo = [](const std::string& content) {
        return "<graphml><key id='x' for='node' attr.name='Longitude'/><key id='y' for='node' attr.name='Latitude'/>"
               "<key id='h' for='node' attr.name='hyperedge'/><key id='w' for='edge' attr.name='LinkLabel'/>"
               "<key id='t' for='edge' attr.name='latency'/><graph edgedefault='undirected'>\n" +
               content + "</graph></graphml>";
    };
    const std::string places =
        "<node id='a'><data key='x'>10</data><data key='y'>0</data></node>"
        "<node id='b'><data key='x'>100</data><data key='y'>0.0</data></node>"
        "<node id='c'><data key='x'>100</data><data key='y'>0</data></node>"
        "<node id='d'><data key='x'>100</data></node>"
        "<node id='e'><data key='x'>7</data><data key='y'>91</data><data key='h'>1</data></node>\n";
    const TopologySpec spec = parse_graph(
        "x.graphml",
        zoo(places + "<edge source='a' target='b'/>\n<edge source='b' target='c'/>"
                     "<edge source='c' target='d'><data key='w'>155 Mbps</data></edge>\n"
                     "<edge source='d' target='e'/><edge source='a' target='c'><data key='t'>1 ms</data></edge>"));
    // A quarter of the equator: pi/2 · 6,371,009 m at 2/3 of 299,792,458 m/s.
    CHECK(spec.edges[0].wire.latency_s == Approx(0.0500724).epsilon(1e-6));
    CHECK((spec.edges[1].wire.latency_s == 0 && spec.edges[1].instant));
    CHECK((spec.edges[2].wire.latency_s == 0 && !spec.edges[2].instant));
    CHECK(spec.edges[4].wire.latency_s == 1e-3);
    std::vector<std::string> notes;
    for (const GraphNote& note : spec.notes) notes.push_back(std::to_string(note.line) + ": " + note.text);
    CHECK(notes == std::vector<std::string>{
                       "4: LinkLabel of the edge c -- d is not read: '155 Mbps'",
                       "2: 1 nodes are marked as hyperedges; they are vertices here",
                       "3: the latencies of 2 edges are from coordinates, at two thirds of light's speed",
                       "4: 2 edges have no coordinates at both ends: their latency is that of the topology"});
    CHECK(parse_graph("x.graphml", zoo("<node id='a'/><node id='b'/><edge source='a' target='b'/>")).notes.empty());
}

TEST_CASE("a graph that is not a topology is rejected with the reason", "[topology][formats][memory]") {
    CHECK(holds(error("x.yaml", "graph { a -- b }"), "the format cannot be told"));
    CHECK(holds(error("x", "graph { a -- b }"), "the format cannot be told"));
    CHECK(holds(error("x.dot", "graph { a -- b; b -- a }"), "b -- a is listed twice"));
    CHECK(holds(error("x.dot", "graph { a -- a }"), "a -- a is a loop"));
    CHECK(holds(error("x.dot", "graph { }"), "no edge"));
    CHECK(holds(error("x.dot", "graph { a -- b; c }"), "'c' has no edge"));
    CHECK(holds(error("x.dot", "graph { a -- \"\" }"), "the name '' is empty"));
    CHECK(holds(error("x.dot", "graph { a -- \"b\nc\" }"), "contains a control character"));
    CHECK(holds(error("x.dot", "graph { a [kind=router]; a -- b }"), "kind of 'a': unknown kind 'router'"));
    for (const char* bandwidth : {"25", "0 Gbps", "-1 Gbps", "fast", "25 parsec", "nan", "1e999 Gbps"}) {
        INFO(bandwidth);
        CHECK(holds(error("x.dot", std::string("graph { a -- b [bandwidth=\"") + bandwidth + "\"] }"), "a -- b"));
        CHECK(holds(error("x.xml", graphml(std::string("<node id='a'/><node id='b'/><edge source='a' target='b'>"
                                                       "<data key='b'>") +
                                           bandwidth + "</data></edge>")),
                    "a -- b"));
    }
    CHECK(holds(error("x.dot", "graph { a -- b [latency=\"-1 us\"] }"), "latency of the edge a -- b"));
    CHECK(error("x.dot", "graph { a -- b [latency=\"0 s\"] }") == "");
    CHECK(holds(error("x.xml", graphml("<node id='a'/><edge source='a' target='b'/>")), "unknown node 'b'"));
    CHECK(holds(error("x.xml", graphml("<node id='a'/><node id='a'/>")), "two nodes have the id 'a'"));
    CHECK(holds(error("x.xml", graphml("<node id='a'/><node id='b'><data key='n'>a</data></node>")),
                "two vertices are named 'a'"));
    CHECK(holds(error("x.xml", graphml("<node id='a'/><hyperedge/>")), "hyperedge"));
    CHECK(holds(error("x.xml", "<svg/>"), "no <graphml>"));
    // Elements out of place mean nothing.
    for (const char* body :
         {"<node id='a'><data key='k'>x</data></node>", "<foo><graph><edge source='a' target='b'/></graph></foo>",
          "<key id='k' attr.name='latency'/><edge><data key='k'>0123456789012345678901234567890123456789</data></edge>",
          "<data key='k'/><default>x</default><graph><data key='k'>x</data><edge source='a' target='b'><graph>"
          "<node id='a'/></graph></edge></graph>"}) {
        CAPTURE(body);
        CHECK(error("x.xml", "<graphml>" + std::string(body) + "</graphml>") != "");
    }
    CHECK(error("x.xml",
                "<g:graphml xmlns:g='x'><g:key id='d' for='edge' attr.name='name'><default>x</default></g:key>"
                "<g:graph><g:node id='a'/><g:node id='b'/><g:edge source='a' target='b'/></g:graph>"
                "</g:graphml>") == "");
    CHECK(holds(error("x.xml", "<graphml/>"), "no <graph>"));
    CHECK(holds(error("x.xml", "<graphml>\n<graph>\n<node id=a/>\n"), "line 3"));
}

TEST_CASE("junk is an error and does no harm", "[topology][formats]") {
    const std::string binary = [] {
        std::string bytes;
        for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
        return bytes;
    }();
    const std::string dot = to_dot(awkward()), xml = to_graphml(awkward());
    for (const char* file_name : {"x.dot", "x.graphml"}) {
        for (const std::string& junk : {std::string(),
                                        std::string(" \n"),
                                        std::string("\xef\xbb\xbf"),
                                        binary,
                                        std::string(1, '\0'),
                                        std::string("garbage"),
                                        std::string("\""),
                                        std::string("<"),
                                        std::string("{"),
                                        repeated("{", 100'000),
                                        repeated("graph {", 100'000),
                                        "graph " + repeated("{a ", 100'000),
                                        repeated("<a>", 100'000),
                                        repeated("<a x='/>'>", 100'000),
                                        repeated("</a>", 1000),
                                        repeated("[", 100'000),
                                        repeated("<", 100'000),
                                        "graph { a [label=" + repeated("<", 100'000),
                                        "graph { " + repeated("a -- ", 100'000),
                                        "graph { \"" + repeated("x", 200'000),
                                        "graph { a /*" + repeated("*", 200'000),
                                        repeated(" ", 200'000),
                                        repeated("//\n", 100'000)}) {
            INFO(file_name << ": " << junk.substr(0, 20));
            CHECK(error(file_name, junk) != "");
        }
        // A file that is truncated anywhere is rejected. Only a newline follows the last bracket.
        const std::string& whole = std::string(file_name) == "x.dot" ? dot : xml;
        for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
            INFO(file_name << " cut after " << length);
            CHECK(error(file_name, whole.substr(0, length)) != "");
        }
    }
}

TEST_CASE("a file of very many edges is refused before it is parsed", "[topology][formats]") {
    std::string dot = "graph {\n", xml;
    for (int edge = 0; edge < 600'000; ++edge) {
        const std::string from = std::to_string(edge), to = std::to_string(edge + 1);
        dot += "host-" + from + " -- host-" + to + ";\n";
        xml += "<edge source='n" + from + "' target='n" + to + "'/>";
    }
    CHECK(holds(error("x.dot", dot + "}"), "more than 500000 edges"));
    CHECK(holds(error("x.graphml", graphml(xml)), "more than 500000 edges"));
    CHECK(holds(error("x.dot", std::string(std::size_t{65} << 20, ' ')), "64 MiB"));
    // A short text may describe many edges.
    std::string side = "{";
    for (int name = 0; name < 30'000; ++name) side += " a" + std::to_string(name);
    CHECK(holds(error("x.dot", "graph { " + side + "} -- " + side + "} }"), "more than 500000 edges"));
    CHECK(holds(error("x.dot", "graph { subgraph s " + side + "} a -- subgraph s -- subgraph s }"),
                "more than 500000 edges"));
}

namespace {

/// Counts the elements of each class in a picture, and checks that it is XML.
std::map<std::string, std::size_t> classes(const std::string& svg) {
    boost::property_tree::ptree tree;
    std::istringstream stream(svg);
    boost::property_tree::read_xml(stream, tree);
    std::map<std::string, std::size_t> result;
    std::vector<const boost::property_tree::ptree*> open{&tree.get_child("svg")};
    while (!open.empty()) {
        const boost::property_tree::ptree& element = *open.back();
        open.pop_back();
        for (const auto& [tag, child] : element) open.push_back(&child);
        if (const auto name = element.get_optional<std::string>("<xmlattr>.class")) ++result[*name];
    }
    return result;
}

/// The legend shows each kind of vertex once more.
void check_picture(const TopologySpec& spec, const Topology& topology) {
    INFO(shape_name(spec.shape) << " of " << topology.hosts);
    const std::string svg = to_svg(spec, topology);
    std::map<std::string, std::size_t> count = classes(svg);
    const std::size_t switches = topology.vertices() - topology.hosts;
    CHECK(count["host"] == topology.hosts + 1);
    CHECK(count["switch"] == (switches == 0 ? 0 : switches + 1));
    CHECK(count["cable"] == topology.cables);
    CHECK(svg == to_svg(spec, topology));
    CHECK(!holds(svg, "nan"));
    CHECK(!holds(svg, "inf"));
    CHECK(!holds(svg, "<script"));
}

}  // namespace

TEST_CASE("a picture shows every vertex and every cable once", "[topology][formats][memory]") {
    for (const Shape shape : {Shape::star, Shape::ring, Shape::tree, Shape::exponential, Shape::torus, Shape::full_mesh,
                              Shape::fat_tree, Shape::dragonfly})
        for (const Use use : {Use::fabric, Use::overlay})
            for (const int hosts : {1, 2, 3, 7, 16, 65}) {
                if (use == Use::overlay && (shape == Shape::fat_tree || shape == Shape::dragonfly)) continue;
                TopologySpec spec;
                spec.shape = shape;
                spec.bandwidth_Bps = {3.125e9};
                check_picture(spec, make_topology(spec, use, hosts));
            }
    TopologySpec spec;
    spec.shape = Shape::hypercube;
    check_picture(spec, make_topology(spec, Use::overlay, 32));
    spec.bandwidth_Bps = {3e9, 6e9};
    spec.shape = Shape::rails;
    spec.rails = 4;
    spec.nodes_per_group = 3;
    check_picture(spec, make_topology(spec, Use::fabric, 50));
    spec.shape = Shape::hierarchical;
    for (const Shape inner : {Shape::star, Shape::ring})
        for (const Shape outer : {Shape::star, Shape::full_mesh})
            for (const Use use : {Use::fabric, Use::overlay})
                for (const int hosts : {1, 5, 22}) {
                    spec.levels = {{inner, 3}, {outer, 0}};
                    check_picture(spec, make_topology(spec, use, hosts));
                }
    spec = {};
    spec.shape = Shape::torus;
    spec.dimensions = {3, 2, 4};
    check_picture(spec, make_topology(spec, Use::fabric));
    spec.dimensions = {5};
    check_picture(spec, make_topology(spec, Use::fabric));
    spec.shape = Shape::exponential;
    spec.directed = true;
    check_picture(spec, make_topology(spec, Use::overlay, 9));
}

TEST_CASE("a picture of a user's graph escapes names", "[topology][formats][memory]") {
    TopologySpec spec;
    spec.shape = Shape::graph;
    check_picture(spec, awkward());
    for (const std::uint32_t hosts : {2U, 3U, 50U}) check_picture(spec, ring(hosts, {}));
}

TEST_CASE("written shapes are read with the same cables", "[topology][formats][memory]") {
    for (const Shape shape : {Shape::tree, Shape::torus, Shape::fat_tree, Shape::dragonfly}) {
        TopologySpec spec;
        spec.shape = shape;
        spec.bandwidth_Bps = {3.125e9};
        spec.latency_s = {1e-6};
        const Topology topology = make_topology(spec, Use::fabric, 30);
        CHECK(edges(parse_graph("x.dot", to_dot(topology))) == edges(topology));
        CHECK(edges(parse_graph("x.xml", to_graphml(topology))) == edges(topology));
    }
}
