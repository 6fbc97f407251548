#include "tests/catch.hpp"
#include "tests/cli/results.hpp"
#include "tests/cli/scenario.hpp"

// State in the host's memory, through the command line.

using namespace syncline::test;
using nlohmann::json;

namespace {

constexpr double parameters = 251001;  // of tiny_workload, in 4 bytes

std::vector<std::string> offloaded(std::vector<std::string> options) {
    for (const char* set : {"training.offload=optimizer", "training.optimizer=momentum",
                            "platform.device.host_link=1GBps", "platform.host.memory_bandwidth=2GBps"}) {
        options.push_back("--set");
        options.push_back(set);
    }
    options.insert(options.end(), {"--variant", "ring", "--format", "json"});
    return options;
}

}  // namespace

TEST_CASE("offload: results have the host's bytes, and only with `offload`", "[memory]") {
    const TinyFiles tiny;
    const json with = json::parse(run_in(tiny, offloaded({"run", "scenario.yaml"})).out)["results"][0];
    CHECK(with["memory"]["optimizer_bytes"] == 0);
    CHECK(with["memory"]["host_bytes"] == 12 * parameters);  // weights, a momentum, gradients
    const json dry = json::parse(run_in(tiny, offloaded({"run", "scenario.yaml", "--dry-run"})).out)["dry_run"][0];
    CHECK(dry["memory"] == with["memory"]);
    const json without =
        json::parse(run_in(tiny, {"run", "scenario.yaml", "--variant", "ring", "--format", "json"}).out)["results"][0];
    CHECK(without["memory"]["optimizer_bytes"] == 4 * parameters);
    CHECK_FALSE(without["memory"].contains("host_bytes"));
    // The step reads gradients, reads and writes weights and momenta; gradients and weights are copied. Without offload
    // a roofline has no step.
    const double added_s = parameters * (20 / 2e9 + 8 / 1e9);
    CHECK(number(with, "iteration_time_s") == Approx(number(without, "iteration_time_s") + added_s).epsilon(1e-6));
}

TEST_CASE("offload: an explanation has the step's time and that of the copies", "[memory]") {
    const TinyFiles tiny;
    const json e = json::parse(run_in(tiny, offloaded({"explain", "scenario.yaml"})).out)["explanations"][0];
    CHECK(number(e, "optimizer_step_s") == Approx(parameters * 20 / 2e9).epsilon(1e-6));
    CHECK(number(e, "offload_copies_s") == Approx(parameters * 8 / 1e9).epsilon(1e-6));
    CHECK(number(e["theory"], "closed_form_s") == Approx(number(e, "iteration_time_s")).epsilon(1e-6));
}
