#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "sim/platform/wiring.hpp"
#include "sim/process/isolated.hpp"
#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"

// Compares our networks with the same networks built from SimGrid's own zones, which share no code with ours: the
// number of links on the path, the latency and the time of one message, between every two hosts; in fat trees also the
// switches, and the times of all messages of a shift together.

using namespace syncline;
namespace sg = simgrid::s4u;

namespace {

constexpr double bandwidth = 2e9, latency = 3e-6;
constexpr std::uint64_t size = 100'000;
constexpr auto duplex = sg::Link::SharingPolicy::SPLITDUPLEX;

struct Way {
    std::size_t links = 0;
    double latency_s = 0, seconds = 0;
    std::vector<std::uint32_t> switches;  ///< of a fat tree, numbered from its leaves up
};

/// SimGrid's FatTreeZone names a link by its ends, where the i-th switch has the number 2·hosts - 1 - i (observed with
/// version 3.32; hosts may have the same numbers). A path continues at the upper end of an up link and at the lower end
/// of a down link; the last of them ends at a host.
std::vector<std::uint32_t> switches_on(const std::vector<sg::Link*>& links, std::uint32_t hosts) {
    std::vector<std::uint32_t> switches;
    for (const sg::Link* link : links) {
        int child = 0, parent = 0, unique = 0;
        if (std::sscanf(link->get_cname(), "link_from_%d_%d_%d", &child, &parent, &unique) != 3) continue;
        if (link == links.back()) break;
        const int next = link->get_name().ends_with("_UP") ? parent : child;
        switches.push_back(static_cast<std::uint32_t>(2 * static_cast<int>(hosts) - 1 - next));
    }
    return switches;
}

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

/// SimGrid's engine in a separate process, with a zone.
class Engine {
public:
    Engine() {
        static std::string program = "zones", quiet = "--log=root.thres:critical";
        static std::vector<char*> arguments{program.data(), quiet.data(), nullptr};
        static int count = 2;
        engine_ = new sg::Engine(&count, arguments.data());  // lives as long as the process
        // The model without TCP's parts, like ours.
        for (const char* setting :
             {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "surf/precision:1e-12"})
            sg::Engine::set_config(setting);
    }
    /// Returns the hosts, by number.
    std::vector<sg::Host*> make(std::uint32_t hosts, const MakeZone& make_zone) const {
        std::vector<sg::Host*> by_number(hosts);
        make_zone(sg::ClusterCallbacks([&](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
            by_number.at(id) = zone->create_host(std::to_string(id), 1e9);
            by_number[id]->seal();
            return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(
                by_number[id]->get_netpoint(), nullptr);
        }))->seal();
        return by_number;
    }
    void run() const { engine_->run(); }

private:
    sg::Engine* engine_;
};

std::vector<Way> ways_of_simgrid(std::uint32_t hosts, const MakeZone& make) {
    const std::string answer = isolate([&] {
        const Engine engine;
        const std::vector<sg::Host*> by_number = engine.make(hosts, make);
        std::ostringstream out;
        out.precision(17);
        sg::Actor::create("one by one", by_number.front(), [&] {
            for (const auto& [from, to] : all_pairs(hosts)) {
                std::vector<sg::Link*> links;
                double sum_s = 0;
                by_number[from]->route_to(by_number[to], links, &sum_s);
                const double start = sg::Engine::get_clock();
                sg::Comm::sendto(by_number[from], by_number[to], size);
                out << links.size() << ' ' << sum_s << ' ' << sg::Engine::get_clock() - start;
                const std::vector<std::uint32_t> switches = switches_on(links, hosts);
                out << ' ' << switches.size();
                for (const std::uint32_t number : switches) out << ' ' << number;
                out << '\n';
            }
        });
        engine.run();
        return out.str();
    });
    std::istringstream in(answer);
    std::vector<Way> ways;
    for (Way way; in >> way.links >> way.latency_s >> way.seconds;) {
        std::size_t count = 0;
        in >> count;
        way.switches.resize(count);
        for (std::uint32_t& number : way.switches) in >> number;
        ways.push_back(way);
    }
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

/// Returns the times at which the messages of each shift are delivered, host i sending to host i + shift: all shifts,
/// one after the other.
std::vector<double> shifts_of_simgrid(std::uint32_t hosts, const MakeZone& make) {
    std::vector<double> seconds;
    for (std::uint32_t shift = 1; shift < hosts; ++shift) {
        const std::string answer = isolate([&] {
            const Engine engine;
            const std::vector<sg::Host*> by_number = engine.make(hosts, make);
            std::ostringstream out;
            out.precision(17);
            sg::Actor::create("all at once", by_number.front(), [&] {
                std::vector<sg::CommPtr> pending;
                for (std::uint32_t from = 0; from < hosts; ++from)
                    pending.push_back(sg::Comm::sendto_async(by_number[from], by_number[(from + shift) % hosts], size));
                for (const sg::CommPtr& comm : pending) comm->wait();
                out << sg::Engine::get_clock();
            });
            engine.run();
            return out.str();
        });
        seconds.push_back(std::stod(answer));
    }
    return seconds;
}

TopologySpec spec_of(Shape shape) {
    TopologySpec spec;
    spec.shape = shape;
    return spec;
}

}  // namespace

TEST_CASE("zones: SimGrid's star equals ours", "[memory]") {
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

TEST_CASE("zones: SimGrid's torus equals ours", "[memory]") {
    // Its routes go dimension by dimension. Ours may take the dimensions in another order, and half way round the other
    // direction: the length is the same in any case. With two hosts in a dimension SimGrid has a cable in each
    // direction, of which a single message uses one.
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

namespace {

struct Tree {
    std::vector<std::int64_t> down, up, cables;

    std::uint32_t hosts() const {
        std::uint32_t product = 1;
        for (const std::int64_t children : down) product *= static_cast<std::uint32_t>(children);
        return product;
    }
    TopologySpec spec() const {
        TopologySpec spec = spec_of(Shape::fat_tree);
        spec.down = down;
        spec.up = up;
        spec.cables = cables;
        spec.bandwidth_Bps = {bandwidth};
        return spec;
    }
    MakeZone zone(double latency_s) const {
        return [=, *this](const sg::ClusterCallbacks& callbacks) {
            const sg::FatTreeParams parameters(static_cast<unsigned>(down.size()), {down.begin(), down.end()},
                                               {up.begin(), up.end()}, {cables.begin(), cables.end()});
            return sg::create_fatTree_zone("fat-tree", nullptr, parameters, callbacks, bandwidth, latency_s, duplex);
        };
    }
};

}  // namespace

TEST_CASE("zones: SimGrid's fat tree equals ours, over the same switches", "[memory]") {
    // The same PGFT notation, and D-mod-k in both.
    const auto tree =
        GENERATE(Tree{{4, 4}, {1, 2}, {1, 2}}, Tree{{4, 4}, {1, 4}, {1, 1}}, Tree{{2, 3, 2}, {1, 2, 3}, {1, 1, 1}},
                 Tree{{4, 4, 2}, {1, 4, 4}, {1, 1, 1}}, Tree{{5}, {1}, {1}}, Tree{{3, 2}, {2, 2}, {2, 1}});
    const std::uint32_t hosts = tree.hosts();
    check_same(tree.spec(), hosts, tree.zone(latency));
    const std::vector<Way> expected = ways_of_simgrid(hosts, tree.zone(latency));
    const Topology topology = make_topology(tree.spec(), Use::fabric, hosts);
    Router router(topology, {});
    const auto pairs = all_pairs(hosts);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        CAPTURE(pairs[i].first, pairs[i].second);
        std::vector<std::uint32_t> path, switches;
        router.route(pairs[i].first, pairs[i].second, path);
        for (const std::uint32_t hop : path)
            if (router.hops()[hop].to >= hosts) switches.push_back(router.hops()[hop].to - hosts);
        CHECK(switches == expected[i].switches);
    }
}

TEST_CASE("zones: all messages of a shift take as long in SimGrid's fat tree as in ours", "[memory]") {
    // Single cables, because SimGrid's zone uses only the first of parallel ones. No latency, because its model would
    // share links in proportion to it.
    const auto tree =
        GENERATE(Tree{{4, 4}, {1, 4}, {1, 1}}, Tree{{4, 4}, {1, 2}, {1, 1}}, Tree{{2, 3, 2}, {1, 2, 3}, {1, 1, 1}});
    const std::uint32_t hosts = tree.hosts();
    const std::vector<double> expected = shifts_of_simgrid(hosts, tree.zone(0));
    Cluster cluster;
    cluster.nodes = hosts;
    cluster.fabric.topology = tree.spec();
    for (std::uint32_t shift = 1; shift < hosts; ++shift) {
        CAPTURE(shift);
        std::vector<Sent> list;
        for (std::uint32_t from = 0; from < hosts; ++from) list.push_back({from, (from + shift) % hosts, size});
        const std::vector<double> ends = ends_at_once(cluster, one_by_node(hosts), list);
        CHECK(*std::max_element(ends.begin(), ends.end()) == Approx(expected[shift - 1]).epsilon(1e-8));
    }
}

TEST_CASE("zones: SimGrid's dragonfly equals ours with the routers of a group numbered differently", "[memory]") {
    // SimGrid connects router j of group i with router i of group j; router i of group i has no global cable. Ours
    // leaves no gap: the router to group j is j, or j - 1 above the own group's number, and the last one is left over.
    // With as many groups as a group has routers the two are the same graph. Neither uses paths longer than local,
    // global, local, although equally long ones over two global cables exist.
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
