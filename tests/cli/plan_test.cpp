#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// `syncline plan`: the answer to a planner's question.

using namespace syncline::test;
using nlohmann::json;

namespace {

Outcome plan(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "plan");
    return run_program({.arguments = arguments});
}

json answers(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = plan(arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out).at("answers");
}

}  // namespace

TEST_CASE("plan: days, cost and rates follow from the iteration, which the written scenario has") {
    const TempDir scratch;
    const std::filesystem::path folder = scratch / "plans";
    const json all = answers({"gpt-2", "--platform", "dgx-h100", "--ranks", "2,8", "--batch", "16", "--tokens", "1B",
                              "--price", "36/h", "--best", "1", "--out", folder});
    REQUIRE(all.size() == 2);
    const std::string page = read_file(folder / "plan.html");
    for (const json& one : all) {
        CHECK(page.find(one.at("parallelism").get<std::string>()) != std::string::npos);
        const double ranks = one.at("ranks"), iteration_s = one.at("iteration_time_s");
        CAPTURE(one.dump());
        CHECK(one.at("simulated") == true);
        // Samples of GPT-2 have 1024 tokens.
        const double run_s = std::ceil(1e9 / (16 * 1024)) * iteration_s;
        CHECK(one.at("run_time_s").get<double>() == Approx(run_s).epsilon(1e-12));
        CHECK(one.at("run_cost").get<double>() == Approx(run_s / 3600 * 36).epsilon(1e-12));  // of one node
        CHECK(one.at("tokens_per_s_per_device").get<double>() ==
              Approx(16 * 1024 / iteration_s / ranks).epsilon(1e-12));
        const Outcome run = run_program(
            {.arguments = {"run", folder / ("gpt-2-dgx-h100-" + std::to_string(one.at("ranks").get<int>()) + ".yaml"),
                           "--format", "json"}});
        REQUIRE(run.status == 0);
        const json result = json::parse(run.out).at("results").at(0);
        CHECK(result.at("iteration_time_s").get<double>() == Approx(iteration_s).epsilon(1e-9));
        CHECK(result.at("run_cost").get<double>() == Approx(run_s / 3600 * 36).epsilon(1e-9));
        CHECK(result.at("memory").at("total_bytes").get<double>() == one.at("memory_total_bytes").get<double>());
    }
}

TEST_CASE("plan: the nearest published runs say how long the training may take instead") {
    const std::vector<std::string> question{"llama-3-70b", "--ranks", "64",         "--tokens",  "1B",
                                            "--best",      "1",       "--estimate", "--platform"};
    std::vector<std::string> arguments = question;
    arguments.emplace_back("dgx-h100");
    const json one = answers(arguments).at(0);
    const json& published = one.at("published");
    const json& runs = published.at("runs");
    REQUIRE(runs.size() == 8);
    for (const char* run : {"NM079", "NM256"})  // the same model on as many H100
        CHECK(std::any_of(runs.begin(), runs.end(), [&](const json& its) { return its.at("run") == run; }));
    for (const json& run : runs) {
        CHECK(run.at("device").get<std::string>().starts_with("h"));
        CHECK(run.at("measured_by_predicted") >= runs.front().at("measured_by_predicted"));
    }
    const double run_s = one.at("run_time_s"), least = published.at("least"), most = published.at("most");
    CHECK(least == runs.at(1).at("measured_by_predicted"));
    CHECK(most == runs.at(6).at("measured_by_predicted"));
    CHECK(one.at("run_time_least_s").get<double>() == Approx(run_s * least).epsilon(1e-12));
    CHECK(one.at("run_time_most_s").get<double>() == Approx(run_s * most).epsilon(1e-12));
    // There are no runs on other devices, for which the general range remains.
    CHECK(
        answers({"gpt-2", "--platform", "mi300x-rails", "--ranks", "2", "--estimate"}).at(0).at("published").is_null());
}

TEST_CASE("plan: the table of published runs has what the scenarios train") {
    const std::string table = read_file(shipped("scenarios/published/llm/runs.csv"));
    const Outcome listed = run_program(
        {.arguments = {"validate", shipped("scenarios/published/llm/titan.yaml"), "--list", "--format", "json"}});
    REQUIRE(listed.status == 0);
    const json rows = json::parse(listed.out).at("points").at(0).at("rows");
    REQUIRE(rows.size() == 12);
    for (const json& row : rows) {
        const std::string name = row.at("name");
        const json& training = row.at("training");
        std::string line = name.substr(name.rfind(' ') + 1);  // TITAN-11
        for (const char* key : {"device", "ranks", "batch", "workload", "parameters", "experts"}) {
            const json& value = training.at(key);
            line += "," + (value.is_string() ? value.get<std::string>() : value.dump());
        }
        CAPTURE(line);
        CHECK(table.find("\n" + line + "," + training.at("parallelism").at("rows").dump() + ",") != std::string::npos);
    }
}

