#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/topology/formats.hpp"
#include "tests/catch.hpp"

using namespace syncline;

namespace {

using Element = boost::property_tree::ptree;

/// Returns all elements of a picture with their tags, in the order of the file.
std::vector<std::pair<std::string, Element>> elements(const std::string& svg) {
    Element tree;
    std::istringstream stream(svg);
    boost::property_tree::read_xml(stream, tree);
    std::vector<std::pair<std::string, Element>> all;
    const auto add = [&](const Element& parent, const auto& self) -> void {
        for (const auto& [tag, child] : parent) {
            all.emplace_back(tag, child);
            self(child, self);
        }
    };
    add(tree, add);
    return all;
}

template <class T>
T attribute(const Element& element, const std::string& name, T otherwise = {}) {
    return element.get<T>("<xmlattr>." + name, otherwise);
}

using Corners = std::array<std::array<double, 2>, 4>;

/// Estimates the box of a text with letters that are 0.55 of the font wide and 0.7 of it high, as those of Helvetica.
Corners box_of(const Element& text) {
    double x = attribute<double>(text, "x"), y = attribute<double>(text, "y"), angle = 0;
    if (const std::string move = attribute<std::string>(text, "transform"); !move.empty())
        REQUIRE(std::sscanf(move.c_str(), "translate(%lf %lf) rotate(%lf)", &x, &y, &angle) == 3);
    const auto font = attribute<double>(text, "font-size");
    std::size_t letters = 0;
    for (const char letter : text.data()) letters += (letter & 0xc0) != 0x80;
    const double width = 0.55 * font * static_cast<double>(letters), turn = angle * std::numbers::pi / 180;
    const auto anchor = attribute<std::string>(text, "text-anchor", "start");
    const double left = anchor == "start" ? 0 : anchor == "end" ? -width : -width / 2;
    const double bottom = std::stod(attribute<std::string>(text, "dy", "0em")) * font, top = bottom - 0.7 * font;
    const auto corner = [&](double across, double down) -> std::array<double, 2> {
        return {x + across * std::cos(turn) - down * std::sin(turn),
                y + across * std::sin(turn) + down * std::cos(turn)};
    };
    return {corner(left, top), corner(left + width, top), corner(left + width, bottom), corner(left, bottom)};
}

/// Boxes overlap unless a side of one of them separates them.
bool overlap(const Corners& a, const Corners& b) {
    for (const Corners* box : {&a, &b})
        for (std::size_t side = 0; side < 2; ++side) {
            const double dx = (*box)[side + 1][0] - (*box)[side][0], dy = (*box)[side + 1][1] - (*box)[side][1];
            double low[2], high[2];
            for (std::size_t i = 0; i < 2; ++i) {
                low[i] = std::numeric_limits<double>::infinity();
                high[i] = -low[i];
                for (const auto& [x, y] : i == 0 ? a : b) {
                    low[i] = std::min(low[i], x * dx + y * dy);
                    high[i] = std::max(high[i], x * dx + y * dy);
                }
            }
            if (high[0] <= low[1] || high[1] <= low[0]) return false;
        }
    return true;
}

std::vector<std::string> overlapping_labels(const std::string& svg) {
    std::vector<std::pair<std::string, Corners>> boxes;
    for (const auto& [tag, element] : elements(svg))
        if (tag == "text") boxes.emplace_back(element.data(), box_of(element));
    std::vector<std::string> found;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (overlap(boxes[i].second, boxes[j].second)) found.push_back(boxes[i].first + " and " + boxes[j].first);
    return found;
}

struct Case {
    TopologySpec spec;
    Use use = Use::fabric;
};

TopologySpec of_shape(Shape shape) {
    TopologySpec spec;
    spec.shape = shape;
    return spec;
}

/// Returns leaves of 10 hosts whose switches form a random tree with further cables, or, without switches, only hosts.
TopologySpec own_graph(int hosts, bool with_switches) {
    TopologySpec spec = of_shape(Shape::graph);
    std::uint32_t random = 7;
    const auto below = [&random](int bound) {
        random = random * 1664525 + 1013904223;
        return static_cast<int>((random >> 8) % static_cast<std::uint32_t>(bound));
    };
    const std::string inner = with_switches ? "s" : "node ";
    const int vertices = with_switches ? std::max(2, hosts / 10) : hosts;
    std::set<std::pair<int, int>> pairs;
    for (int i = 1; i < vertices; ++i) pairs.emplace(below(i), i);
    for (int i = 1; i < vertices; ++i)
        if (const int other = below(vertices); other < i) pairs.emplace(other, i);
    for (int i = 0; with_switches && i < hosts; ++i)
        spec.edges.push_back({"node " + std::to_string(i), "s" + std::to_string(i * vertices / hosts), {}});
    for (int i = 0; with_switches && i < vertices; ++i) spec.switches.push_back("s" + std::to_string(i));
    for (const auto& [a, b] : pairs) spec.edges.push_back({inner + std::to_string(a), inner + std::to_string(b), {}});
    return spec;
}

std::vector<Case> cases(int hosts) {
    std::vector<Case> all;
    for (const Shape shape :
         {Shape::star, Shape::ring, Shape::tree, Shape::exponential, Shape::torus, Shape::fat_tree, Shape::dragonfly}) {
        all.push_back({of_shape(shape)});
        if (shape != Shape::fat_tree && shape != Shape::dragonfly) all.push_back({of_shape(shape), Use::overlay});
    }
    if (hosts <= 700) all.push_back({of_shape(Shape::full_mesh)});
    if ((hosts & (hosts - 1)) == 0) all.push_back({of_shape(Shape::hypercube)});
    all.push_back({of_shape(Shape::tree)});
    all.back().spec.arity = 32;
    all.push_back({of_shape(Shape::exponential), Use::overlay});
    all.back().spec.directed = true;
    all.push_back({of_shape(Shape::rails)});
    all.back().spec.rails = 4;
    all.back().spec.nodes_per_group = 16;
    all.back().spec.spines = 4;
    all.push_back({of_shape(Shape::hierarchical)});
    all.back().spec.levels = {{Shape::full_mesh, 8}, {Shape::star, 4}, {Shape::ring, 0}};
    all.push_back({own_graph(hosts, true)});
    all.push_back({own_graph(hosts, false)});
    return all;
}

}  // namespace

