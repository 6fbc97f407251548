#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Figures that ASTRA-sim publishes, by the arithmetic of its model and by ours (sim/import/README.md).

using namespace syncline::test;
using nlohmann::json;

namespace {

/// A ring of ASTRA-sim: collectives in pieces, one after the other.
struct Ring {
    std::int64_t pieces, steps, adding_steps;  ///< adding_steps: after which what has arrived is added
    std::int64_t message_bytes;
    double memory_GBps;
    double bandwidth_GiBps = 50, latency_ns = 500, delay_ns = 10;

    /// Whole nanoseconds, as ASTRA-sim counts: a step is a message (Link.cc) and the delay of its end (MemBus.cc), then
    /// a write to memory and two reads (PacketBundle.cc); a piece begins with a delay.
    std::int64_t astra_sim_ns() const {
        const auto whole = [](double ns) { return static_cast<std::int64_t>(ns); };
        const auto bytes = static_cast<double>(message_bytes);
        const std::int64_t message = whole(latency_ns + bytes / bytes_per_ns()), delay = whole(delay_ns),
                           access = whole(bytes / memory_GBps);
        return pieces * (delay + steps * (message + delay) + adding_steps * 3 * access);
    }
    /// The same without rounding.
    double exact_ns() const {
        const auto bytes = static_cast<double>(message_bytes);
        return static_cast<double>(pieces) *
               (delay_ns + static_cast<double>(steps) * (latency_ns + bytes / bytes_per_ns() + delay_ns) +
                static_cast<double>(adding_steps) * 3 * bytes / memory_GBps);
    }
    double bytes_per_ns() const { return bandwidth_GiBps * (1 << 30) / 1e9; }
};

std::string network(int npus) {
    return "topology: [ Ring ]\nnpus_count: [ " + std::to_string(npus) +
           " ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";
}

std::string system_of(int memory_GBps) {
    return R"({"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": 4, "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
        "collective-optimization": "localBWAware", "local-mem-bw": )" +
           std::to_string(memory_GBps) + ", \"peak-perf\": 900}";
}

struct Replayed {
    double iteration_ns, compute_ns, communication_ns, exposed_ns;
    std::string err;
};

/// Imports the trace with a ring of ASTRA-sim and its system, and runs it.
Replayed replayed(const std::string& trace, int npus, int memory_GBps, const std::vector<std::string>& settings = {}) {
    const TempDir folder;
    folder.write("trace.txt", trace);
    folder.write("ring.yml", network(npus));
    folder.write("system.json", system_of(memory_GBps));
    const Outcome imported =
        run_in(folder, {"import", "trace.txt", "ring.yml", "system.json", "--out", "scenario.yaml"});
    CAPTURE(imported.err);
    REQUIRE(imported.status == 0);
    std::vector<std::string> command{"run", "scenario.yaml", "--format", "json"};
    command.insert(command.end(), settings.begin(), settings.end());
    const Outcome outcome = run_in(folder, command);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json result = json::parse(outcome.out)["results"][0];
    const auto ns = [&](const char* key) { return result[key].get<double>() * 1e9; };
    return {ns("iteration_time_s"), ns("compute_time_s"), ns("communication_time_s"),
            ns("exposed_communication_time_s"), imported.err};
}

std::string one(const std::string& collective, std::int64_t bytes) {
    return "MICRO\n1\nexchange -1 0 NONE 0 0 NONE 0 0 " + collective + " " + std::to_string(bytes) + " 0\n";
}

constexpr std::int64_t mebibyte = 1 << 20;

}  // namespace

