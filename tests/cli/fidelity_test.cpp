#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"

// Tests `fidelity` as users see it: where it can be chosen, and where results report it.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Bench : TinyFiles {
    std::string output(std::vector<std::string> arguments) const {
        const Outcome outcome = run_in(*this, std::move(arguments));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    }

    json answer(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--format", "json"});
        return json::parse(output(std::move(arguments)));
    }
};

std::vector<std::string> collective(const std::vector<std::string>& more) {
    std::vector<std::string> all{"collective", "--platform", "platform.yaml", "--ranks", "8", "--bytes", "1MB"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::vector<std::string> run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"run", "scenario.yaml"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

void check_counts(const json& result, const std::string& fidelity) {
    CAPTURE(result.dump());
    CHECK(result.at("fidelity") == fidelity);
    CHECK(result.at("messages_simulated").is_number_unsigned());
    CHECK(result.at("messages_folded").is_number_unsigned());
    CHECK(result.at("folding_error_s").get<double>() >= 0);
    CHECK(result["messages_simulated"].get<std::uint64_t>() + result["messages_folded"].get<std::uint64_t>() ==
          result.at("messages"));
    if (fidelity == "message") {
        CHECK(result["messages_folded"] == 0);
        CHECK(result["folding_error_s"] == 0);
    }
}

const std::string recorded = "folded: nothing (fidelity: folded, because every message is recorded)";

}  // namespace

TEST_CASE("fidelity: an exchange alone takes it as an option and as a key, with the same time") {
    const Bench bench;
    const json plain = bench.answer(collective({}));
    check_counts(plain, "message");
    for (const std::vector<std::string>& asked :
         {std::vector<std::string>{"--fidelity", "folded"}, std::vector<std::string>{"--set", "fidelity=folded"}}) {
        const json folded = bench.answer(collective(asked));
        check_counts(folded, "folded");
        CHECK(folded["messages"] == plain["messages"]);
        CHECK(folded["completion_time_s"].get<double>() ==
              Approx(plain["completion_time_s"].get<double>()).epsilon(1e-9));
        CHECK(holds(bench.output(collective(asked)), "\nfolded: "));
    }
    check_counts(bench.answer(collective({"--fidelity", "auto"})), "message");
    CHECK(!holds(bench.output(collective({})), "folded"));
}

TEST_CASE("fidelity: each variant of a training has its own") {
    const Bench bench;
    const json plain = bench.answer(run())["results"];
    const json results =
        bench.answer(run({"--set", "training.fidelity=folded", "--set", "variants.later.training.fidelity=message"}));
    // What --set assigns to all variants is applied last.
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const json& folded = results["results"][i];
        check_counts(plain[i], "message");
        check_counts(folded, "folded");
        CHECK(plain[i]["iterations_folded"] == 0);
        CHECK(folded["iteration_time_s"].get<double>() ==
              Approx(plain[i]["iteration_time_s"].get<double>()).epsilon(1e-9));
    }
    const json one = bench.answer(run({"--set", "variants.later.training.fidelity=folded"}))["results"];
    check_counts(one[0], "message");
    check_counts(one[1], "folded");
    const std::string table = bench.output(run({"--set", "variants.later.training.fidelity=folded"}));
    CHECK(holds(table, "\nlater: folded: "));
    CHECK(!holds(table, "\nring: folded: "));
}

TEST_CASE("fidelity: a sweep reports it for all sizes together", "[memory]") {
    const Bench bench;
    bench.write("curve.yaml",
                "platform: platform.yaml\ncollective: {operation: allreduce, ranks: 8, fidelity: folded, sweep: "
                "{bytes: [1 kB, 1 MB]}}\n");
    const json curve = bench.answer({"run", "curve.yaml"})["results"][0];
    CHECK(curve["fidelity"] == "folded");
    // Each size is a ring of 2 * 7 * 8 messages, with a barrier before each and after the last.
    CHECK(curve["messages_simulated"].get<int>() + curve["messages_folded"].get<int>() >= 2 * 2 * 7 * 8);
    CHECK(holds(bench.output({"run", "curve.yaml"}), "\nfolded: "));
}

TEST_CASE("fidelity: auto reports its choice", "[memory]") {
    const Bench bench;
    const std::string few = bench.output(collective({"--fidelity", "auto"}));
    CHECK(holds(few, "folded: nothing (fidelity: auto, because 112 messages are not more than 1000000)"));
    CHECK(holds(bench.output(run({"--set", "training.fidelity=auto"})),
                "ring: folded: nothing (fidelity: auto, because "));

    const std::vector<std::string> large{
        "collective", "--platform", "platform.yaml",      "--ranks",    "708",  "--bytes",
        "1MB",        "--set",      "platform.nodes=708", "--fidelity", "auto", "--dry-run"};
    const json dry = bench.answer(large)["dry_run"][0];
    CHECK(dry["fidelity"] == "folded");
    CHECK(dry["fidelity_why"] == "1001112 messages are more than 1000000");
    const std::string table = bench.output(large);
    CHECK(holds(table, "\nfidelity: folded [1]\n"));
    CHECK(holds(table, "\n[1] fidelity: auto, because 1001112 messages are more than 1000000\n"));
    CHECK(bench.answer(collective({"--dry-run"}))["dry_run"][0]["fidelity"] == "message");
}

