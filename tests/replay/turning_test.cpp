#include <algorithm>
#include <set>

#include "sim/collective/ring.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"

// Compares steps whose messages have another peer in every repetition with the same steps written out, in which
// connections are kept.

using namespace syncline;

namespace {

/// The same program without repetitions.
class WrittenOut : public CollectiveAlgorithm {
public:
    explicit WrittenOut(std::shared_ptr<const CollectiveAlgorithm> loops) : loops_(std::move(loops)) {}

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        const Program loops = loops_->program(rank, ranks, bytes, round);
        Program program{loops.partition, {}};
        for (Walk walk(loops); !walk.done(); walk.next()) {
            const auto now = [&](const std::vector<Message>& messages) {
                std::vector<Message> result;
                for (const Message& message : messages)
                    result.push_back({peer_of(message, walk.repetition(), ranks),
                                      moved(message.block, message.shift, walk.repetition(), program.partition.blocks),
                                      message.count});
                return result;
            };
            program.steps.push_back({now(walk.step().sends), now(walk.step().receives), walk.step().reduce});
        }
        return program;
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
    std::string formula(bool) const override { return "none"; }

private:
    std::shared_ptr<const CollectiveAlgorithm> loops_;
};

/// Loops of up to two steps of several messages, some of which turn; several may go to the same rank concurrently.
class RandomLoops : public CollectiveAlgorithm {
public:
    RandomLoops(Chance& chance, std::uint32_t ranks) {
        for (std::uint32_t loop = 1 + chance.below(3); loop > 0; --loop) {
            std::vector<std::vector<Sent>> body(1 + chance.below(2));
            std::uint32_t repeat = 1 + chance.below(6);
            for (std::vector<Sent>& step : body) {
                for (std::uint32_t count = 1 + chance.below(4); count > 0; --count) {
                    Sent sent;
                    sent.apart = 1 + chance.below(ranks - 1);
                    sent.turn = static_cast<std::int32_t>(chance.below(5)) - 2;
                    sent.shift = static_cast<std::int32_t>(chance.below(7)) - 3;
                    sent.block = chance.below(blocks);
                    sent.count = chance.below(blocks);
                    step.push_back(sent);
                    if (chance.below(3) == 0) step.push_back({sent.apart, blocks / 2, 1, sent.turn, 0});
                    // Only as long as no rank sends to itself.
                    while (repeat > 1 && meets_itself(sent, repeat, ranks)) --repeat;
                }
            }
            loops_.push_back({body, repeat});
        }
    }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, blocks}, {}};
        for (const auto& [body, repeat] : loops_) {
            const std::size_t head = program.steps.size();
            for (const std::vector<Sent>& sent : body) {
                Step step{{}, {}, true, repeat};
                for (const auto& [apart, block, count, turn, shift] : sent) {
                    step.sends.push_back({(rank + apart) % ranks, block, count, shift, turn});
                    step.receives.push_back({(rank + ranks - apart) % ranks, block, count, shift, -turn});
                }
                program.steps.push_back(step);
            }
            program.steps[head].body = static_cast<std::uint32_t>(body.size());
        }
        return program;
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
    std::string formula(bool) const override { return "none"; }

private:
    static constexpr std::uint32_t blocks = 7;
    struct Sent {
        std::uint32_t apart = 1, block = 0, count = 1;
        std::int32_t turn = 0, shift = 0;
    };
    static bool meets_itself(const Sent& sent, std::uint32_t repeat, std::uint32_t ranks) {
        for (std::uint32_t repetition = 0; repetition < repeat; ++repetition) {
            if (moved(sent.apart, sent.turn, repetition, ranks) == 0) return true;
        }
        return false;
    }

    std::vector<std::pair<std::vector<std::vector<Sent>>, std::uint32_t>> loops_;
};

using Algorithms = std::vector<std::shared_ptr<const CollectiveAlgorithm>>;

struct World {
    Cluster cluster;
    std::vector<Place> places;
    std::vector<double> late_s;  ///< by rank: computation time before its exchanges
    double jitter = 0;
    std::uint64_t bytes = 0;
};

/// Replays three iterations, two of them measured: exchanges one after the other following a computation, and `beside`
/// between the same ranks concurrently.
Timeline replay_in(const World& world, const Algorithms& algorithms, const Algorithms& beside, bool messages) {
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (const Place& place : world.places) {
        const auto rank = static_cast<std::uint32_t>(workers.size());
        workers.push_back(graph.add_process({place, 1, {1, world.jitter, 3, rank}}));
    }
    const GroupId group = graph.add_group(workers);
    std::vector<TaskId> computed;
    for (std::size_t rank = 0; rank < workers.size(); ++rank) {
        const StreamId compute = graph.add_stream(workers[rank], StreamKind::compute);
        computed.push_back(graph.add_task({compute, Phase::forward, 0, world.late_s[rank]}));
    }
    std::uint32_t channel = 0;
    for (const Algorithms* list : {&algorithms, &beside}) {
        std::vector<ExchangeId> exchanges;
        for (const auto& algorithm : *list)
            exchanges.push_back(graph.add_exchange({algorithm, group, channel, world.bytes, 1e-9}));
        for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
            const StreamId stream = graph.add_stream(workers[rank], StreamKind::exchange);
            for (const ExchangeId exchange : exchanges)
                graph.depend(graph.add_task({stream, Phase::exchange, 0, 0, exchange, rank}), computed[rank]);
        }
        ++channel;
    }
    graph.seal();
    ReplayOptions options;
    options.iterations = 3;
    options.measured = 2;
    options.averaged = 2;
    options.messages = messages;
    return replay_isolated(world.cluster, graph, options);
}

