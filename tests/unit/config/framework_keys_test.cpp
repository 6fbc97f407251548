#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/config/files.hpp"
#include "tests/catch.hpp"

// The keys for how a framework fuses, partitions and orders exchanges.

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

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every key of a framework is read") {
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
    CHECK(negotiation("true") == Negotiation::on_ready);  // former names
    CHECK(negotiation("false") == Negotiation::none);
    CHECK(plan_of("schedule: random").schedule == Schedule::random);
    CHECK(plan_of("partition: none").partition_bytes == 0);
}

TEST_CASE("without these keys nothing changes") {
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

TEST_CASE("keys that have no effect are errors with their place and a hint") {
    const struct {
        const char *training, *key, *message, *hint;
    } mistakes[] = {
        {"fusion: {threshold: none, first: 1 MiB}", "1 MiB", "'first' has no effect without a threshold", "25 MiB"},
        {"fusion: {threshold: none, full: after}", "after", "'full' has no effect without a threshold", "25 MiB"},
        {"exchange: parameter-server, fusion: {threshold: 1 MiB, negotiation: true}", "true",
         "do not negotiate with a parameter server", "allreduce"},
        {"exchange: parameter-server, fusion: {threshold: 1 MiB, negotiation: ahead}", "ahead",
         "do not negotiate with a parameter server", "allreduce"},
        {"fusion: {threshold: 1 MiB, negotiation: early}", "early", "'negotiation' cannot be 'early'",
         "'none', 'on-ready', 'ahead'"},
        {"partition: 0 B", "0 B", "must be above zero", "none"},
        {"partition: 1 B", "1 B", "pieces, each sent 8 times, are too many", "write at least"},
        {"exchange: parameter-server, partition: 2 kB, servers: {count: 64, placement: sliced}", "2 kB",
         "each sent 512 times", "write at least"},
        {"schedule: shortest", "shortest", "'schedule' cannot be 'shortest'", "'fifo', 'priority', 'random'"},
        {"overlap: across", "across", "'overlap' cannot be 'across'", "across-iterations"},
        {"servers: {pull: all}", "all", "'pull' cannot be 'all'", "'together', 'each'"},
        {"servers: {local_reduction: 2}", "2", "local_reduction", ""},
        {"fusion: {threshold: 1 MiB, full: behind}", "behind", "'full' cannot be 'behind'", "'before', 'after'"},
    };
    for (const auto& [training, key, message, hint] : mistakes) {
        CAPTURE(training);
        const Diagnostic error = error_of(training);
        CAPTURE(error.message, error.hint);
        CHECK(contains(error.message, message));
        CHECK(contains(error.hint, hint));
        CHECK(error.where.line == 3);
        const std::string line = std::string("training: {ranks: 8, ") + training;
        CHECK(line.substr(static_cast<std::size_t>(error.where.column) - 1, std::string(key).size()) == key);
    }
}

TEST_CASE("the minimum piece that a hint names can be simulated") {
    const std::string hint = error_of("partition: 1 B").hint;
    const std::size_t begin = std::string("write at least ").size();
    const std::string least = hint.substr(begin, hint.find(" per piece") - begin);
    CHECK(plan_of("partition: " + least).partition_bytes > 1);
}
