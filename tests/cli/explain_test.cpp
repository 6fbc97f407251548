#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Tests the output and the errors of `explain`.

using namespace syncline::test;
using nlohmann::json;

namespace {

json explained(const TinyFiles& tiny, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"explain", "scenario.yaml", "--format", "json"});
    const Outcome outcome = run_in(tiny, std::move(more));
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out);
}

}  // namespace

TEST_CASE("explain: JSON has the documented fields, and they add up") {
    const TinyFiles tiny;
    const json report = explained(tiny);
    CHECK(report["name"] == "tiny-run");
    REQUIRE(report["explanations"].size() == 3);
    for (const json& e : report["explanations"]) {
        CAPTURE(e["variant"]);
        const double window_s = e["window_s"];
        CHECK(e["level"] == "messages");
        CHECK(e["ranks"].size() == 4);
        for (const json& rank : e["ranks"]) {
            double sum_s = 0;
            for (const char* part :
                 {"compute_s", "exposed_communication_s", "reduction_s", "copies_s", "waiting_s", "idle_s"})
                sum_s += rank[part].get<double>();
            CHECK(sum_s == Approx(window_s).epsilon(1e-9));
        }
        double path_s = 0;
        for (const json& piece : e["critical_path"])
            path_s += piece["end_s"].get<double>() - piece["start_s"].get<double>();
        CHECK(path_s == Approx(e["iterations"].get<double>() * e["iteration_time_s"].get<double>()).epsilon(1e-9));
        CHECK(e["theory"]["simulated_s"] == e["iteration_time_s"]);
        CHECK(e["theory"]["lower_bound_s"].get<double>() <= e["iteration_time_s"].get<double>() * (1 + 1e-9));
        // Each resource, and overlap for `later`, slices for `servers`.
        CHECK(e["what_if"].size() == (e["variant"] == "ring" ? 8 : 9));
        CHECK(e["diagnosis"].get<std::string>().starts_with("Limited by "));
        CHECK(!e["links"].empty());
    }
    // The numbers are those of `run`.
    const Outcome run = run_in(tiny, {"run", "scenario.yaml", "--format", "json"});
    const json results = json::parse(run.out);
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(results["results"][i]["iteration_time_s"] == report["explanations"][i]["iteration_time_s"]);
    CHECK(explained(tiny) == report);
}

TEST_CASE("explain: a link's utilisation is that of run, also if exchanges of one iteration reach into others") {
    const std::string study = shipped("scenarios/zhang-2021.yaml"), variant = "alexnet-parameter-server";
    const auto ask = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {study, "--variant", variant, "--format", "json"});
        const Outcome outcome = run_program({.arguments = arguments});
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out);
    };
    const json run = ask({"run"})["results"][0], link = run["links"][0];
    const json explained = ask({"explain", "--no-what-if"})["explanations"][0]["links"][0];
    // The server of fc6 sends its 9216 x 4096 weights and 4096 biases, in 4 bytes, to 32 workers at 25 Gbps.
    const double sent_s = 32 * 4.0 * (9216 * 4096 + 4096) / (25e9 / 8);
    CHECK(link["link"] == "host-37->switch-0");
    CHECK(explained["link"] == link["link"]);
    CHECK(link["utilisation"].get<double>() == Approx(sent_s / run["iteration_time_s"].get<double>()).epsilon(1e-6));
    CHECK(explained["utilisation"].get<double>() == Approx(link["utilisation"].get<double>()).epsilon(0.01));
}

TEST_CASE("explain: kernels, waits and the optimizer's step add up to what the device computes") {
    const TempDir here;
    const std::string published = SYNCLINE_SOURCE_DIR "/scenarios/published/";
    struct Row {
        std::string scenario, variant, set;
        bool one_rank;  // so that the iteration is computation alone
    };
    for (const auto& [scenario, variant, set, one_rank] :
         {Row{published + "h100-language.yaml", "gpt-2", "training.iterations=1", true},
          Row{published + "h100-models.yaml", "resnet-50", "training.iterations=1", true},
          Row{published + "h100-blocks.yaml", "gpt2 8x1024 host", "training.iterations=1", true},
          Row{"llama-3-8b-fsdp", "base", "training.recomputation=operators", false},
          Row{"llama-3-8b-fsdp", "base", "training.parallelism.pipeline.micro_batch_size=1", false}}) {
        CAPTURE(scenario, variant, set);
        std::vector<std::string> arguments{"explain", scenario,       "--variant", variant, "--set",
                                           set,       "--no-what-if", "--format",  "json",  "--allow-oom"};
        // Otherwise exchanges slow kernels down by an amount that is a row of its own, with the rest.
        if (!one_rank) arguments.insert(arguments.end(), {"--set", "platform.transport.exchange_multiprocessors=0"});
        const Outcome outcome = run_in(here, arguments);
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        const json e = json::parse(outcome.out)["explanations"][0];
        const json last = e["ranks"][e["last_rank"].get<std::size_t>()];
        double sum_s = 0;
        for (const json& one : e["kernels"]) {
            sum_s += one["seconds"].get<double>();
            CHECK(one["kernel"] != "slower beside exchanges, chunks of GEMMs, jitter, stragglers");
            if (!one["pass"].is_null()) CHECK(one["count"].get<double>() >= 1);
        }
        CHECK(e["kernels"].size() > 10);
        CHECK(sum_s == Approx(last["compute_s"].get<double>()).epsilon(1e-9));
        if (one_rank) CHECK(sum_s == Approx(e["iteration_time_s"].get<double>()).epsilon(1e-9));
    }
    // A measured throughput says nothing about kernels.
    const Outcome whole = run_in(here, {"explain", "zhang-2021", "--no-what-if", "--format", "json"});
    REQUIRE(whole.status == 0);
    CHECK(json::parse(whole.out)["explanations"][0]["kernels"].empty());
}

