#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/analysis/trace_experiment.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/replay/scripted.hpp"

// GOAL in the LogGP model (A. Alexandrov et al., SPAA 1995), worked out by hand. A message of k bytes is sent at s and
// has been received at s + o + G(k - 1) + L + o; a sender's next message leaves max(g, Gk) later. Where LogGP counts
// the bytes after the first, our links carry all: k - 1 is k here. The gap g is 0, and no processor is busy when it has
// an overhead. L = 3 us, o = 0.5 us, G = 0.1 ns/B.

using namespace syncline;
using namespace syncline::test;

namespace {

constexpr double us = 1e-6, L = 3 * us, o = 0.5 * us, G = 1e-10;

double seconds(const std::string& goal) {
    const TempDir directory;
    TracePlan plan;
    plan.trace = std::make_shared<const ExecutionTrace>(read_trace({directory.write("x.goal", goal).string()}, {}));
    Cluster cluster = star_cluster(plan.trace->ranks, 1 / G, L / 2);
    cluster.transport.between.send_overhead_s = o;
    cluster.transport.between.receive_overhead_s = o;
    return simulate(cluster, plan).time.iteration_s;
}

/// From the call of send to the return of receive.
constexpr double message(double bytes) {
    return o + G * bytes + L + o;
}

}  // namespace

TEST_CASE("GOAL: a message and its answer take LogGP's time", "[memory]") {
    const std::string ping = R"(num_ranks 2
rank 0 {
a: calc 1000
s: send 20000b to 1 tag 1
s requires a
r: recv 50000b from 1 tag 2
b: calc 700
b requires r
}
rank 1 {
r: recv 20000b from 0 tag 1
c: calc 2000
c requires r
s: send 50000b to 0 tag 2
s requires c
}
)";
    // 1 us, 2 + 4 us, 2 us, 5 + 4 us, 0.7 us.
    CHECK(seconds(ping) == Approx(1 * us + message(20'000) + 2 * us + message(50'000) + 0.7 * us).epsilon(1e-12));
    CHECK(seconds(ping) == Approx(18.7 * us).epsilon(1e-12));
}

TEST_CASE("GOAL: messages of one sender follow each other at its gap per byte", "[memory]") {
    // The root sends to three ranks at once. LogGP: the last byte of the i-th leaves after i messages; the last arrives
    // at o + 3Gk + L + o. Each of the three computes 1 us and sends 8 B back, which arrive together, one after another.
    std::string text = "num_ranks 4\nrank 0 {\n";
    for (int rank = 1; rank < 4; ++rank)
        text += fmt::format("s{0}: send 30000b to {0} tag 0\nr{0}: recv 8b from {0} tag 0\n", rank);
    text += "}\n";
    for (int rank = 1; rank < 4; ++rank)
        text += fmt::format(
            "rank {} {{\nr: recv 30000b from 0 tag 0\nc: calc 1000\nc requires r\n"
            "s: send 8b to 0 tag 0\ns requires c\n}}\n",
            rank);
    CHECK(seconds(text) == Approx(o + 3 * G * 30'000 + L + o + 1 * us + o + 3 * G * 8 + L + o).epsilon(1e-9));
}

TEST_CASE("GOAL: what starts with another task does not wait for its end", "[memory]") {
    // The computation of 5 us starts when the receive does; the receive ends at 1 us + 4 us + 10 us.
    CHECK(seconds("num_ranks 2\nrank 0 {\na: calc 1000\ns: send 100000b to 1\ns requires a\n}\n"
                  "rank 1 {\nr: recv 100000b from 0\nc: calc 5000\nc irequires r\nd: calc 500\nd requires r\n"
                  "d requires c\n}\n") == Approx(1 * us + message(100'000) + 0.5 * us).epsilon(1e-12));
}

TEST_CASE("GOAL: an exported training takes LogGP's time") {
    // One layer of a million multiplications at 1 TFLOP/s: 2 us forward, and 2 us for the gradient of its 250,000
    // weights. The ring of four has 2(N - 1) steps with a fourth of 1 MB; each sends when the step before has received.
    const TempDir directory;
    directory.write("platform.yaml",
                    "{nodes: 4, device: {name: d, flops: 1 Tflops, memory_bandwidth: 100 TBps, "
                    "reduction_rate: unlimited}, fabric: {bandwidth: 1 GBps, latency: 1 us}}\n");
    directory.write(
        "model.yaml",
        "{name: one, input: [1, 1, 1], layers: [{name: l, kind: custom, parameters: 250000, macs: 1000000}]}\n");
    directory.write("scenario.yaml",
                    "{platform: platform.yaml, workload: model.yaml, training: {ranks: 4, batch: 4, iterations: 1, "
                    "algorithm: ring, input_copy: none}}\n");
    const Outcome outcome = run_in(directory, {"export", "scenario.yaml", "--as", "goal", "--out", "x.goal"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(seconds(read_file(directory / "x.goal")) == Approx(4 * us + 6 * message(250'000)).epsilon(1e-9));
    CHECK(seconds(read_file(directory / "x.goal")) == Approx((4 + 6 * (25 + 4)) * us).epsilon(1e-9));
}
