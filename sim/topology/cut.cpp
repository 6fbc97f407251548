#include "sim/topology/cut.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <limits>

namespace syncline {

namespace {

using boost::property;
// directedS would do, but g++ warns that its edge iterators may be uninitialized.
using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::bidirectionalS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::bidirectionalS,
    property<boost::vertex_color_t, boost::default_color_type,
             property<boost::vertex_distance_t, long, property<boost::vertex_predecessor_t, Traits::edge_descriptor>>>,
    property<
        boost::edge_capacity_t, double,
        property<boost::edge_residual_capacity_t, double, property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

void add_link(FlowGraph& graph, std::size_t from, std::size_t to, double there, double back) {
    const auto forward = boost::add_edge(from, to, graph).first, backward = boost::add_edge(to, from, graph).first;
    boost::put(boost::edge_capacity, graph, forward, there);
    boost::put(boost::edge_capacity, graph, backward, back);
    boost::put(boost::edge_reverse, graph, forward, backward);
    boost::put(boost::edge_reverse, graph, backward, forward);
}

/// Returns the cut from the hosts whose side is `from` to the others, with the best sides for the switches.
double directed_cut(const Network& network, Sides& sides, bool from) {
    const std::uint32_t hosts = network.hosts(), switches = network.vertices() - hosts;
    double direct = 0;
    std::vector<double> supplied(switches, 0), drained(switches, 0);
    for (std::uint32_t host = 0; host < hosts; ++host) {
        for (const Link& link : network.links(host)) {
            if (link.to >= hosts)
                (sides[host] == from ? supplied : drained)[link.to - hosts] += sides[host] == from ? link.out : link.in;
            else if (sides[host] == from && sides[link.to] != from)
                direct += link.out;
        }
    }
    if (switches == 0) return direct;

    FlowGraph graph(switches + std::size_t{2});
    const std::size_t source = switches, sink = switches + std::size_t{1};
    for (std::uint32_t one = 0; one < switches; ++one) {
        if (supplied[one] > 0) add_link(graph, source, one, supplied[one], 0);
        if (drained[one] > 0) add_link(graph, one, sink, drained[one], 0);
        for (const Link& link : network.links(hosts + one))
            if (link.to > hosts + one) add_link(graph, one, link.to - hosts, link.out, link.in);
    }
    const double flow = boost::boykov_kolmogorov_max_flow(graph, source, sink);
    for (std::uint32_t one = 0; one < switches; ++one) {
        const bool supplier = boost::get(boost::vertex_color, graph, one) == boost::black_color;
        sides[hosts + one] = supplier == from;
    }
    return direct + flow;
}

}  // namespace

double least_cut(const Network& network, Sides& sides) {
    Sides back = sides;
    const double there = directed_cut(network, sides, true);
    if (!network.one_way()) return there;
    const double other = directed_cut(network, back, false);
    if (other < there) sides = std::move(back);
    return std::min(there, other);
}

double least_of_all_halves(const Network& network) {
    const std::uint32_t hosts = network.hosts();
    double least = std::numeric_limits<double>::infinity();
    // Permutations of a sorted sequence are enumerated in order. Host 0 stays in the second half: of two halves of
    // equal size that swap roles, one is enough.
    Sides half(hosts, false);
    std::fill(half.end() - hosts / 2, half.end(), true);
    do {
        if (hosts % 2 == 0 && half[0]) break;
        Sides sides = half;
        sides.resize(network.vertices());
        least = std::min(least, least_cut(network, sides));
    } while (std::next_permutation(half.begin(), half.end()));
    return least;
}

}  // namespace syncline