TEST_CASE("labels of a picture do not overlap", "[topology][picture]") {
    for (const int hosts : {1, 2, 3, 16, 72, 128, 200, 1024})
        for (const auto& [spec, use] : cases(hosts)) {
            if (spec.shape == Shape::graph && hosts < 2) continue;
            const Topology topology = make_topology(spec, use, spec.shape == Shape::graph ? 0 : hosts);
            const std::string svg = to_svg(spec, topology, CableStyle::by_kind, Detail::aggregated);
            CAPTURE(shape_name(spec.shape), use == Use::fabric, topology.hosts);
            CHECK(overlapping_labels(svg) == std::vector<std::string>{});
        }
}

TEST_CASE("a picture without blocks labels all hosts up to 72", "[topology][picture]") {
    for (const int hosts : {8, 16, 72})
        for (const auto& [spec, use] : cases(hosts)) {
            if (spec.shape == Shape::graph) continue;  // springs put vertices anywhere
            const Topology topology = make_topology(spec, use, hosts);
            if (topology.hosts > 72) continue;
            std::set<std::string> numbers;
            for (const auto& [tag, element] : elements(to_svg(spec, topology)))
                if (tag == "text") {
                    const std::string& text = element.data();
                    numbers.insert(text.substr(text.starts_with("host-") || text.starts_with("rank-") ? 5 : 0));
                }
            CAPTURE(shape_name(spec.shape), use == Use::fabric, topology.hosts);
            for (std::uint32_t host = 0; host < topology.hosts; ++host) CHECK(numbers.contains(std::to_string(host)));
        }
}

TEST_CASE("blocks of a large topology are few and stand for all of it", "[topology][picture]") {
    for (const int hosts : {129, 200, 1024, 10000})
        for (const auto& [spec, use] : cases(hosts)) {
            const Topology topology = make_topology(spec, use, spec.shape == Shape::graph ? 0 : hosts);
            CAPTURE(shape_name(spec.shape), use == Use::fabric, topology.hosts);
            std::size_t symbols = 0, of_hosts = 0, of_switches = 0, of_cables = 0, labels = 0;
            for (const auto& [tag, element] :
                 elements(to_svg(spec, topology, CableStyle::by_kind, Detail::aggregated))) {
                symbols += attribute<std::string>(element, "data-hosts") != "";
                of_hosts += attribute<std::size_t>(element, "data-hosts");
                of_switches += attribute<std::size_t>(element, "data-switches");
                of_cables += attribute<std::size_t>(element, "data-cables");
                labels += tag == "text";
            }
            CHECK(symbols >= 2);
            CHECK(symbols <= 72);
            CHECK(labels > 2);
            CHECK(of_hosts == topology.hosts);
            CHECK(of_switches == topology.vertices() - topology.hosts);
            CHECK(of_cables == topology.cables);
        }
}

