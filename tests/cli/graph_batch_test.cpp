#include <csignal>
#include <future>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// Batches whose platforms name files that are not YAML: graphs and traces. The files are found from any directory, and
// are those by which a run is called.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A study of rings of four nodes in the folder `in`: in two files and as a shape.
struct Rings : TempDir {
    Rings() {
        write("in/platform.yaml", R"(nodes: 4
device: {name: tiny, flops: 1 Tflops, memory_bandwidth: 100 TBps, reduction_rate: unlimited}
host: {reduction_rate: unlimited}
fabric: {bandwidth: 1 GBps, latency: none}
)");
        write("in/base.yaml",
              "platform: platform.yaml\n"
              "collective: {operation: allreduce, algorithm: ring, ranks: 4, bytes: 1 MB}\n");
        write("in/ring.dot", dot("1 GBps"));
        write("in/wire.dot", "graph { a -- b; b -- c; c -- d; d -- a }\n");
        write("in/wire.graphml", R"(<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
<node id="d"/><edge source="a" target="b"/><edge source="b" target="c"/><edge source="c" target="d"/>
<edge source="d" target="a"/></graph></graphml>)");
        write("in/study.yaml", R"(name: rings
base: base.yaml
axes:
  platform.fabric:
    - ring.dot
    - {topology: graph, file: wire.dot, bandwidth: 1 GBps, latency: none}
    - {topology: graph, file: wire.graphml, bandwidth: 1 GBps, latency: none}
    - {topology: ring, bandwidth: 1 GBps, latency: none}
  collective.bytes: [1 kB, 1 MB]
)");
    }

    static std::string dot(const std::string& bandwidth) {
        return "graph { edge [bandwidth=\"" + bandwidth + "\"]; a -- b; b -- c; c -- d; d -- a }\n";
    }

    Outcome in(const fs::path& directory, std::vector<std::string> arguments) const {
        return run_program({.arguments = std::move(arguments), .directory = path() / directory});
    }
};

/// A ring whose cables, in its file, have all that they need. Its many segments take long enough for a batch to be
/// disturbed.
constexpr std::string_view ring_base = R"(platform:
  nodes: 4
  device: {name: tiny, flops: 1 Tflops, memory_bandwidth: 100 TBps, reduction_rate: unlimited}
  host: {reduction_rate: unlimited}
  fabric: ring.dot
collective: {operation: allreduce, algorithm: segmented-ring, segment: 50 B, ranks: 4, bytes: 1 MB}
)";

std::string many_sizes(int points) {
    std::string study = "base: base.yaml\naxes:\n  collective.bytes: [1 kB";
    for (int i = 2; i <= points; ++i) study += ", " + std::to_string(i) + " kB";
    return study + "]\n";
}

/// A batch of one run at a time.
Invocation one_by_one(const Rings& rings) {
    return {.arguments = {"batch", "in/study.yaml", "--out", "out", "--jobs", "1"}, .directory = rings.path()};
}

}  // namespace

TEST_CASE("graph files: a fabric in a DOT or GraphML file works in batches, shards and merges") {
    const Rings rings;
    const Outcome whole = rings.in("", {"batch", "in/study.yaml", "--out", "out", "--jobs", "3"});
    CAPTURE(whole.err);
    REQUIRE(whole.status == 0);
    const std::vector<Line> times = query(
        rings / "out",
        "SELECT json_extract(result, '$.completion_time_s') FROM points JOIN runs USING (run_id) ORDER BY number");
    REQUIRE(times.size() == 8);
    for (std::size_t i = 0; i < 6; ++i) CHECK(times[i] == times[6 + i % 2]);  // as in the ring that is a shape

    const Outcome again = rings.in("in", {"batch", "study.yaml", "--out", "../out", "--resume"});
    CAPTURE(again.err);
    CHECK_THAT(again.err, ContainsSubstring("8 points: 8 done (8 before)"));
    for (const char* shard : {"1/2", "2/2"})
        CHECK(rings.in("", {"batch", "in/study.yaml", "--out", "parts", "--shard", shard}).status == 0);
    CHECK(rings.in("", {"results", "merge", "parts/shard-1-of-2", "parts/shard-2-of-2", "-o", "merged"}).status == 0);
    CHECK(content(rings / "merged") == content(rings / "out"));
    CHECK(rings.in("", {"explore", "in/study.yaml", "--out", "out", "--objective", "completion_time_s"}).status == 0);
}