TEST_CASE("fidelity: averaged latencies are reported, and no bound on the error", "[memory]") {
    const Bench bench;
    const std::vector<std::string> averaged = run(
        {"--variant", "ring", "--set", "training.fidelity=averaged", "--set", "training.ranks=6", "--set",
         "workload={name: even, input: [1, 1, 1], layers: [{name: l, kind: custom, parameters: 60000, macs: 1000}]}",
         "--set",
         "platform={nodes: 6, device: {flops: 1 Gflops}, host: {reduction_rate: 1 GBps}, fabric: {topology: rails, "
         "rails: 1, nodes_per_group: 4, spines: 1, bandwidth: [8 Gbps, 32 Gbps], latency: 1 us}}"});
    const json result = bench.answer(averaged)["results"][0];
    CHECK(result["fidelity"] == "folded");
    CHECK(result["folding_error_s"].is_null());
    const std::string table = bench.output(averaged);
    CHECK(holds(table, "(each simulated rank stands for 6 that are alike); latencies that differ by up to 2 us are"));
    CHECK(holds(table, "(fidelity: averaged)"));
    std::vector<std::string> folded = averaged;
    folded[5] = "training.fidelity=folded";
    CHECK(bench.answer(folded)["results"][0]["folding_error_s"].is_number());
}

TEST_CASE("fidelity: adaptive routes exclude folding only if some route has an alternative", "[memory]") {
    const Bench bench;
    const std::vector<std::string> adaptive{"--fidelity", "folded", "--set",
                                            "platform.routing.policy=adaptive-at-start"};
    CHECK(bench.answer(collective(adaptive))["fidelity"] == "folded");
    std::vector<std::string> torus = adaptive;
    torus.insert(torus.end(), {"--set", "platform.fabric={topology: torus, bandwidth: 8 Gbps, latency: 1 us}"});
    CHECK(bench.answer(collective(torus))["fidelity"] == "message");
    CHECK(holds(bench.output(collective(torus)), "folded: nothing"));
}

TEST_CASE("fidelity: recording every message disables folding, and the output says so") {
    const Bench bench;
    const auto with = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--set", "training.fidelity=folded"});
        return arguments;
    };
    CHECK(holds(bench.output(with({"explain", "scenario.yaml", "--no-what-if"})), recorded));
    CHECK(holds(bench.output(with(run({"--report", "page.html"}))), "ring: " + recorded));
    CHECK(holds(read_file(bench / "page.html"), recorded));
    const json traced = bench.answer(with(run({"--trace", "chrome"})))["results"];
    for (const json& result : traced) check_counts(result, "message");
}

TEST_CASE("fidelity: it can be an axis of a study, and is part of a run's identity", "[memory]") {
    const Bench bench;
    bench.write("exchange.yaml", small_exchange);
    bench.write("study.yaml", "base: exchange.yaml\naxes:\n  collective.fidelity: [message, folded, auto]\n");
    bench.output({"batch", "study.yaml", "--out", "out"});
    CHECK(value(bench / "out", "SELECT count(DISTINCT run_id) FROM points") == "3");
    const json rows = bench.answer(
        {"results", "out", "--columns", "fidelity,messages,messages_simulated + messages_folded"})["points"];
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["fidelity"] == "message");
    CHECK(rows[1]["fidelity"] == "folded");
    CHECK(rows[2]["fidelity"] == "auto");
    for (const json& row : rows) CHECK(row["messages"] == row["messages_simulated + messages_folded"]);
}

TEST_CASE("fidelity: folded is refused on a platform of SimGrid's format, auto is not", "[memory]") {
    const Bench bench;
    bench.write("two.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="l" bandwidth="1GBps" latency="10us"/>
  <route src="a" dst="b"><link_ctn id="l"/></route>
</zone></platform>
)");
    bench.write("native.yaml", "simgrid_xml: two.xml\n");
    const auto on_native = [&](const std::string& fidelity) {
        return run_in(bench, {"collective", "--platform", "native.yaml", "--ranks", "2", "--bytes", "1MB", "--fidelity",
                              fidelity});
    };
    const Outcome refused = on_native("folded");
    CHECK(refused.status == 3);
    CHECK(holds(refused.err, "--fidelity:1:"));
    CHECK(holds(refused.err, "hint: its links may change with time"));
    const Outcome automatic = on_native("auto");
    CHECK(automatic.status == 0);
    CHECK(holds(automatic.out, "(fidelity: auto, because links of a SimGrid platform file may change with time)"));
}

TEST_CASE("fidelity: replicas of which one gets ahead of the other, until they meet on a link, are not taken as steady",
          "[memory]") {
    // Each microbatch takes ranks 0 and 2 8.123 ms and, with the slower rank, 1 and 3 8.139 ms. Their exchanges share
    // the ring's links, which only the sixth microbatch shows.
    Bench bench;
    bench.write("ahead.yaml", R"(name: ahead
platform:
  name: p
  device:
    {name: d, flops: 1 Tflops, memory_bandwidth: 1 TBps, reduction_rate: unlimited,
     layer_times: {w: {batch: 1, source: a test, layers: {l0: {forward: 0.8908 ms, backward: 1.5963 ms}}}}}
  per_node: {devices: 1, nics: 1, links: {pattern: switch, bandwidth: 10 GBps, latency: none}}
  fabric: {topology: ring, bandwidth: 384 MBps, latency: 20 us}
workload:
  name: w
  input: [960, 1, 1]
  layers: [{name: l0, kind: dense, inputs: 960, outputs: 960, bias: false}]
training:
  ranks: 4
  batch_per_rank: 100
  compute: measured
  iterations: 1
  placement: random
  parallelism: {model: 2, pipeline: {stages: 1, micro_batches: 100}, gradient_sync: each-micro-batch, sharding: parameters}
  stragglers: {ranks: [1], slowdown: 1.02}
)");
    const auto seconds = [&](const char* fidelity) {
        const json answer = bench.answer({"run", "ahead.yaml", "--set", std::string("training.fidelity=") + fidelity});
        return answer["results"][0]["iteration_time_s"].get<double>();
    };
    CHECK(seconds("folded") == Approx(seconds("message")).epsilon(1e-9));
}
