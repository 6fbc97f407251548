#include "sim/network/flows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/fluid.hpp"

using namespace syncline;

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

struct Job {
    std::size_t bundle = 0;
    double start_s = 0;
    double bytes = 0;
};

/// A new bandwidth of a link.
struct Change {
    double time_s = 0;
    std::uint32_t link = 0;
    double bandwidth_Bps = 0;
};

struct World {
    std::vector<double> bandwidths_Bps;
    std::vector<Change> changes = {};                ///< in the order of time
    std::vector<std::vector<std::uint32_t>> routes;  ///< by bundle
    std::vector<std::vector<double>> parts;          ///< by bundle: of its bytes on each link; empty: all
    std::vector<double> bounds_Bps;
    std::vector<Job> jobs;
};

World random_world(Chance& chance, bool sprayed = false) {
    World world;
    const std::uint32_t links = 1 + chance.below(8), bundles = 1 + chance.below(10), jobs = 1 + chance.below(40);
    for (std::uint32_t i = 0; i < links; ++i)
        world.bandwidths_Bps.push_back(chance.of<double>({1e8, 1e9, 1e9, 1e9, 2.5e9, 1.7e10}));
    std::vector<std::uint32_t> all(links);
    std::iota(all.begin(), all.end(), 0);
    for (std::uint32_t i = 0; i < bundles; ++i) {
        for (std::uint32_t k = 0; k + 1 < links; ++k) std::swap(all[k], all[k + chance.below(links - k)]);
        world.bounds_Bps.push_back(chance.below(3) > 0 ? unbounded : chance.of<double>({5e7, 2e8, 1e9, 3e9}));
        const std::uint32_t least = world.bounds_Bps.back() < unbounded ? 0 : 1;
        const std::uint32_t hops = least + chance.below(std::min(links, 4u));
        world.routes.emplace_back(all.begin(), all.begin() + std::min(hops, links));
        world.parts.emplace_back();
        if (sprayed && chance.below(3) > 0)
            for (std::size_t k = 0; k < world.routes.back().size(); ++k)
                world.parts.back().push_back(chance.of<double>({1, 0.5, 0.25, 1.0 / 3, 1.0 / 12}));
    }
    // Few different times and sizes, so that several flows start or end at the same instant.
    for (std::uint32_t i = 0; i < jobs; ++i)
        world.jobs.push_back({chance.below(bundles), 1e-3 * chance.below(8),
                              chance.of<double>({1, 1e6, 1e6, 2e6, 1.0 + chance.below(5'000'000)})});
    return world;
}

/// Workers that send to few servers, directly or over cables that several of them share: groups of up to a hundred.
World incast(Chance& chance) {
    World world;
    const std::uint32_t servers = 1 + chance.below(4), cables = 1 + chance.below(3), workers = 40 + chance.below(60);
    for (std::uint32_t i = 0; i < servers + cables; ++i)
        world.bandwidths_Bps.push_back(chance.of<double>({1e9, 2e9, 4e9, 1e10, 3e10}));
    for (std::uint32_t i = 0; i < workers; ++i) {
        const std::uint32_t port = servers + cables + i;
        world.bandwidths_Bps.push_back(chance.of<double>({2e7, 1e8, 1e9, 1e9}));
        for (std::uint32_t server = 0; server < servers; ++server) {
            world.routes.push_back({port, server});
            if (chance.below(2) > 0) world.routes.back().push_back(servers + chance.below(cables));
            world.bounds_Bps.push_back(chance.below(4) > 0 ? unbounded : chance.of<double>({1e7, 5e7, 2e8}));
            world.parts.emplace_back();
            if (chance.below(8) == 0) world.parts.back().assign(world.routes.back().size(), 0.5);
            for (std::uint32_t job = 1 + chance.below(2); job-- > 0;)
                world.jobs.push_back({world.routes.size() - 1, 1e-4 * chance.below(200),
                                      chance.of<double>({1e6, 1e6, 2e6, 1.0 + chance.below(5'000'000)})});
        }
    }
    return world;
}

