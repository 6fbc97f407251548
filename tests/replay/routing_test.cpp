#include <algorithm>
#include <map>
#include <set>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/fidelity_choice.hpp"
#include "sim/analysis/theory.hpp"
#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"

// Routes by policy as messages use them: sharing of links, bytes on links, and the corresponding notes.

using namespace syncline;

namespace {

constexpr std::uint64_t MB = 1'000'000;  // a millisecond at 1 GB/s
constexpr double ms = 1e-3;

/// Two leaves with four hosts each; two spines, two cables from each leaf to each spine.
Cluster two_leaves(Routing::Policy policy) {
    Cluster cluster;
    cluster.nodes = 8;
    TopologySpec& tree = cluster.fabric.topology;
    tree.shape = Shape::fat_tree;
    tree.down = {4, 2};
    tree.up = {1, 2};
    tree.cables = {1, 2};
    tree.bandwidth_Bps = {1e9};
    tree.latency_s = {0};
    cluster.fabric.routing.policy = policy;
    return cluster;
}

/// Returns the bytes on the uplinks of leaf 0, by cable.
std::vector<std::uint64_t> upwards(const Timeline& timeline) {
    std::vector<std::uint64_t> bytes;
    for (const LinkUse& link : timeline.links)
        if (link.name.rfind("leaf-0->spine-", 0) == 0) bytes.push_back(link.bytes);
    std::sort(bytes.begin(), bytes.end());
    return bytes;
}

/// Sends all messages at the same time, with recording.
Timeline sent_at_once(const Cluster& cluster, const std::vector<Sent>& list) {
    const auto algorithm = std::make_shared<const Messages>(list);
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (std::uint32_t node = 0; node < cluster.nodes; ++node) workers.push_back(graph.add_process({{node, 0}}));
    add_collectives(graph, workers, {{algorithm->largest(), algorithm}}, {}, cluster);
    graph.seal();
    ReplayOptions options;
    options.messages = true;
    return replay_isolated(cluster, graph, options);
}

}  // namespace

TEST_CASE("routes: four messages from leaf to leaf have a cable each, by D-mod-k and with adaptive routing",
          "[memory]") {
    const std::vector<Sent> shift{{0, 4, MB}, {1, 5, MB}, {2, 6, MB}, {3, 7, MB}};
    for (const auto policy : {Routing::Policy::d_mod_k, Routing::Policy::adaptive_at_start}) {
        const Timeline timeline = sent_at_once(two_leaves(policy), shift);
        CHECK(timeline.iteration_end_s.back() == Approx(1 * ms).epsilon(1e-9));
        CHECK(upwards(timeline) == std::vector<std::uint64_t>(4, MB));
    }
    const Timeline first = sent_at_once(two_leaves(Routing::Policy::first), shift);
    CHECK(first.iteration_end_s.back() == Approx(4 * ms).epsilon(1e-9));
    CHECK(upwards(first) == std::vector<std::uint64_t>{4 * MB});
}

TEST_CASE("routes: adaptive routes use paths that D-mod-k would not", "[memory]") {
    // All go to hosts whose numbers are multiples of 4, which D-mod-k sends over one cable. Each receiver's own cable
    // still carries one message after the other, so the messages go to different receivers on two further leaves.
    Cluster cluster = two_leaves(Routing::Policy::d_mod_k);
    cluster.nodes = 20;
    cluster.fabric.topology.down = {4, 5};
    const std::vector<Sent> column{{0, 4, MB}, {1, 8, MB}, {2, 12, MB}, {3, 16, MB}};
    CHECK(sent_at_once(cluster, column).iteration_end_s.back() == Approx(4 * ms).epsilon(1e-9));
    cluster.fabric.routing.policy = Routing::Policy::adaptive_at_start;
    const Timeline timeline = sent_at_once(cluster, column);
    CHECK(timeline.iteration_end_s.back() == Approx(1 * ms).epsilon(1e-9));
    CHECK(upwards(timeline) == std::vector<std::uint64_t>(4, MB));
}

TEST_CASE("routes: the recorded route of an adaptive message is the path that it took", "[memory]") {
    const std::vector<Sent> shift{{0, 4, MB}, {1, 5, 2 * MB}, {2, 6, 3 * MB}, {3, 7, 4 * MB}};
    const Timeline timeline = sent_at_once(two_leaves(Routing::Policy::adaptive_at_start), shift);
    std::map<std::string, std::uint64_t> recorded, counted;
    for (const MessageRecord& message : timeline.trace.messages)
        for (const std::uint32_t link : timeline.trace.routes.at(message.route))
            recorded[timeline.trace.links[link].name] += message.bytes;
    for (const LinkUse& link : timeline.links) counted[link.name] += link.bytes;
    CHECK(recorded == counted);
    CHECK(upwards(timeline) == std::vector<std::uint64_t>{MB, 2 * MB, 3 * MB, 4 * MB});
}

