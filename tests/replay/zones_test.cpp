#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "sim/platform/wiring.hpp"
#include "sim/replay/isolated.hpp"
#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"

// The same networks as SimGrid's own zones make them, which share no line with ours: as many links on the way, the same
// latency and the same time for one message, between every two hosts.

using namespace syncline;
namespace sg = simgrid::s4u;

namespace {

constexpr double bandwidth = 2e9, latency = 3e-6;
constexpr std::uint64_t size = 100'000;
constexpr auto duplex = sg::Link::SharingPolicy::SPLITDUPLEX;

struct Way {
    std::size_t links = 0;
    double latency_s = 0, seconds = 0;
};

std::vector<std::pair<std::uint32_t, std::uint32_t>> all_pairs(std::uint32_t hosts) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t from = 0; from < hosts; ++from) {
        for (std::uint32_t to = 0; to < hosts; ++to)
            if (from != to) pairs.emplace_back(from, to);
    }
    return pairs;
}

/// Makes a zone, and a host for each number in it.
using MakeZone = std::function<sg::NetZone*(const sg::ClusterCallbacks& hosts)>;

std::vector<Way> ways_of_simgrid(std::uint32_t hosts, const MakeZone& make) {
    const std::string answer = isolate([&] {
        std::string program = "zones", quiet = "--log=root.thres:critical";
        std::vector<char*> arguments{program.data(), quiet.data(), nullptr};
        int count = 2;
        static sg::Engine* const engine = new sg::Engine(&count, arguments.data());
        // The model without TCP's parts, as ours is.
        for (const char* setting :
             {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "surf/precision:1e-12"})
            sg::Engine::set_config(setting);
        std::vector<sg::Host*> by_number(hosts);
        make(sg::ClusterCallbacks([&](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
            by_number.at(id) = zone->create_host(std::to_string(id), 1e9);
            by_number[id]->seal();
            return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(
                by_number[id]->get_netpoint(), nullptr);
        }))->seal();
        std::ostringstream out;
        out.precision(17);
        sg::Actor::create("one by one", by_number.front(), [&] {
            for (const auto& [from, to] : all_pairs(hosts)) {
                std::vector<sg::Link*> links;
                double sum_s = 0;
                by_number[from]->route_to(by_number[to], links, &sum_s);
                const double start = sg::Engine::get_clock();
                sg::Comm::sendto(by_number[from], by_number[to], size);
                out << links.size() << ' ' << sum_s << ' ' << sg::Engine::get_clock() - start << '\n';
            }
        });
        engine->run();
        return out.str();
    });
    std::istringstream in(answer);
    std::vector<Way> ways;
    for (Way way; in >> way.links >> way.latency_s >> way.seconds;) ways.push_back(way);
    return ways;
}

/// `host`: our number of SimGrid's host.
void check_same(
    TopologySpec fabric, std::uint32_t hosts, const MakeZone& make,
    const std::function<std::uint32_t(std::uint32_t)>& host = [](std::uint32_t number) { return number; }) {
    Cluster cluster;
    cluster.nodes = hosts;
    fabric.bandwidth_Bps = {bandwidth};
    fabric.latency_s = {latency};
    cluster.fabric.topology = std::move(fabric);
    const std::vector<Way> expected = ways_of_simgrid(hosts, make);
    const auto pairs = all_pairs(hosts);
    REQUIRE(expected.size() == pairs.size());

    Wiring wiring(cluster, hosts);
    std::vector<Sent> list;
    for (const auto& [from, to] : pairs) list.push_back({host(from), host(to), size});
    const std::vector<double> times = times_one_by_one(cluster, one_by_node(hosts), list);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        CAPTURE(pairs[i].first, pairs[i].second);
        std::vector<Wiring::Link> route;
        wiring.route({list[i].from, 0}, {list[i].to, 0}, route);
        CHECK(route.size() == expected[i].links);
        CHECK(wiring.latency_s(route) == Approx(expected[i].latency_s).epsilon(1e-12));
        CHECK(times[i] == Approx(expected[i].seconds).epsilon(1e-8));
    }
}

TopologySpec spec_of(Shape shape) {
    TopologySpec spec;
    spec.shape = shape;
    return spec;
}

}  // namespace

