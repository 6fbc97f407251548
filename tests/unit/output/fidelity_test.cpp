#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "sim/collective/ring.hpp"
#include "sim/config/scenario.hpp"
#include "sim/output/fidelity_text.hpp"
#include "tests/catch.hpp"

// The key `fidelity`: where it is allowed, what it decides, and how results report it.

using namespace syncline;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A ring all-reduce among `ranks` ranks has 2 (N - 1) N messages.
TaskGraph ring_of(std::uint32_t ranks) {
    TaskGraph graph;
    std::vector<ProcessId> members;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) members.push_back(graph.add_process({}));
    const GroupId group = graph.add_group(members);
    const auto exchange = graph.add_exchange({std::make_shared<const RingAllreduce>(), group, 0, 1'000'000, 0});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        Task task{graph.add_stream(members[rank], StreamKind::push), Phase::push};
        task.exchange = exchange;
        task.member = rank;
        graph.add_task(task);
    }
    graph.seal();
    return graph;
}

const std::string root = SYNCLINE_SOURCE_DIR;
const std::string shipped_platform = "platform: " + root + "/platforms/p100-25g.yaml\n";
const std::string native_platform = "platform: {simgrid_xml: " + root + "/tests/unit/simgrid.xml}\n";
const std::string workload = "workload: " + root + "/workloads/resnet-50.yaml\n";

config::Variant variant_of(const std::string& scenario) {
    const auto path =
        std::filesystem::temp_directory_path() / ("syncline-fidelity-" + std::to_string(getpid()) + ".yaml");
    struct Remove {
        std::filesystem::path path;
        ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    std::ofstream(path) << scenario;
    return config::load_scenario(path.string(), {}).variants.front();
}

Fidelity of_training(const std::string& platform, const std::string& more) {
    return variant_of(platform + workload + "training: {ranks: 8, compute: roofline" + more + "}\n").plan.fidelity;
}

Fidelity of_exchange(const std::string& platform, const std::string& more) {
    return variant_of(platform + "collective: {operation: allreduce, ranks: 8, bytes: 1 MB" + more + "}\n")
        .collective->fidelity;
}

/// Returns the only error.
template <class Load>
Diagnostic error_of(const Load& load, const std::string& platform, const std::string& more) {
    try {
        load(platform, more);
    } catch (const ConfigError& error) {
        REQUIRE(error.diagnostics().size() == 1);
        return error.diagnostics().front();
    }
    FAIL("nothing is wrong with " << more);
    return {};
}

}  // namespace

TEST_CASE("fidelity is a key of trainings and of exchanges alone, and message by default", "[memory]") {
    for (const auto& load : {of_training, of_exchange}) {
        CHECK(load(shipped_platform, "") == Fidelity::message);
        CHECK(load(shipped_platform, ", fidelity: message") == Fidelity::message);
        CHECK(load(shipped_platform, ", fidelity: folded") == Fidelity::folded);
        CHECK(load(shipped_platform, ", fidelity: auto") == Fidelity::automatic);
    }
}

TEST_CASE("a misspelt fidelity is an error with a suggestion", "[memory]") {
    for (const auto& load : {of_training, of_exchange}) {
        const Diagnostic value = error_of(load, shipped_platform, ", fidelity: fold");
        CHECK(value.message == "'fidelity' cannot be 'fold'");
        CHECK(value.hint == "did you mean 'folded'?");
        CHECK(error_of(load, shipped_platform, ", fidelty: folded").hint == "did you mean 'fidelity'?");
    }
}

TEST_CASE("on a platform of SimGrid's format nothing can be folded", "[memory]") {
    for (const auto& load : {of_training, of_exchange}) {
        const Diagnostic error = error_of(load, native_platform, ", fidelity: folded");
        CHECK_THAT(error.message, ContainsSubstring("folding is not possible"));
        CHECK_THAT(error.hint, ContainsSubstring("may change with time"));
        CHECK(error.where.line == (load == of_training ? 3 : 2));
        CHECK(load(native_platform, ", fidelity: message") == Fidelity::message);
        CHECK(load(native_platform, ", fidelity: auto") == Fidelity::automatic);
    }
}

TEST_CASE("a plan's fidelity is used unless something prevents it", "[memory]") {
    const TaskGraph few = ring_of(4), many = ring_of(708);  // 708 * 707 * 2 = 1,001,112
    Cluster plain, native;
    native.native.emplace();

    CHECK_FALSE(choose_fidelity(Fidelity::message, plain, many).folds);
    CHECK(choose_fidelity(Fidelity::folded, plain, few).folds);
    CHECK(choose_fidelity(Fidelity::folded, plain, few).why.empty());
    CHECK_FALSE(choose_fidelity(Fidelity::folded, plain, many, true).folds);
    CHECK_FALSE(choose_fidelity(Fidelity::automatic, plain, many, true).folds);
    CHECK_FALSE(choose_fidelity(Fidelity::automatic, native, many).folds);

    const FidelityChoice folds = choose_fidelity(Fidelity::automatic, plain, many);
    CHECK(folds.folds);
    CHECK(folds.why == "1001112 messages are more than 1000000");
    CHECK(choose_fidelity(Fidelity::automatic, plain, ring_of(707)).why == "998284 messages are not more than 1000000");
    CHECK_FALSE(choose_fidelity(Fidelity::automatic, plain, few).folds);
}

TEST_CASE("results say what was folded if the plan asks for folding", "[memory]") {
    Folded folded{{Fidelity::automatic, true, "4198400 messages are more than 1000000"}, 4096, 4194304, 12e-9, 0};
    CHECK(text::folded(folded) ==
          "folded: 4194304 of 4198400 messages; error at most 12 ns (fidelity: auto, "
          "because 4198400 messages are more than 1000000)");
    folded.iterations_folded = 3;
    CHECK_THAT(text::folded(folded), ContainsSubstring(" messages, and 3 identical iterations; error"));

    folded.micro_batches_folded = 49;
    CHECK_THAT(text::folded(folded),
               ContainsSubstring(" messages, 3 identical iterations, and 49 identical microbatches; error"));

    folded.error_s = std::numeric_limits<double>::infinity();
    CHECK_THAT(
        text::folded(folded),
        ContainsSubstring("; blocks that differ by a byte are made equal, and the error has no bound (fidelity"));

    CHECK_THAT(text::folded({{Fidelity::folded, true, ""}, 24, 0, 0, 1}),
               ContainsSubstring("folded: 1 identical iteration; error at most 0"));
    CHECK(text::folded({{Fidelity::folded, true, ""}, 24, 0, 0, 0}) ==
          "folded: none of 24 messages: no step repeats undisturbed (fidelity: folded)");
    CHECK(text::folded({{Fidelity::folded, false, "every message is recorded"}, 24, 0, 0, 0}) ==
          "folded: nothing (fidelity: folded, because every message is recorded)");
    CHECK(text::folded(Folded{{Fidelity::message, false, ""}, 24, 0, 0, 0}).empty());
}