TEST_CASE("plan: published plans of the same model are among those tried, with what makes them slower") {
    const std::vector<std::string> question{"llama-3-70b", "--platform", "dgx-h100", "--ranks",
                                            "512",         "--best",     "1",        "--estimate"};
    const json best = answers(question).at(0);
    const auto total_s = [](const json& shares) {
        return shares.at("computation_s").get<double>() + shares.at("bubble_s").get<double>() +
               shares.at("exchanges_s").get<double>();
    };
    CHECK(total_s(best.at("shares")) == Approx(best.at("iteration_time_s").get<double>()).epsilon(1e-9));
    const json& published = best.at("published_plans");
    const auto plan_of = [&](const std::string& run) {
        const auto found =
            std::find_if(published.begin(), published.end(), [&](const json& one) { return one.at("run") == run; });
        REQUIRE(found != published.end());
        return *found;
    };
    // NM079 ran on 64 GPUs with two replicas; 512 have 16, of 512 / 16 = 32 samples, one in a microbatch.
    const json nemo = plan_of("NM079");
    CHECK(nemo.at("parallelism") ==
          "{model: 4, data: 16, pipeline: {stages: 8, micro_batches: 32, schedule: interleaved, virtual_stages: 5}, "
          "sequence: true, sharding: optimizer}");
    // TITAN-11 has 16 samples in a microbatch, but 64 replicas have 512 / 64 = 8 each.
    CHECK(plan_of("TITAN-11").at("parallelism") == "{model: 8, data: 64, sequence: true, sharding: parameters}");
    for (const json& one : published)
        if (one.at("fits") == true) {
            CHECK(one.at("estimated_time_s").get<double>() == Approx(total_s(one.at("shares"))).epsilon(1e-12));
            CHECK(one.at("estimated_time_s") >= best.at("iteration_time_s"));
        }
    // The estimate of the plan, whose stages have as many layers as usual, is that of a search which has no other; that
    // may move layers.
    std::vector<std::string> alone = question;
    for (const char* key : {"model=4", "context=1", "sequence=true", "sharding=optimizer", "pipeline.stages=8",
                            "pipeline.micro_batches=32", "pipeline.schedule=interleaved", "pipeline.virtual_stages=5"})
        alone.insert(alone.end(), {"--set", std::string("training.parallelism.") + key});
    const json only = answers(alone).at(0);
    const double usual_s = nemo.at("estimated_time_s");
    if (only.at("parallelism").get<std::string>().find("layers") == std::string::npos)
        CHECK(only.at("iteration_time_s").get<double>() == Approx(usual_s).epsilon(1e-12));
    else
        CHECK(only.at("iteration_time_s") < (1 - 0.003) * usual_s);
    CHECK(only.at("published_plans").size() == 1);  // what is written excludes the others
}