TEST_CASE("zones: SimGrid's star is ours") {
    check_same(spec_of(Shape::star), 9, [](const sg::ClusterCallbacks& hosts) {
        sg::NetZone* zone = sg::create_star_zone("star");
        for (unsigned long i = 0; i < 9; ++i) {
            const auto host = hosts.netpoint(zone, {i}, i).first;
            const sg::Link* link =
                zone->create_split_duplex_link(fmt::format("link-{}", i), bandwidth)->set_latency(latency)->seal();
            zone->add_route(host, nullptr, nullptr, nullptr, {{link, sg::LinkInRoute::Direction::UP}}, true);
        }
        return zone;
    });
}

TEST_CASE("zones: SimGrid's torus is ours") {
    // Its routes go dimension by dimension. Ours may take the dimensions in another order, and half way round the other
    // direction: as long in any case. With two in a dimension it has a cable there and one back, of which a single
    // message uses one.
    const auto dimensions = GENERATE(std::vector<std::int64_t>{7}, std::vector<std::int64_t>{4, 3},
                                     std::vector<std::int64_t>{2, 5}, std::vector<std::int64_t>{3, 2, 4});
    TopologySpec spec = spec_of(Shape::torus);
    spec.dimensions = dimensions;
    std::uint32_t hosts = 1;
    for (const std::int64_t length : dimensions) hosts *= static_cast<std::uint32_t>(length);
    check_same(spec, hosts, [&](const sg::ClusterCallbacks& callbacks) {
        return sg::create_torus_zone("torus", nullptr, {dimensions.begin(), dimensions.end()}, callbacks, bandwidth,
                                     latency, duplex);
    });
}

TEST_CASE("zones: SimGrid's fat tree is ours") {
    // The same PGFT notation. Which of the equal ways up is taken is D-mod-k's choice there, and ours here.
    struct Tree {
        std::vector<std::int64_t> down, up, cables;
    };
    const auto tree = GENERATE(Tree{{4, 4}, {1, 2}, {1, 2}}, Tree{{2, 3, 2}, {1, 2, 3}, {1, 1, 1}}, Tree{{5}, {1}, {1}},
                               Tree{{3, 2}, {2, 2}, {2, 1}});
    TopologySpec spec = spec_of(Shape::fat_tree);
    spec.down = tree.down;
    spec.up = tree.up;
    spec.cables = tree.cables;
    std::uint32_t hosts = 1;
    for (const std::int64_t children : tree.down) hosts *= static_cast<std::uint32_t>(children);
    check_same(spec, hosts, [&](const sg::ClusterCallbacks& callbacks) {
        const sg::FatTreeParams parameters(static_cast<unsigned>(tree.down.size()),
                                           {tree.down.begin(), tree.down.end()}, {tree.up.begin(), tree.up.end()},
                                           {tree.cables.begin(), tree.cables.end()});
        return sg::create_fatTree_zone("fat-tree", nullptr, parameters, callbacks, bandwidth, latency, duplex);
    });
}

TEST_CASE("zones: SimGrid's dragonfly is ours with the routers of a group numbered otherwise") {
    // SimGrid joins router j of group i with router i of group j; router i of group i has no global cable. Ours has no
    // gap: the router to group j is j, or j - 1 behind the own group's number, and the last one is over. With as many
    // groups as a group has routers the two are the same graph. Longer ways than local, global, local do not exist in
    // either, though equally long ones over two global cables do.
    const std::uint32_t routers = GENERATE(3u, 4u, 5u);
    const std::uint32_t nodes = GENERATE(1u, 2u);
    const std::uint32_t groups = routers;
    TopologySpec spec = spec_of(Shape::dragonfly);
    spec.groups = groups;
    spec.routers = routers;
    spec.hosts_per_router = nodes;
    spec.global_links = 1;
    const auto ours = [&](std::uint32_t host) {
        const std::uint32_t group = host / (routers * nodes), router = host / nodes % routers;
        const std::uint32_t renumbered = router < group ? router : router > group ? router - 1 : routers - 1;
        return (group * routers + renumbered) * nodes + host % nodes;
    };
    check_same(
        spec, groups * routers * nodes,
        [&](const sg::ClusterCallbacks& callbacks) {
            return sg::create_dragonfly_zone("dragonfly", nullptr, {{groups, 1}, {1, 1}, {routers, 1}, nodes},
                                             callbacks, bandwidth, latency, duplex);
        },
        ours);
}
