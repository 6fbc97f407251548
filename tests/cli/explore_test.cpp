#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Finds the best points of small studies, and compares them with runs of their own and with invariants.

using namespace syncline::test;
using Json = nlohmann::json;

namespace {

/// Gradients of a dense layer on a star, by ring: iterations have an exact closed form.
const std::string training = R"(platform:
  nodes: 8
  device: {flops: 10 Tflops, memory_bandwidth: 500 GBps}
  host: {reduction_rate: unlimited}
  fabric: {topology: star, bandwidth: 10 Gbps, latency: 1 us}
workload:
  name: dense
  input: [1000, 1, 1]
  layers: [{name: fc, kind: dense, inputs: 1000, outputs: 1000, bias: false}]
training: {batch: 64, ranks: 2, algorithm: ring, input_copy: none}
)";
const std::string study = R"(base: training.yaml
axes:
  training.ranks: 2^0..2^3
  platform.fabric.bandwidth: [1 Gbps, 10 Gbps, 100 Gbps]
)";

struct Bench : TempDir {
    explicit Bench(const std::string& more = "") {
        write("training.yaml", training);
        write("study.yaml", study + more);
    }
};

Outcome explore(const TempDir& directory, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"explore", "study.yaml", "--jobs", "1"});
    return run_in(directory, arguments);
}

Json explored(const TempDir& directory, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = explore(directory, arguments);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.out);
}

std::int64_t counted(const Json& exploration) {
    std::int64_t sum = 0;
    for (const auto& [name, number] : exploration.at("counts").items()) sum += number.get<std::int64_t>();
    return sum;
}

}  // namespace

TEST_CASE("explore: all points are simulated and ranked, and the best equals a run of its own") {
    const Bench directory;
    const Json all = explored(directory, {"--objective", "iteration_time_s", "--top", "100"});
    CHECK(all.at("plans") == 12);
    CHECK(all.at("simulations") == 12);
    CHECK(all.at("counts").at("ranked") == 12);
    CHECK(all.at("stages").empty());
    const Json& ranked = all.at("ranked");
    REQUIRE(ranked.size() == 12);
    for (std::size_t i = 1; i < ranked.size(); ++i)
        CHECK(ranked[i - 1].at("iteration_time_s") <= ranked[i].at("iteration_time_s"));
    for (const std::size_t place : {0u, 1u, 11u}) {
        const Json& plan = ranked[place];
        const std::string ranks = plan.at("ranks"), bandwidth = plan.at("bandwidth");
        const Outcome alone = run_in(directory, {"run", "training.yaml", "--set", "training.ranks=" + ranks, "--set",
                                                 "platform.fabric.bandwidth=" + bandwidth, "--format", "json"});
        REQUIRE(alone.status == 0);
        const Json result = Json::parse(alone.out).at("results").at(0);
        for (const char* figure : {"iteration_time_s", "throughput_samples_per_s"})
            CHECK(plan.at(figure) == result.at(figure));
        for (const auto& [per_sample, whole] : {std::pair{"time_per_sample_s", "iteration_time_s"},
                                                std::pair{"device_time_per_sample_s", "device_time_s"}})
            CHECK(plan.at(per_sample).get<double>() ==
                  Approx(result.at(whole).get<double>() / result.at("samples").get<double>()));
    }
    // No point beats a point on the front; some point beats every other.
    const Json& front = all.at("front").at("plans");
    for (const Json& plan : ranked) {
        const bool beaten = std::any_of(ranked.begin(), ranked.end(), [&](const Json& other) {
            const double time = plan.at("time_per_sample_s"), cost = plan.at("device_time_per_sample_s");
            const double its_time = other.at("time_per_sample_s"), its_cost = other.at("device_time_per_sample_s");
            return its_time <= time && its_cost <= cost && (its_time < time || its_cost < cost);
        });
        CHECK(beaten == (std::find(front.begin(), front.end(), plan) == front.end()));
    }
    double shares = 0;
    for (const Json& axis : all.at("axes")) shares += axis.at("share_of_variance").get<double>();
    CHECK(shares > 0);
    CHECK(shares <= Approx(1));
}

TEST_CASE("explore: points with batches per rank compare by the sample, so that more ranks are on the front",
          "[memory]") {
    const TempDir directory;
    std::string each = training;
    each.replace(each.find("batch: 64"), 9, "batch_per_rank: 4096");
    directory.write("training.yaml", each);
    directory.write("study.yaml", "base: training.yaml\naxes: {training.ranks: 2^0..2^3}\n");
    const Json found =
        explored(directory, {"--objective", "cost_per_million_samples", "--set", "platform.per_node.price_per_hour=2"});
    const Json& front = found.at("front");
    CHECK(front.at("time") == "time_per_sample_s");
    CHECK(front.at("cost") == "cost_per_million_samples");
    // A single rank computes for 1.6 ms and exchanges nothing. Two ranks exchange 4 MB for 3.2 ms, so that a sample
    // takes longer and costs more: only they are not on the front. Eight ranks take the least time per sample.
    REQUIRE(front.at("plans").size() == 3);
    CHECK(found.at("ranked").at(0).at("ranks") == "1");
    CHECK(front.at("plans").at(0).at("ranks") == "8");
    CHECK(front.at("plans").at(0).at("iteration_time_s") > front.at("plans").at(2).at("iteration_time_s"));
    for (const Json& plan : front.at("plans")) CHECK(plan.at("ranks") != "2");
}