TEST_CASE("routes: a link is free again when a message is delivered, not when its step ends", "[memory]") {
    // Host 0 sends a large message over the first cable and a small one over the second, which is the only free one
    // when another host's message starts. There are two cables to one spine.
    Cluster cluster = two_leaves(Routing::Policy::adaptive_at_start);
    cluster.fabric.topology.up = {1, 1};
    cluster.fabric.topology.cables = {1, 2};
    TaskGraph graph;
    std::vector<ProcessId> workers;
    std::vector<StreamId> streams;
    for (std::uint32_t node = 0; node < 8; ++node) {
        workers.push_back(graph.add_process({{node, 0}}));
        streams.push_back(graph.add_stream(workers.back(), StreamKind::exchange));
    }
    const auto both = std::make_shared<const Messages>(std::vector<Sent>{{0, 2, 9 * MB}, {0, 1, MB}});
    const auto one = std::make_shared<const Messages>(std::vector<Sent>{{0, 1, MB}});
    const auto add = [&](const std::shared_ptr<const Messages>& algorithm, const std::vector<std::uint32_t>& members,
                         double after_s) {
        std::vector<ProcessId> group;
        for (const std::uint32_t member : members) group.push_back(workers[member]);
        const ExchangeId exchange = graph.add_exchange({algorithm, graph.add_group(group), 0, algorithm->largest(), 0});
        TaskId last = 0;
        for (std::uint32_t member = 0; member < members.size(); ++member) {
            if (after_s > 0) graph.add_task({streams[members[member]], Phase::release, 0, after_s});
            last = graph.add_task({streams[members[member]], Phase::exchange, 0, 0, exchange, member});
        }
        return last;
    };
    add(both, {0, 4, 5}, 0);  // each has half of host 0's cable: the small one is delivered at 2 ms
    const TaskId late = add(one, {1, 6}, 3 * ms);
    graph.seal();
    const Timeline timeline = replay_isolated(cluster, graph, {});
    CHECK(timeline.measured()[late].end_s == Approx(4 * ms).epsilon(1e-9));
    CHECK(upwards(timeline) == std::vector<std::uint64_t>{2 * MB, 9 * MB});
}

TEST_CASE("routes: sprayed messages have a part on every uplink, and their ports' rate", "[memory]") {
    // Two leaves of eight hosts, eight spines: eight messages over eight uplinks. A hash leaves no uplink unused with
    // probability 8!/8^8 = 0.2 %, so some carry two or three; sprayed, each carries an eighth of each message.
    Cluster cluster = two_leaves(Routing::Policy::ecmp);
    cluster.nodes = 16;
    cluster.fabric.topology.down = {8, 2};
    cluster.fabric.topology.up = {1, 8};
    cluster.fabric.topology.cables = {1, 1};
    cluster.fabric.topology.latency_s = {1e-4};
    std::vector<Sent> list;
    for (std::uint32_t from = 0; from < 8; ++from) list.push_back({from, 15 - from, 8 * MB});
    const Timeline hashed = sent_at_once(cluster, list);
    CHECK(hashed.iteration_end_s.back() > 16 * ms);
    cluster.fabric.routing.policy = Routing::Policy::spray;
    const Timeline sprayed = sent_at_once(cluster, list);
    CHECK(sprayed.iteration_end_s.back() == Approx(8.4 * ms).epsilon(1e-9));  // and four cables' latency
    CHECK(upwards(sprayed) == std::vector<std::uint64_t>(8, 8 * MB));
    // The trace has the same bytes on each link as the count.
    std::map<std::string, double> recorded;
    const Trace& trace = sprayed.trace;
    for (const MessageRecord& message : trace.messages)
        for (std::size_t i = 0; i < trace.routes.at(message.route).size(); ++i)
            recorded[trace.links[trace.routes[message.route][i]].name] +=
                static_cast<double>(message.bytes) * trace.part(message.route, i);
    CHECK(recorded.size() == sprayed.links.size());
    for (const LinkUse& link : sprayed.links)
        CHECK(recorded.at(link.name) == Approx(static_cast<double>(link.bytes)).epsilon(1e-9));
    // Uplinks of half the rate: 64 MB over 4 GB/s. Messages that share a leaf's uplinks share fairly whatever they
    // send.
    cluster.fabric.topology.bandwidth_Bps = {1e9, 0.5e9};
    CHECK(sent_at_once(cluster, list).iteration_end_s.back() == Approx(16.4 * ms).epsilon(1e-9));
    // Three messages that two ports receive: 1/2, 1/2 and 1 GB/s need 2 of the 4 GB/s of the uplinks.
    CHECK(sent_at_once(cluster, {{0, 8, 8 * MB}, {1, 8, 8 * MB}, {2, 9, 8 * MB}}).iteration_end_s.back() ==
          Approx(16.4 * ms).epsilon(1e-9));
}