TEST_CASE("graph files: what a fabric lacks is said at its place", "[memory]") {
    const Rings rings;
    rings.write("in/study.yaml", "base: base.yaml\naxes:\n  platform.fabric: [wire.dot, wire.graphml]\n");
    const Outcome outcome = rings.in("", {"batch", "in/study.yaml", "--out", "out"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err,
               ContainsSubstring("in/study.yaml:3:21: error: a fabric needs the 'bandwidth' of its cables") &&
                   ContainsSubstring("{topology: graph, file: …, bandwidth: 25 Gbps}"));
}

TEST_CASE("graph files: a batch that is killed and resumed from another directory finds its files") {
    const Rings rings;
    rings.write("in/study.yaml", many_sizes(200));
    rings.write("in/base.yaml", ring_base);
    const Outcome killed = disturbed(one_by_one(rings), [](const fs::path&) {
        for (const pid_t program : children_of(getpid())) kill(program, SIGKILL);
    });
    CAPTURE(killed.err);
    REQUIRE(killed.status == 128 + SIGKILL);
    REQUIRE(std::stoi(value(rings / "out", "SELECT count(*) FROM runs WHERE status = 'pending'")) > 0);
    const Outcome resumed = rings.in("in", {"batch", "study.yaml", "--out", "../out", "--resume"});
    CAPTURE(resumed.err);
    CHECK(resumed.status == 0);
    CHECK_THAT(resumed.err, ContainsSubstring("200 points: 200 done (") && ContainsSubstring("0 failed"));
    REQUIRE(rings.in("in", {"batch", "study.yaml", "--out", "../undisturbed"}).status == 0);
    const char* results = "SELECT run_id, status, result FROM runs ORDER BY run_id";
    CHECK(query(rings / "out", results) == query(rings / "undisturbed", results));
}

TEST_CASE("graph files: two programs share a store from different directories") {
    const Rings rings;
    rings.write("in/study.yaml", many_sizes(200));
    rings.write("in/base.yaml", ring_base);
    const auto other = std::async(std::launch::async, [&] { return run_program(one_by_one(rings)); });
    const Outcome here = rings.in("in", {"batch", "study.yaml", "--out", "../out", "--jobs", "1"});
    other.wait();
    CAPTURE(here.err);
    CHECK(here.status == 0);
    CHECK(value(rings / "out", "SELECT count(*) FROM runs WHERE status = 'done'") == "200");
    CHECK(value(rings / "out", "SELECT count(*) FROM attempts") == "200");
}

TEST_CASE("graph files: a run whose file changes before it starts fails instead of simulating another file") {
    const Rings rings;
    rings.write("in/study.yaml", many_sizes(300));
    rings.write("in/base.yaml", ring_base);
    const Invocation batch = one_by_one(rings);
    const Outcome changed = disturbed(batch, [&](const fs::path&) {
        fs::rename(rings.write("new.dot", Rings::dot("2 GBps")), rings / "in/ring.dot");
    });
    CAPTURE(changed.err);
    CHECK(changed.status == 1);
    CHECK_THAT(changed.err, ContainsSubstring("has changed since the batch began"));
    const auto times = [&] {
        std::vector<double> all;
        for (const Line& line : query(rings / "out",
                                      "SELECT json_extract(result, '$.completion_time_s') FROM points JOIN runs USING "
                                      "(run_id) WHERE status = 'done' ORDER BY number"))
            all.push_back(std::stod(line[0]));
        return all;
    };
    // Without latency, a ring's time is proportional to the size, but for copies inside devices.
    const std::vector<double> before = times();
    REQUIRE(before.size() > 10);
    REQUIRE(before.size() < 300);
    for (const std::size_t i : {std::size_t{9}, before.size() - 1})
        CHECK(before[i] == Approx(before[0] * static_cast<double>(i + 1)).epsilon(1e-3));
    const Outcome again = run_program(batch);
    CAPTURE(again.err);
    CHECK(again.status == 0);
    const std::vector<double> after = times();
    REQUIRE(after.size() == 300);
    CHECK(after[0] == Approx(before[0] / 2).epsilon(1e-3));
    CHECK(after[299] == Approx(before[0] / 2 * 300).epsilon(1e-3));
}