TEST_CASE("explain: a faster memory shortens measured kernels that wait for it") {
    const TempDir here;
    const std::string scenario = SYNCLINE_SOURCE_DIR "/scenarios/published/h100-language.yaml";
    const Outcome outcome = run_in(here, {"explain", scenario, "--variant", "gpt-2", "--what-if", "memory x1000",
                                          "--format", "json", "--allow-oom"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json e = json::parse(outcome.out)["explanations"][0];
    double waiting_s = 0, fixed_s = 0;  // of kernels that wait for the memory, and their fixed costs of 1.2 us
    for (const json& one : e["kernels"]) {
        if (one["bound"] != "memory" || one["kernel"] == "logits") continue;
        waiting_s += one["seconds"].get<double>();
        fixed_s += one["count"].get<double>() * 1.2e-6;
    }
    CHECK(waiting_s > 0.2 * e["iteration_time_s"].get<double>());
    const double saved_s = e["iteration_time_s"].get<double>() - e["what_if"][0]["iteration_time_s"].get<double>();
    CHECK(saved_s >= 0.99 * (waiting_s - fixed_s) * 0.999);
}

TEST_CASE("explain: one variant and chosen changes can be explained, or no change") {
    const TinyFiles tiny;
    const json one = explained(tiny, {"--variant", "later", "--what-if", "link:nic x4", "--what-if", "batch x0.5"});
    REQUIRE(one["explanations"].size() == 1);
    const json& changes = one["explanations"][0]["what_if"];
    REQUIRE(changes.size() == 2);
    CHECK(changes[0]["change"] == "link:nic x4");
    CHECK(changes[0]["speed_up"] > 1.0);
    CHECK(changes[1]["change"] == "batch x0.5");
    const json none = explained(tiny, {"--no-what-if"});
    CHECK(none["explanations"][0]["what_if"].empty());
    const Outcome table = run_in(tiny, {"explain", "scenario.yaml", "--what-if", "latency x0.5"});
    CHECK(table.status == 0);
    for (const char* words : {"Time breakdown by rank", "Critical path", "Busiest links", "lower bound", "latency x0.5",
                              "links have 0.5 times the latency"})
        CHECK(table.out.find(words) != std::string::npos);
    const Outcome csv = run_in(tiny, {"explain", "scenario.yaml", "--no-what-if", "--format", "csv"});
    CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 1 + 3 * 4);
}

TEST_CASE("explain: the text says why there is no closed form, and small shares are not shown as zero") {
    const TinyFiles tiny;
    const auto shows = [&](const std::string& setting, const std::string& words) {
        const Outcome outcome = run_in(tiny, {"explain", "scenario.yaml", "--no-what-if", "--variant", "ring", "--set",
                                              "variants.servers=~", "--set", setting});
        CAPTURE(setting, outcome.out, outcome.err);
        CHECK(outcome.out.find(words) != std::string::npos);
        CHECK(outcome.out.find(" 0.0 %") == std::string::npos);
    };
    shows("training.ranks=4", "  formula, for exchanges of S bytes: ");
    shows("training.ranks=4", "- difference from the closed form");
    shows("platform.fabric.latency=1 ns", "< 0.1 % latency");
    shows("training.jitter=0.1", "  closed form of the iteration: none for iterations with jitter or stragglers\n");
    shows("training={ranks: 2, parallelism: pipeline}", "  closed form: none for a pipeline\n");
    shows("platform.fabric.topology=ring", "  closed form of the iteration: none ");
    shows("training={ranks: 4, exchange: parameter-server, schedule: priority, servers: {count: 2}}",
          "  closed form of the iteration: none for a parameter server, except with `schedule: fifo`\n");
}

TEST_CASE("explain: a collective operation has one sentence, parts of its time and changes, for each size") {
    const TinyFiles tiny;
    tiny.write("exchange.yaml",
               "platform: platform.yaml\ncollective: {operation: allreduce, ranks: 4, algorithm: ring, sweep: {bytes: "
               "[1 kB, 1 MB]}}\n");
    const Outcome outcome = run_in(tiny, {"explain", "exchange.yaml", "--format", "json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json report = json::parse(outcome.out);
    REQUIRE(report["explanations"].size() == 2);
    for (const json& e : report["explanations"]) {
        CAPTURE(e.dump());
        CHECK(e["completion_time_s"].get<double>() >= e["least_time_s"].get<double>());
        CHECK(e["bus_bandwidth_Bps"].get<double>() <= e["most_bus_bandwidth_Bps"].get<double>());
        CHECK(e["answer"].get<std::string>().starts_with("bus bandwidth is "));
        CHECK(e["least_time_of"].is_string());
        CHECK(e["most_used_link"].is_string());
        for (const json& part : e["parts"])
            CHECK(part["share"].get<double>() ==
                  Approx(part["seconds"].get<double>() / e["completion_time_s"].get<double>()));
        CHECK(!e["what_if"].empty());
    }
    const Outcome table = run_in(tiny, {"explain", "exchange.yaml"});
    CHECK(holds(table.out, "Bus bandwidth is "));
}