TEST_CASE("blocks are racks, pods and groups", "[topology][picture][memory]") {
    const auto labels = [](const TopologySpec& spec, int hosts) {
        std::map<std::string, int> found;
        const Topology topology = make_topology(spec, Use::fabric, hosts);
        for (const auto& [tag, element] : elements(to_svg(spec, topology, CableStyle::by_kind, Detail::aggregated)))
            if (tag == "text") ++found[element.data()];
        return found;
    };
    // 16 pods of 8 leaves with 8 hosts each below 64 cores that are joined to every pod.
    const auto fat_tree = labels(of_shape(Shape::fat_tree), 1024);
    CHECK(fat_tree.at("8 racks of 8 hosts") == 16);
    CHECK(fat_tree.at("64 switches") == 1);
    // p = 4, a = 8, g = 33: the balanced dragonfly for 1024 hosts.
    CHECK(labels(of_shape(Shape::dragonfly), 1024).at("8 racks of 4 hosts") == 33);
    CHECK(labels(of_shape(Shape::star), 200).at("200 hosts") == 1);
    CHECK(labels(of_shape(Shape::torus), 200).at("10 hosts") == 20);  // rows of 10 × 20
    TopologySpec tree = of_shape(Shape::tree);
    tree.arity = 32;
    CHECK(labels(tree, 1024).at("32 hosts") == 32);
    TopologySpec cube = of_shape(Shape::torus);
    cube.dimensions = {8, 8, 8};
    CHECK(labels(cube, 512).at("8 hosts") == 64);
}

TEST_CASE("two hosts at the ends of many switches have few blocks and a short legend", "[topology][picture]") {
    TopologySpec spec = of_shape(Shape::graph);
    const auto name = [](int i) { return "s" + std::to_string(i); };
    constexpr int switches = 1000;
    spec.edges = {{"a", name(0), {}}, {name(switches - 1), "b", {}}};
    for (int i = 0; i < switches; ++i) spec.switches.push_back(name(i));
    for (int i = 1; i < switches; ++i) spec.edges.push_back({name(i - 1), name(i), {}});
    const Topology topology = make_topology(spec, Use::fabric);
    for (const Detail detail : {Detail::all, Detail::aggregated}) {
        std::size_t symbols = 0, of_switches = 0, legend = 0;
        for (const auto& [tag, element] : elements(to_svg(spec, topology, CableStyle::by_kind, detail))) {
            symbols += attribute<std::string>(element, "data-hosts") != "";
            of_switches += attribute<std::size_t>(element, "data-switches");
            legend += tag == "text" && element.data().starts_with("level ");
        }
        CHECK(legend >= 2);
        CHECK(legend <= 16);
        if (detail == Detail::all) continue;
        CHECK(symbols >= 2);
        CHECK(symbols <= 72);
        CHECK(of_switches == switches);
    }
}

TEST_CASE("cables between switches of one level pass above the others", "[topology][picture][memory]") {
    TopologySpec spec = of_shape(Shape::graph);
    spec.switches = {"s0", "s1", "s2"};
    spec.edges = {{"a", "s0", {}},  {"b", "s1", {}},  {"c", "s2", {}},
                  {"s0", "s1", {}}, {"s1", "s2", {}}, {"s0", "s2", {}}};
    std::set<std::pair<double, double>> places;
    std::vector<std::string> paths;
    for (const auto& [tag, element] : elements(to_svg(spec, make_topology(spec, Use::fabric)))) {
        if (tag == "path" && attribute<std::string>(element, "class") == "cable")
            paths.push_back(attribute<std::string>(element, "d"));
        if (attribute<std::string>(element, "class") == "host")
            places.emplace(attribute<double>(element, "cx"), attribute<double>(element, "cy"));
    }
    REQUIRE(paths.size() == 6);
    CHECK(paths[3].find('Q') == std::string::npos);
    CHECK(paths[4].find('Q') == std::string::npos);
    CHECK(paths[5].find('Q') != std::string::npos);
    CHECK(places.size() == 4);  // three hosts and the legend
}
