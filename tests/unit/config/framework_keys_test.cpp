#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

// The keys for how a framework fuses, partitions and orders exchanges. Mistakes are in tests/cases/framework.cases.

using namespace syncline;

namespace {

/// Returns the plan of a scenario with these lines in `training`. Throws ConfigError.
Plan plan_of(const std::string& training) {
    const auto path = std::filesystem::temp_directory_path() / ("syncline-keys-" + std::to_string(getpid()) + ".yaml");
    const std::string root = SYNCLINE_SOURCE_DIR;
    std::ofstream(path) << "platform: " + root + "/platforms/p100-25g.yaml\nworkload: " + root +
                               "/workloads/resnet-50.yaml\ntraining: {ranks: 8, " + training + "}\n";
    struct Remove {
        std::filesystem::path path;
        ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    return config::load_scenario(path.string(), {}).variants.front().plan;
}

/// Returns the only error.
Diagnostic error_of(const std::string& training) {
    try {
        plan_of(training);
    } catch (const ConfigError& error) {
        REQUIRE(error.diagnostics().size() == 1);
        return error.diagnostics().front();
    }
    FAIL("nothing is wrong with " << training);
    return {};
}

}  // namespace

TEST_CASE("every key of a framework is read", "[memory]") {
    const Plan plan = plan_of(
        "exchange: parameter-server, overlap: across-iterations, schedule: priority, partition: 4 MB, fusion: "
        "{threshold: 25 "
        "MiB, first: 1 MiB, full: after}, servers: {pull: each, local_reduction: true}");
    CHECK(plan.overlap == Overlap::across_iterations);
    CHECK(plan.schedule == Schedule::priority);
    CHECK(plan.partition_bytes == 4e6);
    CHECK(plan.fusion.threshold_bytes == 25 * 1024 * 1024);
    CHECK(plan.fusion.first_bytes == 1024 * 1024);
    CHECK(plan.fusion.full == Full::after);
    CHECK(plan.fusion.negotiation == Negotiation::none);
    CHECK(plan.servers.pull == PullStart::each);
    CHECK(plan.servers.local_reduction);
    const auto negotiation = [](const std::string& word) {
        return plan_of("fusion: {threshold: none, negotiation: " + word + "}").fusion.negotiation;
    };
    CHECK(negotiation("ahead") == Negotiation::ahead);
    CHECK(negotiation("on-ready") == Negotiation::on_ready);
    CHECK(negotiation("none") == Negotiation::none);
    CHECK(plan_of("schedule: random").schedule == Schedule::random);
    CHECK(plan_of("partition: none").partition_bytes == 0);
}

TEST_CASE("without these keys nothing changes", "[memory]") {
    const Plan plan = plan_of("fusion: {threshold: 64 MiB}");
    CHECK(plan.overlap == Overlap::wait_free);
    CHECK(plan.schedule == Schedule::fifo);
    CHECK(plan.partition_bytes == 0);
    CHECK(plan.fusion.first_bytes == 0);
    CHECK(plan.fusion.full == Full::before);
    CHECK(plan.fusion.negotiation == Negotiation::none);
    CHECK(plan.servers.pull == PullStart::together);
    CHECK(!plan.servers.local_reduction);
}

TEST_CASE("the minimum piece that a hint names can be simulated", "[memory]") {
    const std::string hint = error_of("partition: 1 B").hint;
    const std::size_t begin = std::string("write at least ").size();
    const std::string least = hint.substr(begin, hint.find(" per piece") - begin);
    CHECK(plan_of("partition: " + least).partition_bytes > 1);
}