TEST_CASE("plan: a change's effect is what an estimate of the changed cluster says") {
    const auto time_s = [](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"llama-3-8b", "--platform", "dgx-h100", "--ranks",
                                           "32",         "--batch",    "32",       "--best",
                                           "1",          "--estimate", "--set",    "training.parallelism.model=8"};
        for (const char* key :
             {"sharding=optimizer", "sequence=true", "context=1", "pipeline.stages=1", "pipeline.micro_batches=4"})
            arguments.insert(arguments.end(), {"--set", std::string("training.parallelism.") + key});
        arguments.insert(arguments.end(), {"--set", "training.recomputation=none"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return answers(arguments).at(0);
    };
    const json base = time_s({});
    const json faster = time_s({"--set", "platform.per_node.links.bandwidth=900 GBps"});
    double factor = 0;
    for (const json& effect : base.at("effects"))
        if (effect.at("change") == "link:node x2") factor = effect.at("time_factor");
    CHECK(factor < 0.999);  // tensor parallelism uses these links
    CHECK(factor == Approx(faster.at("iteration_time_s").get<double>() / base.at("iteration_time_s").get<double>()));
}

TEST_CASE("plan: headroom stays free") {
    const std::vector<std::string> question{"llama-3-8b", "--platform", "dgx-h100", "--ranks", "16", "--estimate"};
    const auto most = [&](const std::string& headroom) {
        std::vector<std::string> arguments = question;
        arguments.insert(arguments.end(), {"--headroom", headroom});
        double fraction = 0;
        for (const json& one : answers(arguments))
            fraction = std::max(
                fraction, one.at("memory_total_bytes").get<double>() / one.at("memory_device_bytes").get<double>());
        return fraction;
    };
    CHECK(most("0") > 0.7);
    CHECK(most("30 %") <= 0.7);
    CHECK(most("0.5") <= 0.5);
}

TEST_CASE("plan: plans are different for a planner, the fastest first") {
    const json all = answers({"llama-3-8b", "--platform", "dgx-h100", "--ranks", "64", "--best", "10", "--estimate"});
    REQUIRE(all.size() == 10);
    std::set<std::pair<double, double>> known;
    double before_s = 0;
    for (const json& one : all) {
        const double time_s = one.at("iteration_time_s"), bytes = one.at("memory_total_bytes");
        CHECK(time_s >= before_s);
        before_s = time_s;
        for (const auto& [other_s, other_bytes] : known)
            CHECK((std::abs(time_s / other_s - 1) > 0.999e-3 || std::abs(bytes / other_bytes - 1) > 0.999e-3));
        known.emplace(time_s, bytes);
    }
}

TEST_CASE("plan: a bounded search finds what a search of one way to split the model finds") {
    const std::vector<std::string> question{"llama-3-70b", "--platform", "dgx-h100", "--ranks",
                                            "512",         "--best",     "1",        "--estimate"};
    std::vector<std::string> narrow = question;
    narrow.insert(narrow.end(), {"--set", "training.parallelism.model=1", "--set", "training.parallelism.context=8",
                                 "--set", "training.parallelism.pipeline.stages=8"});
    const double all_s = answers(question).at(0).at("iteration_time_s");
    CHECK(all_s <= answers(narrow).at(0).at("iteration_time_s").get<double>());
}

TEST_CASE("plan: first answers for 256 to 1024 GPUs of NVL72 racks come within seconds") {
    const Outcome outcome = run_program({.arguments = {"plan", "llama-3-70b", "--platform", "gb200-nvl72", "--ranks",
                                                       "256..1024", "--estimate", "--format", "json"},
                                         .limit_s = 15});  // measured: 2.3 s of CPU
    CHECK(outcome.status == 0);
    CHECK(json::parse(outcome.out).at("answers").size() == 9);
}

TEST_CASE("plan: wrong questions are errors at the option") {
    const auto error = [](const std::vector<std::string>& arguments) {
        const Outcome outcome = plan(arguments);
        CHECK(outcome.status == 3);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    using Catch::Contains;
    CHECK_THAT(error({"lama-3-8b", "--platform", "dgx-h100", "--ranks", "8"}), Contains("did you mean 'llama-3-8b'"));
    CHECK_THAT(error({"llama-3-8b", "--platform", "dgx-h10", "--ranks", "8"}), Contains("--platform:1:12: error"));
    CHECK_THAT(error({"llama-3-8b", "--platform", "dgx-h100", "--ranks", "8x"}),
               Contains("'8x' is no number of ranks"));
    CHECK_THAT(error({"llama-3-8b", "--platform", "dgx-h100", "--ranks", "16..8"}), Contains("the range is empty"));
    CHECK_THAT(error({"llama-3-8b", "--platform", "dgx-h100", "--ranks", "8", "--tokens", "many"}),
               Contains("--tokens:1:10: error"));
    CHECK_THAT(error({"llama-3-8b", "--platform", "dgx-h100", "--ranks", "8", "--tokens", "1B", "--samples", "1M"}),
               Contains("exclude each other"));
    CHECK_THAT(error({"llama-3-8b", "--platform", "dgx-h100", "--ranks", "8", "--headroom", "110 %"}),
               Contains("no share of a device's memory"));
    CHECK_THAT(error({"gpt-2", "--platform", "dgx-h100", "--ranks", "8", "--set", "training.ranks=4"}),
               Contains("write it as --ranks"));
    CHECK_THAT(error({"resnet-50", "--platform", "dgx-h100", "--ranks", "8"}), Contains("write --batch"));
    CHECK_THAT(error({"gpt-2", "--platform", "dgx-h100", "--ranks", "8", "--set", "training.rank=9"}),
               Contains("did you mean 'ranks'"));
}

TEST_CASE("plan: Ctrl-C keeps what was found, and the same command continues") {
    const TempDir scratch;
    const std::filesystem::path folder = scratch / "plans", state = folder / "plan-state.json";
    // The first searches, of estimates, take less than a second, and the others many.
    const std::vector<std::string> question{"plan",    "llama-3-8b", "--platform", "dgx-h100", "--ranks", "16,128",
                                            "--batch", "128",        "--format",   "json",     "--out",   folder};
    const Outcome interrupted = run_program({.arguments = question, .signal = Signal{SIGINT, 6}});
    CAPTURE(interrupted.err);
    REQUIRE(interrupted.status == 130);
    CHECK_THAT(interrupted.err, Catch::Contains("the same command continues"));
    REQUIRE(std::filesystem::exists(state));
    json kept = json::parse(std::ifstream(state));
    REQUIRE(!kept.at("searches").empty());
    // What was found is not searched again: another time in the file is in the answer.
    for (auto& [name, search] : kept.at("searches").items())
        for (json& plan : search.at("plans")) {
            plan.at("estimated_s") = 1000;
            plan.at("simulated_s") = nullptr;
        }
    std::ofstream(state) << kept.dump();
    const Outcome estimated = run_program({.arguments = question, .signal = Signal{SIGINT, 1}});
    CAPTURE(estimated.err, estimated.out);
    CHECK_THAT(estimated.err, Catch::Contains("1000 s") || Catch::Contains("16 min"));
    // A damaged file is none, and the file is removed at the end.
    std::ofstream(state) << "{\"syncline\"";
    std::vector<std::string> short_question = question;
    short_question.emplace_back("--estimate");
    CHECK(run_program({.arguments = short_question}).status == 0);
    CHECK_FALSE(std::filesystem::exists(state));
}

TEST_CASE("plan: a model that does not fit says what would help") {
    const Outcome outcome =
        plan({"llama-3-8b", "--platform", "p100-25g", "--ranks", "2", "--batch", "2", "--estimate"});
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Catch::Contains("no plan fits") && Catch::Contains("needs the least memory"));
    // Half of the 16 GB stays free.
    const Outcome half = plan(
        {"llama-3-8b", "--platform", "p100-25g", "--ranks", "1", "--batch", "2", "--estimate", "--headroom", "50 %"});
    CHECK_THAT(half.err, Catch::Contains("--headroom leaves ") && Catch::Contains("p100-25g, 1 rank:\n"));
}

TEST_CASE("plan: a run is as long in samples as in tokens") {
    const auto whole = [](const std::string& option, const std::string& length) {
        const json best =
            answers({"gpt-2", "--platform", "dgx-h100", "--ranks", "1", "--batch", "8", "--estimate", option, length})
                .at(0);
        return best.at("run_time_s").get<double>() / best.at("iteration_time_s").get<double>();
    };
    // Of 1024 tokens each, eight in an iteration.
    CHECK(whole("--samples", "1 M") == Approx(125'000));
    CHECK(whole("--tokens", "1024 M") == Approx(125'000));
}

TEST_CASE("plan: a price without tokens says what is missing") {
    const std::vector<std::string> question{"gpt-2",   "--platform", "dgx-h100", "--ranks", "1",
                                            "--batch", "8",          "--price",  "36/h",    "--estimate"};
    CHECK_THAT(plan(question).out, Catch::Contains("write --tokens") && Catch::Contains("dgx-h100, 1 rank: "));
}

TEST_CASE("plan: a launch file's batch holds unless another one is given") {
    const TempDir folder;
    folder.write(
        "launch.sh",
        "torchrun --nproc-per-node 2 pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 "
        "--seq-length 512 --vocab-size 50257 --micro-batch-size 1 --global-batch-size 24\n");
    const auto plans = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"plan", "launch.sh", "--platform", "dgx-h100", "--ranks", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_in(folder, arguments);
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out + outcome.err;
    };
    constexpr const char* note = "the batch of 24 samples is that of launch.sh; --batch gives another one";
    CHECK(plans({}).find(note) != std::string::npos);
    CHECK(plans({"--batch", "16"}).find("is that of launch.sh") == std::string::npos);
    const json answers =
        json::parse(
            run_in(folder, {"plan", "launch.sh", "--platform", "dgx-h100", "--ranks", "2", "--format", "json"}).out)
            .at("answers");
    // 24 samples of 512 tokens on 2 devices.
    const json& best = answers.at(0);
    CHECK(best.at("tokens_per_s_per_device").get<double>() ==
          Approx(24 * 512 / best.at("iteration_time_s").get<double>() / 2).epsilon(1e-12));
}