Approx about(double seconds) {
    return Approx(seconds).epsilon(1e-9).margin(1e-12);
}

void check_same(const Timeline& one, const Timeline& other) {
    REQUIRE(one.recorded.size() == other.recorded.size());
    for (std::size_t i = 0; i < one.recorded.size(); ++i) {
        REQUIRE(one.recorded[i].size() == other.recorded[i].size());
        for (std::size_t task = 0; task < one.recorded[i].size(); ++task) {
            CAPTURE(i, task);
            CHECK(one.recorded[i][task].start_s == about(other.recorded[i][task].start_s));
            CHECK(one.recorded[i][task].end_s == about(other.recorded[i][task].end_s));
        }
    }
    CHECK(one.messages == other.messages);
    CHECK(one.bytes_sent == other.bytes_sent);
    CHECK(one.sent_by == other.sent_by);
    CHECK(one.received_by == other.received_by);
    REQUIRE(one.links.size() == other.links.size());
    for (std::size_t i = 0; i < one.links.size(); ++i) {
        CHECK(one.links[i].name == other.links[i].name);
        CHECK(one.links[i].bytes == other.links[i].bytes);
    }
    const auto ways = [](const Timeline& timeline) {
        return std::set<std::vector<std::uint32_t>>(timeline.trace.routes.begin(), timeline.trace.routes.end());
    };
    CHECK(ways(one) == ways(other));
    const auto sorted = [](const Timeline& timeline) {
        std::vector<std::tuple<std::uint32_t, TaskId, TaskId, std::uint64_t>> messages;
        for (const MessageRecord& message : timeline.trace.messages)
            messages.emplace_back(message.iteration, message.sender, message.receiver, message.bytes);
        std::sort(messages.begin(), messages.end());
        return messages;
    };
    CHECK(sorted(one) == sorted(other));
}

World random_world(Chance& chance) {
    World world;
    const std::uint32_t nodes = 2 + chance.below(4), devices = 1 + chance.below(3);
    world.cluster = star_cluster(nodes, 1e9, 2e-6);
    world.cluster.node.devices = devices;
    world.cluster.node.links = NodeLinks::crossbar;
    world.cluster.node.link = {8e9, 1e-6};
    if (chance.below(3) == 0) world.cluster.network = NetworkModel::LV08;
    Transport& transport = world.cluster.transport;
    if (chance.below(2) == 0) {
        transport.between = {3e-6, 5e-6, 7e-6, {{1000, 0.5e9}}};
        transport.inside = {1e-6, 2e-6, 0, {}};
        transport.window = static_cast<std::int64_t>(chance.below(3));
    }
    for (std::uint32_t node = 0; node < nodes; ++node) {
        for (std::uint32_t device = 0; device < devices; ++device) {
            world.places.push_back({node, device});
            world.late_s.push_back(chance.below(4) * 1.37e-4);
        }
    }
    world.jitter = chance.below(2) == 0 ? 0 : 0.3;
    world.bytes = chance.below(2) == 0 ? 5 : 1'000'003;
    return world;
}

}  // namespace

TEST_CASE("turning peers: loops of any messages take as long, and carry as much, as their steps written out") {
    Chance chance(11);
    for (int i = 0; i < 60; ++i) {
        CAPTURE(i);
        const World world = random_world(chance);
        const auto ranks = static_cast<std::uint32_t>(world.places.size());
        Algorithms loops, written, beside;
        for (int exchange = 0; exchange < 2; ++exchange) {
            loops.push_back(std::make_shared<const RandomLoops>(chance, ranks));
            written.push_back(std::make_shared<const WrittenOut>(loops.back()));
        }
        if (chance.below(2) == 0) beside.push_back(std::make_shared<const RingAllreduce>());
        const bool messages = chance.below(2) == 0;
        check_same(replay_in(world, loops, beside, messages), replay_in(world, written, beside, messages));
    }
}

TEST_CASE("turning peers: pairwise all-to-alls work in sequence, concurrently with another, and with late ranks",
          "[memory]") {
    const auto loop = make_algorithm({.operation = "all-to-all", .name = "pairwise"}, 2);
    const auto written = std::make_shared<const WrittenOut>(loop);
    Chance chance(5);
    for (int i = 0; i < 12; ++i) {
        CAPTURE(i);
        const World world = random_world(chance);
        check_same(replay_in(world, {loop, loop}, {loop}, false),
                   replay_in(world, {written, written}, {written}, false));
    }
}
