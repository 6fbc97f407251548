#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// `parallelism: auto` on the command line. tests/replay/plan_search_test.cpp compares its plans with all others.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Text : TinyFiles {
    Text() {
        write("text.yaml",
              "platform:\n"
              "  device: {name: card, flops: 10 Tflops, memory_bandwidth: 500 GBps, memory: 8 MB}\n"
              "  per_node: {devices: 2, links: {pattern: switch, bandwidth: 50 GBps, latency: 1 us}}\n"
              "  fabric: {topology: star, bandwidth: 25 Gbps, latency: 2 us}\n"
              "workload:\n"
              "  name: text\n"
              "  sequence: 64\n"
              "  layers:\n"
              "  - {name: words, kind: embedding, vocabulary: 500, width: 128}\n"
              "  - {name: layer, kind: transformer, repeat: 3, width: 128, heads: 4, hidden: 512}\n"
              "training: {ranks: 4, batch: 8, parallelism: auto, optimizer: adam, iterations: 2}\n");
    }
    Outcome run_with(const std::vector<std::string>& more, const std::string& verb = "run") const {
        std::vector<std::string> arguments{verb, "text.yaml"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_in(*this, std::move(arguments));
    }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Returns the value of `parallelism` in the line of the best plan.
std::string best(const std::string& text) {
    const std::size_t line = text.find("\n  *"), begin = text.find('{', line);
    REQUIRE(begin != std::string::npos);
    return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("parallelism auto: the results are those of the plan that is found, as if it were written") {
    const Text text;
    const Outcome found = text.run_with({"--format", "json", "--out", "out"});
    CAPTURE(found.err);
    REQUIRE(found.status == 0);
    CHECK(contains(found.err, "base: `parallelism: auto` considered "));
    const std::string plan = best(found.err);
    const Outcome written = text.run_with({"--format", "json", "--set", "training.parallelism=" + plan});
    CAPTURE(plan, written.err);
    REQUIRE(written.status == 0);
    CHECK(found.out == written.out);
    CHECK(json::parse(found.out)["results"].size() == 1);

    const std::string csv = read_file(text / "out" / "plans.csv");
    CHECK(
        contains(csv, "variant,parallelism,simulated_s,estimated_s,lower_bound_s,memory_total_bytes,recomputation\n"));
    CHECK(contains(csv, "base,\"" + plan + "\","));
    const Outcome again = text.run_with({"--format", "json", "--jobs", "1"});
    CHECK(again.out == found.out);
    CHECK(again.err == found.err);
}

TEST_CASE("parallelism auto: keys that are written stay, beside those that are found") {
    const Text text;
    const std::string fixed = "{auto: true, sharding: parameters, pipeline: {transfers: overlapped}}";
    const Outcome found = text.run_with({"--format", "json", "--set", "training.parallelism=" + fixed});
    CAPTURE(found.err);
    REQUIRE(found.status == 0);
    const std::string plan = best(found.err);
    CHECK(contains(plan, "sharding: parameters"));
    const Outcome written =
        text.run_with({"--format", "json", "--set", "training.parallelism={pipeline: {transfers: overlapped}}", "--set",
                       "training.parallelism=" + plan});
    CAPTURE(plan, written.err);
    REQUIRE(written.status == 0);
    CHECK(found.out == written.out);
    // A key can be added to a mapping by its path.
    const Outcome added = text.run_with({"--format", "json", "--set", "training.parallelism={auto: true}", "--set",
                                         "training.parallelism.sharding=parameters", "--set",
                                         "training.parallelism.pipeline.transfers=overlapped"});
    CHECK(added.out == found.out);
    const Outcome size =
        text.run_with({"--set", "training.parallelism={auto: true, data: 2, pipeline: {micro_batch_size: 2}}"});
    CAPTURE(size.err);
    CHECK(size.status == 0);
    CHECK(contains(best(size.err), "data: 2, "));
    CHECK(contains(best(size.err), "micro_batches: 2"));
}

TEST_CASE("parallelism auto: keys that leave nothing, or no plan, are errors", "[memory]") {
    const Text text;
    const auto run = [&](const std::string& parallelism, const std::vector<std::string>& more = {}) {
        std::vector<std::string> all{"--set", "training.parallelism=" + parallelism};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome outcome = text.run_with(all);
        CAPTURE(outcome.err);
        CHECK(outcome.status == 3);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    CHECK(contains(run("{auto: true, sequence: true, model: 1}"), "plans of `parallelism: auto` fits"));
    CHECK(contains(run("{auto: true, data: 3}"), "no plan has the keys that are written beside 'auto: true'"));
    CHECK(contains(run("{auto: true, model: 8}"), "no plan has the keys that are written beside 'auto: true'"));
    CHECK(contains(run("{auto: true, pipeline: 4, context: 2}"), "no plan has the keys"));
    CHECK(contains(run("{auto: true, model: auto}"), "remove `model: auto`"));
    CHECK(contains(run("{auto: true, layers: [{first: words, model: 2}]}"), "cannot be written beside 'auto: true'"));
    CHECK(
        contains(run("{auto: true, model: 2, context: {ranks: 1, exchange: ring}, pipeline: {stages: 1, micro_batches: "
                     "1, schedule: 1f1b, virtual_stages: 1}, sequence: false, experts: {ranks: 1, model: 2}, "
                     "model_overlap: none, sharding: none, gathering: after-update, gradient_sync: auto}",
                     {"--set", "training.recomputation=none"}),
                 "has nothing to search"));
}

TEST_CASE("parallelism auto: a dry run chooses by the estimates, and `explain` explains the plan", "[memory]") {
    const Text text;
    const Outcome dry = text.run_with({"--dry-run"});
    CAPTURE(dry.err);
    CHECK(dry.status == 0);
    CHECK(contains(dry.err, " 0 simulated"));
    const Outcome explained = text.run_with({"--no-what-if"}, "explain");
    CAPTURE(explained.err);
    CHECK(explained.status == 0);
    CHECK(contains(explained.err, "`parallelism: auto` considered"));
}

TEST_CASE("parallelism auto: where nothing fits, the error says what would", "[memory]") {
    const Text text;
    const Outcome none = text.run_with({"--set", "platform.device.memory=1 MB"});
    CAPTURE(none.err);
    CHECK(none.status == 3);
    CHECK(none.out.empty());
    CHECK(contains(none.err, "plans of `parallelism: auto` fits"));
    CHECK(contains(none.err, "the plan that needs the least memory"));
    CHECK(contains(none.err, "4 ranks need devices with at least"));
    CHECK(contains(none.err, "see the remedies above"));
    CHECK(contains(none.err, "but the device has 1 MB"));
}

TEST_CASE("parallelism auto: a long search shows how far it is, and Ctrl-C ends it") {
    const TempDir directory;
    directory.write("experts.yaml",
                    "platform: dgx-h100\nworkload: deepseek-v3\n"
                    "training: {ranks: 2048, batch: 2048, optimizer: adam, precision: mixed, parallelism: auto}\n");
    const Outcome outcome = run_program({.arguments = {"run", (directory / "experts.yaml").string(), "--dry-run"},
                                         .signal = Signal{SIGINT, 3, To::group},
                                         .err = Stderr::terminal});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 130);
    CHECK(outcome.out.empty());
    CHECK(outcome.after_signal_s < too_late_s);
    CHECK(contains(outcome.err, "base: plans considered: "));
    CHECK(contains(outcome.err, " of 242"));  // 6 million / (300 + 2048 ranks + layers)
    CHECK(contains(outcome.err, "s left"));
}

TEST_CASE("parallelism auto: it needs a batch and a verb that searches", "[memory]") {
    const Text text;
    const Outcome without = text.run_with({"--set", "training.batch=~"});
    CHECK(without.status == 3);
    CHECK(contains(without.err, "`parallelism: auto` compares plans at the same batch, but there is no 'batch'"));
    const Outcome gossip = text.run_with({"--set", "training.exchange=gossip"});
    CHECK(gossip.status == 3);
    CHECK(contains(gossip.err, "'gossip' is not modelled where the plan is open"));
    const Outcome scaling = text.run_with({"--scaling", "--report", "page.html"});
    CHECK(scaling.status == 3);
    CHECK(contains(scaling.err, "'--scaling' needs the same plan"));
    text.write("two.xml",
               "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
               "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n"
               "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>\n"
               "<link id=\"l\" bandwidth=\"1GBps\" latency=\"10us\"/>\n"
               "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone></platform>\n");
    text.write("two.yaml", "simgrid_xml: two.xml\n");
    const Outcome native = text.run_with({"--set", "platform=two.yaml", "--set", "training.ranks=2"});
    CAPTURE(native.err);
    CHECK(native.status == 3);
    CHECK(contains(native.err, "`parallelism: auto` estimates times from bandwidths"));
    const Outcome batch = text.run_with({"--out", "batch"}, "batch");
    CAPTURE(batch.err);
    CHECK(batch.status != 0);
    CHECK(contains(batch.err, "`parallelism: auto` is searched by `run` and `explain` alone"));
}

TEST_CASE("parallelism auto: recomputation that is not written is part of the plan") {
    const Text text;
    // Without recomputation a plan needs at least 3.08 MB, with it 2.82 MB: `needs` in the remedies.
    const auto run = [&](const std::string& memory, const std::vector<std::string>& more) {
        std::vector<std::string> all{
            "--format",         "json", "--out", "out", "--set", "platform.device.memory=" + memory, "--set",
            "training.batch=64"};
        all.insert(all.end(), more.begin(), more.end());
        return text.run_with(all);
    };
    const Outcome written = run("3 MB", {"--set", "training.recomputation=none"});
    CAPTURE(written.err);
    REQUIRE(written.status == 3);
    CHECK(contains(written.err, "with `recomputation: full`, `parallelism: {"));
    const Outcome found = run("3 MB", {});
    CAPTURE(found.err);
    REQUIRE(found.status == 0);
    CHECK(contains(found.err, "recomputation  parallelism"));
    CHECK(contains(read_file(text / "out" / "plans.csv"), ",full\n"));
    const std::string plan = best(found.err);
    const Outcome again =
        run("3 MB", {"--set", "training.recomputation=full", "--set", "training.parallelism=" + plan});
    CAPTURE(plan, again.err);
    REQUIRE(again.status == 0);
    CHECK(found.out == again.out);
}

TEST_CASE("parallelism auto: Llama-3-70B on 512 H100 gets a plan with a simulated iteration", "[.][slow]") {
    const TempDir directory;
    directory.write("llama.yaml",
                    "platform: dgx-h100\nworkload: llama-3-70b\n"
                    "training: {ranks: 512, batch: 512, optimizer: adam, precision: mixed, parallelism: auto}\n");
    const Outcome found =
        run_program({.arguments = {"run", (directory / "llama.yaml").string(), "--format", "json"}, .limit_s = 1200});
    CAPTURE(found.err);
    REQUIRE(found.status == 0);
    CHECK(!contains(found.err, ", 0 simulated"));
    const json result = json::parse(found.out)["results"][0];
    // Compute at the peak would take 6·N·tokens / (512 · 989.4 Tflops), with the dense H100's peak of its data sheet,
    // and attention's products come on top.
    const double at_peak_s = 6 * 70.55e9 * 512 * 8192 / (512 * 989.4e12);
    CHECK(result["iteration_time_s"].get<double>() > at_peak_s);
    // Of MFU, 38 % to 43 % were reached on H100 with Llama 3 405B (arXiv 2407.21783, table 4); a plan that is searched
    // on machines without faults should reach that much.
    CHECK(result["model_flops_utilisation"].get<double>() > 0.38);
    CHECK(result["memory"]["total_bytes"].get<double>() <= result["memory"]["device_bytes"].get<double>());
}