/// Links of the world are slow or down for a while, some several times, and all right in the end.
void add_changes(World& world, Chance& chance) {
    for (std::uint32_t link = 0; link < world.bandwidths_Bps.size(); ++link) {
        double time_s = 0;
        for (std::uint32_t left = chance.below(4); left > 0; --left) {
            time_s += 1e-3 * chance.below(6);
            const double rate = chance.of<double>({0, 0, 0.5, 0.1, 1});
            world.changes.push_back({time_s, link, world.bandwidths_Bps[link] * rate});
        }
        if (time_s > 0 || !world.changes.empty())
            world.changes.push_back({time_s + 1e-3, link, world.bandwidths_Bps[link]});
    }
    std::ranges::stable_sort(world.changes, {}, &Change::time_s);
}

/// Returns the end of each job by the definition: rates by progressive filling among all flows, at every event.
std::vector<double> ends_by_definition(const World& world) {
    std::map<std::uint32_t, double> bandwidth_Bps;
    for (std::uint32_t i = 0; i < world.bandwidths_Bps.size(); ++i) bandwidth_Bps[i] = world.bandwidths_Bps[i];
    std::vector<Flow> flows;
    std::vector<double> left, ends(world.jobs.size(), -1);
    for (std::uint32_t i = 0; i < world.jobs.size(); ++i) {
        const Job& job = world.jobs[i];
        flows.push_back({world.routes[job.bundle], job.bytes, world.parts[job.bundle]});
        if (world.bounds_Bps[job.bundle] < unbounded) {  // a link of its own
            if (!flows.back().parts.empty()) flows.back().parts.push_back(1);
            const auto own = static_cast<std::uint32_t>(world.bandwidths_Bps.size()) + i;
            flows.back().links.push_back(own);
            bandwidth_Bps[own] = world.bounds_Bps[job.bundle];
        }
        left.push_back(job.bytes);
    }
    double now_s = 0;
    std::size_t changed = 0;
    while (*std::min_element(ends.begin(), ends.end()) < 0) {
        for (; changed < world.changes.size() && world.changes[changed].time_s <= now_s; ++changed)
            bandwidth_Bps[world.changes[changed].link] = world.changes[changed].bandwidth_Bps;
        std::vector<bool> open;
        double next_s = changed < world.changes.size() ? world.changes[changed].time_s : unbounded;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            const bool begun = world.jobs[i].start_s <= now_s;
            open.push_back(begun && ends[i] < 0);
            if (!begun) next_s = std::min(next_s, world.jobs[i].start_s);
        }
        const std::vector<double> rates = max_min_rates(flows, open, bandwidth_Bps);
        for (std::size_t i = 0; i < flows.size(); ++i)
            if (open[i] && rates[i] > 0) next_s = std::min(next_s, now_s + left[i] / rates[i]);
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (!open[i]) continue;
            left[i] -= rates[i] * (next_s - now_s);
            if (rates[i] > 0 && left[i] <= 1e-12 * rates[i]) ends[i] = next_s;
        }
        now_s = next_s;
    }
    return ends;
}

std::vector<double> ends(const World& world) {
    Flows flows(world.bandwidths_Bps);
    std::vector<Flows::Bundle> bundles;
    for (std::size_t i = 0; i < world.routes.size(); ++i)
        bundles.push_back(flows.add_bundle(world.routes[i], world.bounds_Bps[i], world.parts[i]));
    std::vector<double> result(world.jobs.size(), -1);
    std::vector<bool> begun(world.jobs.size(), false);
    std::size_t changed = 0;
    for (double now_s = 0; now_s < unbounded;) {
        for (; changed < world.changes.size() && world.changes[changed].time_s <= now_s; ++changed)
            flows.set_bandwidth(world.changes[changed].link, world.changes[changed].bandwidth_Bps, now_s);
        double next_s = changed < world.changes.size() ? world.changes[changed].time_s : unbounded;
        for (std::uint32_t i = 0; i < world.jobs.size(); ++i) {
            const Job& job = world.jobs[i];
            if (begun[i]) continue;
            if (job.start_s <= now_s) {
                begun[i] = true;
                flows.start(bundles[job.bundle], job.bytes, i, now_s);
            } else {
                next_s = std::min(next_s, job.start_s);
            }
        }
        next_s = std::min(next_s, flows.next_end_s(now_s));
        now_s = next_s;
        std::vector<std::uint32_t> ended;
        if (now_s < unbounded) flows.end(now_s, 1e-12, ended);
        for (const std::uint32_t job : ended) {
            CHECK(result[job] == -1);
            result[job] = now_s;
        }
    }
    return result;
}

}  // namespace

