#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "sim/analysis/experiment.hpp"
#include "sim/cli/guard.hpp"
#include "sim/collective/ring.hpp"
#include "tests/catch.hpp"
#include "tests/replay/allreduce.hpp"

// Results of the network models for one exchange, and exchanges that cannot end.

using namespace syncline;

namespace {

Cluster star(NetworkModel network) {
    Cluster cluster;
    cluster.nodes = 8;
    cluster.fabric.topology.bandwidth_Bps = {1e9};
    cluster.fabric.topology.latency_s = {1e-5};
    cluster.network = network;
    return cluster;
}

double ring_of_two(NetworkModel network, std::uint64_t bytes) {
    return allreduce(star(network), 2, 1, "ring", bytes).completion_time_s;
}

/// Both members first wait for the other: no message is ever sent.
class Stuck : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        return {{bytes, 1}, {{{}, {{(rank + 1) % ranks, 0}}, false, 1, 0}}};
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return 0; }
    std::string formula(bool) const override { return "none"; }
};

/// Two members exchange blocks in three steps and in a fourth one, in which member 0 expects one repetition more than
/// the other executes. This happens only in round `when`; in all others they agree.
class LateMismatch : public CollectiveAlgorithm {
public:
    explicit LateMismatch(std::uint32_t when) : when_(when) {}

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t round) const override {
        const std::vector<Message> other{{1 - rank, 0}};
        const std::uint32_t last = round == when_ && rank == 0 ? 4 : 3;
        return {{bytes, 1},
                {{other, other, true}, {other, other, false, 5, 0}, {other, other}, {other, other, false, last, 0}}};
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
    std::string formula(bool) const override { return "none"; }

private:
    std::uint32_t when_;
};

/// Returns a graph of one exchange, of bucket 3, among `members` members.
TaskGraph exchange_of(const std::shared_ptr<const CollectiveAlgorithm>& algorithm, std::uint32_t members) {
    TaskGraph graph;
    std::vector<ProcessId> group;
    for (std::uint32_t node = 0; node < members; ++node) group.push_back(graph.add_process({{node}}));
    const ExchangeId exchange = graph.add_exchange({algorithm, graph.add_group(group), 0, 100, 0});
    for (std::uint32_t rank = 0; rank < members; ++rank)
        graph.add_task({graph.add_stream(rank, StreamKind::exchange), Phase::exchange, 3, 0, exchange, rank});
    graph.seal();
    return graph;
}

/// Returns the replayer's message for a graph that gets stuck.
std::string complaint(const TaskGraph& graph, std::uint32_t iterations) {
    try {
        replay_isolated(star(NetworkModel::exact), graph, {iterations, iterations - 1});
    } catch (const std::logic_error& error) {
        return error.what();
    }
    FAIL("no deadlock was seen");
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the network model can be chosen", "[memory]") {
    // Two steps, each one message of half the buffer over two links of 10 µs.
    const double latency = 2e-5;
    CHECK(ring_of_two(NetworkModel::exact, 2'000'000) == Approx(2 * (latency + 1e-3)).epsilon(1e-9));
    // SimGrid's documentation: LV08 uses 13.01 times the latency and 0.97 of the bandwidth.
    CHECK(ring_of_two(NetworkModel::LV08, 0) == Approx(2 * 13.01 * latency).epsilon(1e-6));
    CHECK(ring_of_two(NetworkModel::LV08, 2'000'000) > 2 * (13.01 * latency + 1e-3 / 0.97) * 0.999);
    // CM02 as SimGrid ships it: the stated latency, but acknowledgements share the links.
    CHECK(ring_of_two(NetworkModel::CM02, 0) == Approx(2 * latency).epsilon(1e-6));
    CHECK(ring_of_two(NetworkModel::CM02, 2'000'000) > 2 * (latency + 1e-3) * 1.01);
    CHECK(ring_of_two(NetworkModel::SMPI, 2'000'000) > ring_of_two(NetworkModel::exact, 2'000'000));
    // Constant: every message takes the route's latency, whatever its size.
    CHECK(ring_of_two(NetworkModel::Constant, 2'000'000) == Approx(2 * latency).epsilon(1e-9));
}

TEST_CASE("servers on one sender's path share its link evenly", "[memory]") {
    // Three servers with slices of 3, 3 and 4 bytes and five workers: every server's link carries five flows, so a
    // phase takes 5·4 bytes over the link. An update of only some links, as SimGrid's lazy solver does, gives less.
    Cluster cluster = star(NetworkModel::exact);
    const CollectiveResult result = allreduce(cluster, 5, 3, "parameter-server", 10);
    CHECK(result.completion_time_s == Approx(2 * (2e-5 + 20e-9)).epsilon(1e-9));
}

TEST_CASE("an exchange that cannot end is reported as a bug, with the stuck streams", "[memory]") {
    for (const std::uint32_t members : {2u, 3u, 8u}) {
        CAPTURE(members);
        const std::string text = complaint(exchange_of(std::make_shared<const Stuck>(), members), 1);
        for (std::uint32_t member = 0; member < members; ++member)
            CHECK(contains(text, fmt::format("process {}: exchange 3 of iteration 0, step 0, repetition 0", member)));
        CHECK_FALSE(contains(text, "more"));
    }
}

TEST_CASE("with many stuck streams the first ones are named and the others counted", "[memory]") {
    const std::string text = complaint(exchange_of(std::make_shared<const Stuck>(), 60), 1);
    CHECK(contains(text, "process 0: "));
    CHECK(std::count(text.begin(), text.end(), '\n') == 9);
    CHECK(contains(text, "and 52 more"));
}

TEST_CASE("a mismatch after correct steps is reported at its step, with only the waiting members", "[memory]") {
    for (const std::uint32_t when : {0u, 1u, 4u}) {
        CAPTURE(when);
        const std::string text = complaint(exchange_of(std::make_shared<const LateMismatch>(when), 2), when + 1);
        CHECK(contains(text, fmt::format("process 0: exchange 3 of iteration {}, step 3, repetition 3", when)));
        CHECK_FALSE(contains(text, "process 1"));
    }
    // Where they agree, everything ends: ten messages each way.
    const TaskGraph graph = exchange_of(std::make_shared<const LateMismatch>(9), 2);
    CHECK(replay_isolated(star(NetworkModel::exact), graph, {3, 2}).messages == 2 * (1 + 5 + 1 + 3));
}

TEST_CASE("a member that has continued with the next iteration is reported as stuck there", "[memory]") {
    // Its partner's surplus message of iteration 0 meets the first message of its iteration 1, and so on to the end,
    // where the partner lacks one.
    const std::string text = complaint(exchange_of(std::make_shared<const LateMismatch>(0), 2), 3);
    CHECK(contains(text, "process 0: exchange 3 of iteration 2, step 3, repetition 2"));
    CHECK_FALSE(contains(text, "process 1"));
}

TEST_CASE("the program ends with exit code 70 and a request to report the bug if a simulation is stuck", "[memory]") {
    const TaskGraph graph = exchange_of(std::make_shared<const LateMismatch>(0), 2);
    std::FILE* const said = std::tmpfile();
    REQUIRE(said != nullptr);
    std::fflush(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(fileno(said), STDERR_FILENO);
        _exit(cli::guarded([&] {
            replay_isolated(star(NetworkModel::exact), graph, {});
            return 0;
        }));
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 70);
    std::rewind(said);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), said));
    std::fclose(said);
    CHECK(text.starts_with("bug in syncline "));
    CHECK(contains(text, "process 0: exchange 3 of iteration 0, step 3, repetition 3"));
    CHECK(contains(text, "Please report it"));
}