TEST_CASE("explore: a search by exact closed forms finds the best point within any budget") {
    const Bench directory;
    const Json all = explored(directory, {"--objective", "throughput"});
    for (const int budget : {1, 2, 4, 7, 11}) {
        const Json found = explored(directory, {"--objective", "throughput", "--budget", std::to_string(budget),
                                                "--out", "by-" + std::to_string(budget)});
        CAPTURE(budget);
        CHECK(found.at("simulations") <= budget);
        CHECK(counted(found) == 12);
        CHECK(found.at("stages").at(0).at("setting") == "closed form");
        CHECK(found.at("ranked").at(0) == all.at("ranked").at(0));
    }
}

TEST_CASE("explore: without closed forms points are drawn, and the same seed draws the same") {
    const Bench directory;
    const std::vector<std::string> arguments{
        "--objective", "messages + 1e-9 * bytes_sent", "--budget", "4", "--seed", "3"};
    const Json found = explored(directory, arguments);
    CHECK(found.at("stages").at(0).at("setting").get<std::string>().rfind("drawn", 0) == 0);
    CHECK(found.at("simulations") <= 4);
    CHECK(counted(found) == 12);
    CHECK(explored(directory, arguments) == found);
    auto elsewhere = arguments;
    elsewhere.insert(elsewhere.end(), {"--out", "elsewhere"});
    CHECK(explored(directory, elsewhere) == found);
}

TEST_CASE("explore: finished runs of a batch are not repeated, and the answers stay") {
    const Bench directory;
    REQUIRE(run_in(directory, {"batch", "study.yaml", "--jobs", "1", "--out", "one"}).status == 0);
    const auto before = read_file(directory / "one/results.csv");
    const Json after_batch = explored(directory, {"--objective", "iteration_time_s", "--out", "one"});
    CHECK(read_file(directory / "one/results.csv") == before);
    CHECK(explored(directory, {"--objective", "iteration_time_s", "--out", "two"}) == after_batch);
}

TEST_CASE("explore: points outside the constraints are counted and not ranked", "[memory]") {
    const Bench directory;
    const Json some = explored(directory, {"--objective", "iteration_time_s", "--constraint", "ranks <= 2",
                                           "--constraint", "bandwidth > '5 Gbps'"});
    CHECK(some.at("counts").at("ranked") == 4);
    CHECK(some.at("counts").at("outside_constraints") == 8);
    for (const Json& plan : some.at("ranked")) CHECK(std::stoi(plan.at("ranks").get<std::string>()) <= 2);
    const Outcome none = explore(directory, {"--objective", "iteration_time_s", "--constraint", "ranks > 99"});
    CHECK(none.status == 1);
    CHECK(none.err.find("no point can be ranked") != std::string::npos);
}

TEST_CASE("explore: the study's own question holds unless the command line overrides it", "[memory]") {
    const Bench directory("question: {objective: 'max:iteration_time_s', top: 3}\n");
    const Json worst = explored(directory, {});
    CHECK(worst.at("direction") == "most");
    CHECK(worst.at("ranked").size() == 3);
    const Json best = explored(directory, {"--objective", "iteration_time_s", "--top", "12"});
    CHECK(best.at("direction") == "least");
    CHECK(best.at("ranked").at(11) == worst.at("ranked").at(0));
}

TEST_CASE("explore: invalid questions are refused with a hint", "[memory]") {
    const Bench directory;
    const Outcome nothing = explore(directory, {});
    CHECK(nothing.status == 3);
    CHECK(nothing.err.find("the objective is empty") != std::string::npos);
    const Outcome misspelt = explore(directory, {"--objective", "iteraton_time_s"});
    CHECK(misspelt.status == 3);
    CHECK(misspelt.err.find("did you mean 'iteration_time_s'?") != std::string::npos);
    CHECK(explore(directory, {"--objective", "iteration_time_s", "--constraint", "ranks <"}).status == 3);
    CHECK(explore(directory, {"--objective", "iteration_time_s", "--budget", "0"}).status == 2);
}