TEST_CASE("flows share links as progressive filling says, whenever they start") {
    Chance chance(20);
    for (int round = 0; round < 3000; ++round) {
        CAPTURE(round);
        const World world = random_world(chance, round % 2 == 1);
        const std::vector<double> is = ends(world), should_be = ends_by_definition(world);
        for (std::size_t job = 0; job < is.size(); ++job) {
            CAPTURE(job, world.jobs[job].bundle, world.jobs[job].bytes);
            REQUIRE(is[job] == Approx(should_be[job]).epsilon(1e-9).margin(2e-12));
        }
    }
}

TEST_CASE("flows of many workers share servers and cables as progressive filling says", "[memory]") {
    Chance chance(49);
    for (int round = 0; round < 12; ++round) {
        CAPTURE(round);
        const World world = incast(chance);
        const std::vector<double> is = ends(world), should_be = ends_by_definition(world);
        for (std::size_t job = 0; job < is.size(); ++job) {
            CAPTURE(job, world.jobs[job].bundle, world.jobs[job].bytes);
            REQUIRE(is[job] == Approx(should_be[job]).epsilon(1e-9).margin(2e-12));
        }
    }
}

TEST_CASE("flows share links whose bandwidth changes as progressive filling says") {
    Chance chance(50);
    std::size_t changes = 0;
    for (int round = 0; round < 3000; ++round) {
        CAPTURE(round);
        World world = random_world(chance, round % 2 == 1);
        add_changes(world, chance);
        changes += world.changes.size();
        const std::vector<double> is = ends(world), should_be = ends_by_definition(world);
        for (std::size_t job = 0; job < is.size(); ++job) {
            CAPTURE(job, world.jobs[job].bundle, world.jobs[job].bytes);
            REQUIRE(is[job] == Approx(should_be[job]).epsilon(1e-9).margin(2e-12));
        }
    }
    CHECK(changes > 3000);
}

TEST_CASE("flows of many workers share cables whose bandwidth changes") {
    Chance chance(51);
    for (int round = 0; round < 12; ++round) {
        CAPTURE(round);
        World world = incast(chance);
        add_changes(world, chance);
        const std::vector<double> is = ends(world), should_be = ends_by_definition(world);
        for (std::size_t job = 0; job < is.size(); ++job) {
            CAPTURE(job, world.jobs[job].bundle, world.jobs[job].bytes);
            REQUIRE(is[job] == Approx(should_be[job]).epsilon(1e-9).margin(2e-12));
        }
    }
}

TEST_CASE("what is left of a flow that is withdrawn goes on elsewhere", "[memory]") {
    // Two flows of 2 MB share a link of 1 GB/s. After 1 ms one of them, of which 1.5 MB are left, moves to a link of
    // 3 GB/s; the other one then has the first link for itself.
    Flows flows({1e9, 3e9});
    const std::vector<std::uint32_t> first{0}, second{1};
    const Flows::Bundle bundle = flows.add_bundle(first, unbounded);
    flows.start(bundle, 2e6, 0, 0);
    flows.start(bundle, 2e6, 1, 0);
    CHECK(flows.next_end_s(0) == Approx(4e-3).epsilon(1e-12));
    const double left = flows.withdraw(bundle, 0, 1e-3);
    CHECK(left == Approx(1.5e6).epsilon(1e-12));
    flows.start(flows.add_bundle(second, unbounded), left, 0, 1e-3);
    std::vector<std::uint32_t> ended;
    CHECK(flows.next_end_s(1e-3) == Approx(1.5e-3).epsilon(1e-12));
    flows.end(1.5e-3, 1e-12, ended);
    CHECK(flows.next_end_s(1.5e-3) == Approx(2.5e-3).epsilon(1e-12));
    flows.end(2.5e-3, 1e-12, ended);
    CHECK(ended == std::vector<std::uint32_t>{0, 1});
    CHECK(flows.next_end_s(2.5e-3) == unbounded);
}

