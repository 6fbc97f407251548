#include "tests/catch.hpp"
#include "tests/cli/results.hpp"

// Checks the shipped scenarios, the default one first; its file describes what the paper states.

using namespace syncline::test;
using nlohmann::json;

TEST_CASE("zhang-2021: at 32 GPUs the ring scales, and the parameter server is a third slower") {
    const auto results = results_of("scenarios/zhang-2021.yaml");
    REQUIRE(results.size() == 4);
    const json &ring = results.at("ring"), &server = results.at("parameter-server");
    for (const auto& [name, result] : results) CHECK(result["ranks"] == 32);
    CHECK(ring["workload"] == "resnet-50");
    CHECK(server["workload"] == "resnet-50");
    CHECK(number(ring, "scaling_efficiency") >= 0.95);
    CHECK(number(ring, "scaling_efficiency") <= 1);
    CHECK(number(server, "scaling_efficiency") >= 0.70);
    CHECK(number(server, "scaling_efficiency") <= 0.80);
    const double ratio = number(ring, "throughput_samples_per_s") / number(server, "throughput_samples_per_s");
    CHECK(std::abs(ratio - 1.30) <= 0.10);
    for (const char* name : {"alexnet-ring", "alexnet-parameter-server"}) {
        REQUIRE(results.count(name) == 1);
        CHECK(results.at(name)["workload"].get<std::string>().rfind("alexnet", 0) == 0);
    }
    // The abstract's two networks agree on the faster exchange.
    CHECK(number(results.at("alexnet-ring"), "throughput_samples_per_s") >
          number(results.at("alexnet-parameter-server"), "throughput_samples_per_s"));
}

TEST_CASE("zhang-2021: the gap grows with the number of GPUs") {
    double last_gap = -1;
    for (const int ranks : {1, 2, 4, 8, 16, 32}) {
        const auto results =
            results_of("scenarios/zhang-2021.yaml", {"--set", "training.ranks=" + std::to_string(ranks)});
        const double gap = number(results.at("ring"), "scaling_efficiency") -
                           number(results.at("parameter-server"), "scaling_efficiency");
        CAPTURE(ranks, gap, last_gap);
        if (ranks == 1) {
            CHECK(gap == 0);
            for (const auto& [name, result] : results) {
                CHECK(result["messages"] == 0);
                CHECK(result["bytes_sent"] == 0);
                CHECK(number(result, "scaling_efficiency") == 1);
                CHECK(number(result, "exposed_communication_time_s") == 0);
            }
        } else {
            CHECK(gap > last_gap);
        }
        last_gap = gap;
    }
}

TEST_CASE("zhang-2021: one rank gives the throughput that calibrates the device", "[memory]") {
    const auto results = results_of("scenarios/zhang-2021.yaml", {"--set", "training.ranks=1"});
    CHECK(number(results.at("ring"), "throughput_samples_per_s") == Approx(219).epsilon(1e-6));
    CHECK(number(results.at("alexnet-ring"), "throughput_samples_per_s") == Approx(2987).epsilon(1e-6));
}

TEST_CASE("vgg-16-overlap: the exchange hides behind the backward pass", "[memory]") {
    const auto results = results_of("scenarios/vgg-16-overlap.yaml");
    const json &none = results.at("overlap-none"), &beside = results.at("wait-free");
    CHECK(number(beside, "exposed_communication_time_s") < number(beside, "communication_time_s") / 10);
    CHECK(number(beside, "iteration_time_s") <= number(none, "iteration_time_s"));
    CHECK(number(none, "exposed_communication_time_s") == Approx(number(none, "communication_time_s")).epsilon(1e-6));
    CHECK(number(none, "iteration_time_s") ==
          Approx(number(none, "compute_time_s") + number(none, "communication_time_s")).epsilon(1e-6));
    CHECK(beside["bytes_sent"] == none["bytes_sent"]);
    CHECK(beside["messages"] == none["messages"]);
}

TEST_CASE("vgg-16-overlap: wait-free is never slower, on any platform, with any exchange") {
    const std::string exchange = GENERATE("allreduce", "parameter-server");
    const std::string platform = GENERATE("p100-25g", "p100-56g", "p100-100g");
    CAPTURE(exchange, platform);
    const auto results = results_of(
        "scenarios/vgg-16-overlap.yaml",
        {"--set", "training.exchange=" + exchange, "--set", "platform=" + shipped("platforms/" + platform + ".yaml")});
    CHECK(number(results.at("wait-free"), "iteration_time_s") <=
          number(results.at("overlap-none"), "iteration_time_s") * (1 + 1e-9));
}