TEST_CASE("explore: points that do not fit are skipped, and counted by reason", "[memory]") {
    const Bench directory;
    const std::vector<std::string> arguments{"--objective", "iteration_time_s", "--set",
                                             "axes.training.ranks=[2, 16, 32]"};
    const Json some = explored(directory, arguments);
    CHECK(some.at("counts").at("unfit") == 6);
    CHECK(some.at("counts").at("ranked") == 3);
    // 16 and 32 ranks do not fit for the same reason.
    REQUIRE(some.at("not_ranked").size() == 1);
    CHECK(some.at("not_ranked")[0].at("plans") == 6);
    CHECK(some.at("not_ranked")[0].at("varies") == true);
    CHECK(some.at("not_ranked")[0].at("reason").get<std::string>().rfind("16 ranks do not fit platform", 0) == 0);
    CHECK(some.at("not_ranked")[0].at("example").get<std::string>().find("training.ranks=16") != std::string::npos);
    const Outcome table = explore(directory, arguments);
    CHECK(table.status == 0);
    CHECK(table.out.find("6 points without a result:\n  6, some with different numbers: 16 ranks do not fit "
                         "platform") != std::string::npos);
    // If no point is left, that is an error with the reason.
    const Outcome none = explore(directory, {"--objective", "iteration_time_s", "--set", "axes.training.ranks=[16]"});
    CHECK(none.status == 3);
    CHECK(none.err.find("16 ranks do not fit platform") != std::string::npos);
    CHECK(none.err.find("3 of 3 points do not fit") != std::string::npos);
}

TEST_CASE("explore: points that need more memory than a device has are counted by that reason", "[memory]") {
    const Bench directory;
    // 4 MB of weights, the same of gradients, and more: 1 MB is too little for any, and each needs another amount.
    const Outcome outcome = explore(directory, {"--objective", "iteration_time_s", "--set",
                                                "axes.platform.device.memory=[1 MB, 2 MB, 16 GB]", "--format", "json"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const Json found = Json::parse(outcome.out);
    CHECK(found.at("counts").at("failed") == 24);
    REQUIRE(found.at("not_ranked").size() == 1);
    CHECK(found.at("not_ranked")[0].at("plans") == 24);
    CHECK(found.at("not_ranked")[0].at("reason").get<std::string>().rfind("it needs ", 0) == 0);
}

TEST_CASE("explore: axes that vary together are named, and shares are of the points within the constraints",
          "[memory]") {
    const Bench directory;
    // Ranks and bandwidth on a diagonal: the exclusion leaves one bandwidth for each number of ranks.
    const Json tied = explored(directory, {"--objective", "iteration_time_s", "--set",
                                           "include=[\"ranks = 2 and bandwidth = '1 Gbps'\", "
                                           "\"ranks = 4 and bandwidth = '10 Gbps'\"]"});
    REQUIRE(tied.at("axes").size() == 2);
    for (const Json& axis : tied.at("axes")) {
        CHECK(axis.at("share_of_variance").get<double>() == Approx(1));
        REQUIRE(axis.at("confounded_with").size() == 1);
    }
    CHECK(tied.at("axes")[0].at("confounded_with")[0] == tied.at("axes")[1].at("axis"));
    const auto notes = [](const Json& exploration) { return exploration.at("notes").dump(); };
    CHECK(notes(tied).find("ranks and bandwidth vary together: their shares cannot be distinguished") !=
          std::string::npos);

    // Within the constraint there are 2 and 4 ranks at all three bandwidths; main_effect() gives the shares of these
    // six.
    const Json within =
        explored(directory, {"--objective", "iteration_time_s", "--top", "100", "--constraint", "ranks in (2, 4)"});
    CHECK(notes(within).find("together") == std::string::npos);
    REQUIRE(within.at("counts").at("ranked") == 6);
    std::map<std::string, std::vector<double>> by_ranks;
    std::vector<double> all;
    for (const Json& plan : within.at("ranked")) {
        by_ranks[plan.at("ranks")].push_back(plan.at("iteration_time_s"));
        all.push_back(plan.at("iteration_time_s"));
    }
    const auto mean = [](const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) sum += value;
        return sum / static_cast<double>(values.size());
    };
    double total = 0, between = 0;
    for (const double value : all) total += (value - mean(all)) * (value - mean(all));
    for (const auto& [ranks, values] : by_ranks)
        between += static_cast<double>(values.size()) * (mean(values) - mean(all)) * (mean(values) - mean(all));
    for (const Json& axis : within.at("axes")) {
        CHECK(axis.at("confounded_with").empty());
        if (axis.at("axis") == "ranks") CHECK(axis.at("share_of_variance").get<double>() == Approx(between / total));
    }
}

TEST_CASE("explore: repetitions of a point are ranked by their mean") {
    const Bench directory(R"(repeat: 3
draw:
  platform.fabric.latency: {distribution: uniform, least: 1 us, most: 500 us}
)");
    const Json all = explored(directory, {"--objective", "iteration_time_s"});
    CHECK(all.at("plans") == 12);
    CHECK(all.at("repeats") == 3);
    CHECK(all.at("counts").at("ranked") == 12);
    CHECK(all.at("ranked").at(0).count("latency") == 0);
    const Json some = explored(directory, {"--objective", "iteration_time_s", "--budget", "7"});
    CHECK(some.at("simulations") <= 7);
    CHECK(explore(directory, {"--objective", "iteration_time_s", "--budget", "2"}).status == 3);
}