TEST_CASE("ASTRA-sim's micro-benchmarks: its figures by its rounding, ours by the same costs without") {
    // 1 MiB in 4 pieces on 8 NPUs: messages of 32 KiB, in 7 steps that add and 7 that do not.
    const Ring slow{4, 14, 7, mebibyte / 4 / 8, 50}, fast{4, 14, 7, mebibyte / 4 / 8, 1600};
    // Each of 16 NPUs gives 1 MiB: 15 messages of 256 KiB for each of 4 pieces; nothing is added.
    const Ring gather{4, 15, 0, mebibyte / 4, 1600};
    CHECK(slow.astra_sim_ns() == 117'780);
    CHECK(fast.astra_sim_ns() == 64'440);
    CHECK(gather.astra_sim_ns() == 323'560);

    const std::string reduce = one("ALLREDUCE", mebibyte);
    CHECK(replayed(reduce, 8, 50).iteration_ns == Approx(slow.exact_ns()).epsilon(1e-9));
    CHECK(replayed(reduce, 8, 1600).iteration_ns == Approx(fast.exact_ns()).epsilon(1e-9));
    CHECK(replayed(one("ALLGATHER", mebibyte), 16, 1600).iteration_ns == Approx(gather.exact_ns()).epsilon(1e-9));
    // By hand: 4 (10 + 14 (500 + 610.352 + 10) + 7·3·655.36) and so on.
    CHECK(slow.exact_ns() == Approx(117'829.9275));
    CHECK(fast.exact_ns() == Approx(64'500.0075));
    CHECK(gather.exact_ns() == Approx(323'608.75));
}

TEST_CASE("ASTRA-sim's text on its ring: the unit of compute, and the last all-reduce alone") {
    // Forward 100 + 200, backward of b 40 + 30, of a 20: 390 ns. b's gradients have 4096 B, a's 1024 B.
    const std::string trace =
        "DATA\n2\na -1 100 NONE 0 10 NONE 0 20 ALLREDUCE 1024 5\n"
        "b -1 200 NONE 0 30 NONE 0 40 ALLREDUCE 4096 5\n";
    const Ring a{4, 14, 7, 1024 / 4 / 8, 1600}, b{4, 14, 7, 4096 / 4 / 8, 1600};
    const Replayed right = replayed(trace, 8, 1600);
    CHECK(right.compute_ns == Approx(390));
    CHECK(right.communication_ns == Approx(a.exact_ns() + b.exact_ns()));
    // b's all-reduce begins after 340 ns and takes longer than the 50 ns of computation beside it.
    CHECK(right.iteration_ns == Approx(340 + b.exact_ns() + a.exact_ns()));
    CHECK_THAT(right.err, Catch::Matchers::ContainsSubstring("a unit of compute is 1 ns"));

    // Chakra's converter takes the numbers as microseconds: only the last all-reduce is exposed.
    const Replayed converted = replayed(trace, 8, 1600, {"--set", "trace.compute_unit=1 us"});
    CHECK(converted.compute_ns == Approx(390'000));
    CHECK(converted.exposed_ns == Approx(a.exact_ns()));
    CHECK(converted.iteration_ns == Approx(390'000 + a.exact_ns()));
}

TEST_CASE("ASTRA-sim's published ResNet-50: its figure is compute in the wrong unit and one small all-reduce") {
    // 1,082,450 ns of compute as microseconds, and an all-reduce whose messages take their latency alone. conv1 has
    // 37,632 B of gradients, so messages of 1176 B, which would be 21 ns longer on the ring of 50 GiB/s.
    const Ring published{4, 14, 7, 0, 1600};
    CHECK(1'082'450'000 + published.astra_sim_ns() == 1'082'478'600);
    const Ring ring{4, 14, 7, 37'632 / 4 / 8, 1600};
    CHECK(ring.astra_sim_ns() == published.astra_sim_ns() + 4 * 14 * 21);
}

TEST_CASE("networks of other simulators stand where platforms and fabrics may") {
    const TempDir folder;
    folder.write("ring.yml", network(8));
    folder.write("two.txt",
                 "6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n"
                 "4 5 400Gbps 1us 0\n");
    folder.write("tree.topo",
                 "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
                 "Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n");
    const auto time_us = [&](const std::string& platform, const std::string& ranks) {
        folder.write("scenario.yaml", "platform: " + platform +
                                          "\ncollective: {operation: allgather, algorithm: ring, bytes: " + ranks +
                                          " MB, ranks: " + ranks + ", channels: 1}\n");
        const Outcome outcome =
            run_in(folder, {"run", "scenario.yaml", "--set", "platform.device=h100-sxm", "--format", "json"});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["results"][0]["points"][0]["completion_time_s"].get<double>() * 1e6;
    };
    // 1 MB a step, 80 us at 12.5 GB/s. A block that goes round passes neighbours below one switch (2 us) and those of
    // two (3 us, or 4 us over a spine) in turn: 3 + 2 + 3 us in 3 steps, 4 · 4 + 3 · 2 us in 7.
    CHECK(time_us("ring.yml", "8") == Approx(7 * (0.5 + 1e6 / 53'687.0912)));
    CHECK(time_us("{fabric: two.txt}", "4") == Approx(3 * 80 + 8));
    CHECK(time_us("two.txt", "4") == Approx(3 * 80 + 8));
    CHECK(time_us("{fabric: tree.topo}", "8") == Approx(7 * 80 + 22));
    for (const char* file : {"ring.yml", "two.txt", "tree.topo"}) {
        CAPTURE(file);
        CHECK(run_in(folder, {"topology", file}).status == 0);
        CHECK(run_in(folder, {"topology", file, "--format", "svg"}).status == 0);
    }
    const Outcome without =
        run_in(folder, {"import", "ring.yml", "--out", "ring.yaml", "--set", "platform.device=h100-sxm"});
    CAPTURE(without.err);
    CHECK(without.status == 0);
    CHECK(run_in(folder, {"check", "ring.yaml"}).status == 0);
}

TEST_CASE("ASTRA-sim's text on two dimensions: nodes with rails") {
    const TempDir folder;
    folder.write("trace.txt", one("ALLREDUCE", mebibyte));
    folder.write("two.yml",
                 "topology: [Switch, Switch]\nnpus_count: [4, 2]\nbandwidth: [400, 50]\nlatency: [100, 500]\n");
    folder.write("system.json",
                 R"({"endpoint-delay": 0, "all-reduce-implementation": ["ring", "ring"], "peak-perf": 1})");
    const Outcome imported = run_in(folder, {"import", "trace.txt", "two.yml", "system.json", "--out", "two.yaml"});
    CAPTURE(imported.err);
    REQUIRE(imported.status == 0);
    const Outcome outcome = run_in(folder, {"run", "two.yaml", "--format", "json"});
    REQUIRE(outcome.status == 0);
    const double seconds = json::parse(outcome.out)["results"][0]["iteration_time_s"];
    // Four rings, each with a quarter of the bytes through a rail of its own: 14 messages of 32 KiB, of which each
    // takes at least 32 KiB / 53.687 GB/s, and 0.2 us of the node's switch.
    CHECK(seconds > 14 * (32'768 / 53.6870912e9));
    CHECK(seconds < 14 * (32'768 / 53.6870912e9 + 1.2e-6));
}

TEST_CASE("a trace on a foreign platform names what is missing or has no place") {
    const TempDir folder;
    folder.write("trace.txt", one("ALLREDUCE", 1024));
    folder.write("ring.yml", network(8));
    folder.write("config.json", R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
                                    "n_positions": 1024, "vocab_size": 50257})");
    const Outcome device = run_in(folder, {"import", "trace.txt", "ring.yml"});
    CHECK(device.status == 3);
    CHECK_THAT(device.err, Catch::Matchers::ContainsSubstring("the files say nothing of the device"));
    const Outcome model = run_in(folder, {"import", "trace.txt", "config.json", "--set", "platform=dgx-h100"});
    CHECK(model.status == 3);
    CHECK_THAT(model.err, Catch::Matchers::ContainsSubstring("a trace takes the place of a model"));
}

TEST_CASE("hostile networks are refused within a second", "[memory]") {
    const TempDir folder;
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& because) {
        CAPTURE(name);
        folder.write(name, text);
        for (const char* verb : {"import", "topology"}) {
            const Outcome outcome = run_in(folder, {verb, name});
            CHECK(outcome.status == 3);
            CHECK_THAT(outcome.err, Catch::Matchers::ContainsSubstring(because));
            CHECK(outcome.seconds < 5 * patience);
            CHECK(static_cast<double>(outcome.peak_kib) < 200 * 1024 * patience);
        }
    };
    refused("many.yml", "topology: [Ring]\nnpus_count: [1000000000]\nbandwidth: [1]\nlatency: [1]\n", "many.yml:2:14");
    refused("many.txt", "1000000000 1 1\n", "many.txt:1:1");
    refused("long.txt", "3 1 100000\n2\n" + std::string(100'000, '1') + "\n", "long.txt:3:1");
    refused("many.topo", "Nodes 1000000000\nTiers 2\nPodsize 1000000000\n", "many.topo:1:1");
    std::string cables = "100000 0 40000\n";
    for (int i = 0; i < 40'000; ++i) cables += std::to_string(i) + " " + std::to_string(i + 1) + " 1Gbps 1us 0\n";
    refused("cables.txt", cables, "node 40001 has no links");
}