TEST_CASE("routes: detours of a dragonfly avoid a busy cable, and take longer", "[memory]") {
    // Three groups of one router with two hosts, a cable between each two. Two messages go from group 0 to group 1.
    // They share one cable minimally, and by valiant both cables of the way by group 2. By ugal the first finds no
    // load, and the second one message ahead of it on the direct way, and none by group 2: 1·1 > 0·2. A cable has 0.1
    // ms.
    Cluster cluster;
    cluster.nodes = 6;
    TopologySpec& dragonfly = cluster.fabric.topology;
    dragonfly.shape = Shape::dragonfly;
    dragonfly.groups = 3;
    dragonfly.routers = 1;
    dragonfly.hosts_per_router = dragonfly.global_links = 2;
    dragonfly.bandwidth_Bps = {1e9};
    dragonfly.latency_s = {1e-4};
    const auto time_s = [&](Routing::Policy policy) {
        cluster.fabric.routing.policy = policy;
        const Timeline timeline = sent_at_once(cluster, {{0, 2, MB}, {1, 3, MB}});
        std::uint64_t between = 0;
        for (const LinkUse& link : timeline.links)
            if (link.name.rfind("router-", 0) == 0 && link.name.find("->router-") != std::string::npos)
                between += link.bytes;
        CHECK(between == (policy == Routing::Policy::ecmp ? 2 : policy == Routing::Policy::ugal ? 3 : 4) * MB);
        return timeline.iteration_end_s.back();
    };
    CHECK(time_s(Routing::Policy::ecmp) == Approx(2.3 * ms).epsilon(1e-9));
    CHECK(time_s(Routing::Policy::valiant) == Approx(2.4 * ms).epsilon(1e-9));
    CHECK(time_s(Routing::Policy::ugal) == Approx(1.4 * ms).epsilon(1e-9));
    cluster.latency = Latency::blocking;
    CHECK(time_s(Routing::Policy::ugal) == Approx(1.4 * ms).epsilon(1e-9));
    TaskGraph graph;
    graph.add_process({});
    graph.seal();
    CHECK_FALSE(choose_fidelity(Fidelity::folded, cluster, graph).folds);
    cluster.fabric.routing.policy = Routing::Policy::valiant;
    CHECK(choose_fidelity(Fidelity::folded, cluster, graph).folds);
}

TEST_CASE("routes: an all-to-all among 72 hosts of a balanced dragonfly is limited by their ports", "[memory]") {
    // Each host sends 71 MB at 1 GB/s. Of two groups of eight hosts 64 messages pass their cable: 64 ms.
    Cluster cluster;
    cluster.nodes = 72;
    TopologySpec& dragonfly = cluster.fabric.topology;
    dragonfly.shape = Shape::dragonfly;
    dragonfly.hosts_per_router = 2;
    dragonfly.bandwidth_Bps = {1e9};
    dragonfly.latency_s = {0};
    std::vector<Sent> all;
    for (std::uint32_t from = 0; from < 72; ++from)
        for (std::uint32_t to = 0; to < 72; ++to)
            if (from != to) all.push_back({from, to, MB});
    CHECK(sent_at_once(cluster, all).iteration_end_s.back() == Approx(71 * ms).epsilon(1e-9));
}

TEST_CASE("routes: ecmp gives channels of two hosts different paths, as their links show", "[memory]") {
    // One message on each of 16 channels between the same two hosts of different leaves.
    constexpr std::uint32_t channels = 16;
    const auto cables = [&](Routing::Policy policy) {
        const Cluster cluster = two_leaves(policy);
        TaskGraph graph;
        const std::vector<ProcessId> ends{graph.add_process({{0, 0}}), graph.add_process({{4, 0}})};
        const auto algorithm = std::make_shared<const Messages>(std::vector<Sent>{{0, 1, MB}});
        const GroupId pair = graph.add_group(ends);
        for (std::uint32_t channel = 0; channel < channels; ++channel) {
            const ExchangeId exchange = graph.add_exchange({algorithm, pair, channel, MB, 0});
            for (std::uint32_t member = 0; member < 2; ++member) {
                const StreamId stream = graph.add_stream(ends[member], StreamKind::exchange);
                graph.add_task({stream, Phase::exchange, 0, 0, exchange, member});
            }
        }
        graph.seal();
        ReplayOptions options;
        options.messages = true;
        const Timeline timeline = replay_isolated(cluster, graph, options);
        std::uint64_t sum = 0;
        for (const std::uint64_t bytes : upwards(timeline)) sum += bytes;
        CHECK(sum == channels * MB);
        CHECK(timeline.trace.routes.size() >= upwards(timeline).size());
        return upwards(timeline).size();
    };
    // Four uplinks; 16 draws miss one of them with probability 4·(3/4)^16 = 4 %.
    CHECK(cables(Routing::Policy::ecmp) == 4);
    CHECK(cables(Routing::Policy::d_mod_k) == 1);
}

TEST_CASE("routes: adaptive routing disables folding and closed forms", "[memory]") {
    Cluster cluster = two_leaves(Routing::Policy::adaptive_at_start);
    const auto places = one_by_node(8);
    TaskGraph graph;
    graph.add_process({});
    graph.seal();
    const FidelityChoice choice = choose_fidelity(Fidelity::folded, cluster, graph);
    CHECK_FALSE(choice.folds);
    CHECK(choice.why == "routes depend on the other messages in flight");
    CHECK_FALSE(message_cost(cluster, places, "ring"));
    cluster.fabric.routing.policy.reset();
    CHECK(message_cost(cluster, places, "ring"));
    CHECK(choose_fidelity(Fidelity::folded, cluster, graph).folds);
}