TEST_CASE("a flow that ends gives its share to the others on its bottleneck, and only to those", "[memory]") {
    // Two links of 1 GB/s: flow 0 is on both, flow 1 on the first and flow 2 on the second, with a bound of 0.2 GB/s.
    Flows flows({1e9, 1e9});
    const std::vector<std::uint32_t> both{0, 1}, first{0}, second{1};
    flows.start(flows.add_bundle(both, unbounded), 1e6, 0, 0);
    flows.start(flows.add_bundle(first, unbounded), 3e6, 1, 0);
    flows.start(flows.add_bundle(second, 2e8), 1e6, 2, 0);
    std::vector<std::uint32_t> ended;
    // Flows 0 and 1 get 0.5 GB/s each; flow 2 has its bound, as 0.5 GB/s are left on its link.
    CHECK(flows.next_end_s(0) == Approx(2e-3).epsilon(1e-12));
    flows.end(2e-3, 1e-12, ended);
    CHECK(ended == std::vector<std::uint32_t>{0});
    // Flow 1 has 2 MB left, now at 1 GB/s.
    CHECK(flows.next_end_s(2e-3) == Approx(4e-3).epsilon(1e-12));
    flows.end(4e-3, 1e-12, ended);
    CHECK(ended == std::vector<std::uint32_t>{0, 1});
    CHECK(flows.next_end_s(4e-3) == Approx(5e-3).epsilon(1e-12));
}

TEST_CASE("a link that is full but for rounding holds nobody back", "[memory]") {
    // Six flows have links of their own, each a sixth of the common link and a trillionth of it more; beside each there
    // is a flow that ends first. Then the sum of the six exceeds the common link by 1e-12, and none exceeds its share.
    constexpr double sixth = 166666666.66683334;
    std::vector<double> bandwidths(6, sixth);
    bandwidths.push_back(1e9);
    Flows flows(bandwidths);
    for (std::uint32_t i = 0; i < 6; ++i) {
        const std::vector<std::uint32_t> both{i, 6}, own{i};
        flows.start(flows.add_bundle(both, unbounded), 1e9, i, 0);
        flows.start(flows.add_bundle(own, unbounded), 1e6, 10 + i, 0);
    }
    std::vector<std::uint32_t> ended;
    // 1 MB each at half of the own link; then 999 MB at the whole one.
    const double first_s = flows.next_end_s(0);
    CHECK(first_s == Approx(1e6 / (sixth / 2)).epsilon(1e-9));
    flows.end(first_s, 1e-12, ended);
    CHECK(ended.size() == 6);
    CHECK(flows.next_end_s(first_s) == Approx(first_s + 999e6 / sixth).epsilon(1e-9));
}

TEST_CASE("a bundle of many flows takes as long as many bundles of one", "[memory]") {
    const std::vector<std::uint32_t> route{0, 1};
    Flows bundled({1e9, 3e9}), single({1e9, 3e9});
    const Flows::Bundle bundle = bundled.add_bundle(route, unbounded);
    std::vector<double> bundled_s(100), single_s(100);
    for (std::uint32_t i = 0; i < 100; ++i) {
        bundled.start(bundle, 1e5 * (i % 7 + 1), i, 0);
        single.start(single.add_bundle(route, unbounded), 1e5 * (i % 7 + 1), i, 0);
    }
    const auto run = [](Flows& flows, std::vector<double>& ends_s) {
        for (double now_s = flows.next_end_s(0); now_s < unbounded; now_s = flows.next_end_s(now_s)) {
            std::vector<std::uint32_t> ended;
            flows.end(now_s, 1e-12, ended);
            REQUIRE(!ended.empty());
            for (const std::uint32_t flow : ended) ends_s[flow] = now_s;
        }
    };
    run(bundled, bundled_s);
    run(single, single_s);
    for (std::size_t i = 0; i < 100; ++i) CHECK(bundled_s[i] == Approx(single_s[i]).epsilon(1e-9));
    CHECK(*std::max_element(bundled_s.begin(), bundled_s.end()) == Approx(395e5 / 1e9).epsilon(1e-9));
}
