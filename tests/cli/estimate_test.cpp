
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// Tests that simulations too large to end are refused before anything is built, with an estimate and ways out.

using namespace syncline::test;
using nlohmann::json;

namespace {

std::vector<std::string> collective(const std::string& ranks, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"collective", "--platform", "platform.yaml", "--set", "platform.nodes=100000",
                                 "--ranks",    ranks,        "--bytes",       "1MB"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

void check_cheap(const Outcome& outcome) {
    CHECK(static_cast<double>(outcome.peak_kib) < 488'000 * patience);
}

}  // namespace

TEST_CASE("estimate: a simulation of too many messages is refused at once, with the estimate and ways out") {
    const TinyFiles files;
    const Outcome ring = run_in(files, collective("100000"));
    CAPTURE(ring.err);
    CHECK(ring.status == 3);
    CHECK(
        holds(ring.err, "--ranks:1:1: error: this operation simulates about 20 billion messages, more than 2 billion"));
    CHECK(holds(ring.err, "hint: use `fidelity: folded` or fewer ranks; `--force` simulates it anyway"));
    check_cheap(ring);

    const Outcome direct = run_in(files, collective("100000", {"--operation", "all-to-all", "--fidelity", "folded"}));
    CAPTURE(direct.err);
    CHECK(direct.status == 3);
    CHECK(holds(direct.err, "simulates about 10 billion messages"));
    CHECK(holds(direct.err, "of memory, more than 80 % of the "));
    CHECK(holds(direct.err, "hint: use fewer ranks; "));  // folding does not help: no step repeats
    check_cheap(direct);

    files.write("many.yaml", "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 100000}\n");
    const Outcome training = run_in(files, {"run", "many.yaml", "--set", "platform.nodes=100000"});
    CAPTURE(training.err);
    CHECK(training.status == 3);
    CHECK(holds(training.err, "many.yaml:3:1: "));
    CHECK(holds(training.err, "error: variant 'base' simulates about "));
    check_cheap(training);
}

TEST_CASE("estimate: rings of many ranks that are folded are simulated") {
    const TinyFiles files;
    const Outcome ring = run_in(files, collective("20000", {"--fidelity", "folded"}));
    CAPTURE(ring.err);
    CHECK(ring.status == 0);
}

TEST_CASE("estimate: with averaged latencies only the ranks that stand for others count", "[memory]") {
    // Blocks of 96 ranks are equal.
    const TinyFiles files;
    files.write("workload.yaml",
                "name: even\ninput: [1, 1, 1]\nlayers:\n"
                "  - {name: first, kind: custom, parameters: 960, macs: 1000000}\n"
                "  - {name: second, kind: custom, parameters: 249600, macs: 3000000}\n");
    const auto simulation = [&](const std::string& fidelity) {
        const std::vector<std::string> dry{
            "run",
            "scenario.yaml",
            "--variant",
            "ring",
            "--dry-run",
            "--format",
            "json",
            "--set",
            "training.fidelity=" + fidelity,
            "--set",
            "training.ranks=96",
            "--set",
            "platform={nodes: 96, device: {flops: 1 Gflops}, host: {reduction_rate: 1 GBps}, fabric: {topology: "
            "rails, rails: 1, nodes_per_group: 32, spines: 1, bandwidth: [8 Gbps, 256 Gbps], latency: 1 us}}"};
        const Outcome outcome = run_in(files, dry);
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["dry_run"][0]["simulation"];
    };
    const json folded = simulation("folded"), averaged = simulation("averaged");
    CHECK(averaged["messages"] == folded["messages"]);
    // Of the 96 ranks, three groups of 32 are alike to the last digit.
    CHECK(averaged["messages_simulated"].get<double>() == Approx(folded["messages_simulated"].get<double>() / 32));
    CHECK(averaged["memory_bytes"] < folded["memory_bytes"]);
    CHECK(averaged["wall_time_s"] < folded["wall_time_s"]);
}

TEST_CASE("estimate: ranks on a fabric with several ways stand for others where the run lets them") {
    const TinyFiles files;
    files.write("llama.yaml",
                "platform: llama3-roce\nworkload: llama-3-405b\ntraining:\n"
                "  {ranks: 1024, batch_per_rank: 16, iterations: 1, optimizer: adam, fidelity: averaged,\n"
                "   parallelism: {model: 8, data: 8, sequence: true, sharding: optimizer,\n"
                "                 pipeline: {stages: 16, micro_batches: 16}}}\n");
    const auto results = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"run", "llama.yaml", "--format", "json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_in(files, arguments);
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out);
    };
    // D-mod-k chooses by position, and a hash does not: all messages count.
    const json estimate = results({"--dry-run"})["dry_run"][0]["simulation"];
    const json run = results({"--allow-oom"})["results"][0];
    CHECK(estimate["messages_simulated"] == run["messages_simulated"]);
    CHECK(run["messages_simulated"].get<double>() < 0.5 * run["messages"].get<double>());
    const json hashed = results({"--dry-run", "--set", "platform.routing.policy=ecmp"})["dry_run"][0]["simulation"];
    CHECK(hashed["messages_simulated"] == hashed["messages"]);
}

TEST_CASE("estimate: a dry run estimates messages, memory and time, and refuses nothing", "[memory]") {
    const TinyFiles files;
    const Outcome table = run_in(files, collective("1000", {"--dry-run"}));
    CHECK(table.status == 0);
    CHECK(holds(table.out, "simulation: about 2 million messages in 1 iteration, "));
    const json dry =
        json::parse(run_in(files, collective("1000", {"--dry-run", "--format", "json"})).out)["dry_run"][0];
    const json& simulation = dry["simulation"];
    CHECK(simulation["messages"] == 1000 * 2 * 999);
    CHECK(simulation["messages_simulated"] == simulation["messages"]);
    CHECK(simulation["iterations"] == 1);
    CHECK(simulation["memory_bytes"].get<double>() > 1e7);
    CHECK(simulation["wall_time_s"].get<double>() > 0);
    const Outcome large = run_in(files, collective("100000", {"--dry-run"}));
    CHECK(large.status == 0);
    CHECK(holds(large.err, "note: this operation simulates about 20 billion messages, more than 2 billion"));
    CHECK(holds(large.err, "; `--force` begins it\n"));
}

TEST_CASE("estimate: the estimate of the memory is near what a simulation takes") {
#if !defined(SYNCLINE_SANITIZED)
    const TinyFiles files;
    const auto compare = [&](const std::vector<std::string>& arguments) {
        CAPTURE(arguments);
        std::vector<std::string> dry = arguments;
        dry.insert(dry.end(), {"--dry-run", "--format", "json"});
        const json run = json::parse(run_in(files, dry).out)["dry_run"][0];
        const Outcome simulated = run_in(files, arguments);
        REQUIRE(simulated.status == 0);
        const double ratio =
            run["simulation"]["memory_bytes"].get<double>() / (1024.0 * static_cast<double>(simulated.peak_kib));
        CHECK(ratio > 0.4);
        CHECK(ratio < 2.5);
    };
    compare(collective("600", {"--operation", "all-to-all"}));
    compare(collective("20000", {"--algorithm", "rabenseifner"}));
    compare(collective("20000", {"--algorithm", "binomial-tree"}));
    files.write("many.yaml",
                "platform: platform.yaml\nworkload: workload.yaml\n"
                "training: {ranks: 20000, batch_per_rank: 8, fidelity: folded}\n");
    compare({"run", "many.yaml", "--set", "platform.nodes=20000"});
#endif
}

TEST_CASE("estimate: what needs more memory than there is is refused, or forced and ends as out of memory") {
#if !defined(SYNCLINE_SANITIZED)
    const TinyFiles files;
    const std::vector<std::string> direct = collective("2000", {"--operation", "all-to-all"});
    std::vector<std::string> forced = direct;
    forced.push_back("--force");
    const Limit limit(RLIMIT_AS, 600'000'000);
    const Outcome refused = run_in(files, direct);
    CAPTURE(refused.err);
    CHECK(refused.status == 3);
    CHECK(holds(refused.err,
                "needs about 3.1 GB of memory, more than 80 % of the 600 MB of this machine; it would take"));
    const Outcome outcome = run_in(files, forced);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(holds(outcome.err, "note: this operation needs about 3.1 GB"));
    CHECK(holds(outcome.err, "memory"));
#endif
}

TEST_CASE("estimate: reading files is out of memory with a clear error") {
#if !defined(SYNCLINE_SANITIZED)
    const TinyFiles files;
    std::string scenario = "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 4}\nvariants:\n";
    for (int i = 0; i < 3'000; ++i) scenario += "  v" + std::to_string(i) + ": {}\n";
    files.write("scenario.yaml", scenario);
    for (const rlim_t bytes : std::vector<rlim_t>{70'000'000, 80'000'000}) {
        const Limit limit(RLIMIT_AS, bytes);
        for (const char* verb : {"check", "run"}) {
            const Outcome outcome = run_in(files, {verb, "scenario.yaml"});
            CAPTURE(verb, bytes, outcome.err);
            CHECK(outcome.status == 1);
            CHECK(holds(outcome.err, "error: out of memory\n"));
        }
    }
#endif
}
