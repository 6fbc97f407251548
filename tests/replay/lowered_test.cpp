#include "sim/lowering/lowered.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/config/scenario.hpp"
#include "sim/explain/explain.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/lowering/device_memory.hpp"
#include "tests/catch.hpp"

// A plan is lowered once, and its graph built once, by everything that answers a question about it. The linker puts the
// wrappers below around both functions (--wrap in tests/CMakeLists.txt).

using namespace syncline;

namespace {

int lowered = 0, built = 0;

}  // namespace

Lowered real_lower(Cluster cluster, Model model,
                   Plan plan) __asm__("__real__ZN8syncline5lowerENS_7ClusterENS_5ModelENS_4PlanE");
Lowered wrapped_lower(Cluster cluster, Model model,
                      Plan plan) __asm__("__wrap__ZN8syncline5lowerENS_7ClusterENS_5ModelENS_4PlanE");
TaskGraph real_build(const Lowered& training) __asm__("__real__ZN8syncline15build_iterationERKNS_7LoweredE");
TaskGraph wrapped_build(const Lowered& training) __asm__("__wrap__ZN8syncline15build_iterationERKNS_7LoweredE");

Lowered wrapped_lower(Cluster cluster, Model model, Plan plan) {
    ++lowered;
    return real_lower(std::move(cluster), std::move(model), std::move(plan));
}

TaskGraph wrapped_build(const Lowered& training) {
    ++built;
    return real_build(training);
}

namespace {

using Counts = std::vector<int>;  // lowered, built

/// Counts while `ask` answers a question about a training of AlexNet on four ranks, with `more` set.
template <class Ask>
Counts counts(const std::vector<std::string>& more, const Ask& ask) {
    const std::string root = SYNCLINE_SOURCE_DIR;
    std::string file = (std::filesystem::temp_directory_path() / "syncline-lowered-XXXXXX").string();
    const int descriptor = mkstemp(file.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    std::ofstream(file) << "platform: " << root << "/platforms/p100-25g.yaml\nworkload: " << root
                        << "/workloads/alexnet-tf.yaml\ntraining: {ranks: 4, iterations: 1, batch_per_rank: 16}\n";
    lowered = built = 0;
    const config::Scenario scenario = config::load_scenario(file, more);
    std::filesystem::remove(file);
    for (const config::Variant& variant : scenario.variants) ask(variant);
    return {lowered, built};
}

}  // namespace

TEST_CASE("lowered: a run lowers its plan once and builds its graph once, and so does the reference of one rank",
          "[memory]") {
    const auto run = [](const config::Variant& variant) {
        CHECK(memory_of(variant.lowered()).fits());
        simulate(variant.lowered());
    };
    CHECK(counts({"training.ranks=1"}, run) == Counts{1, 1});
    CHECK(counts({}, run) == Counts{2, 2});
    CHECK(counts({"training.exchange=parameter-server"}, run) == Counts{2, 2});
    // Whether these fit is only known of the lowered form.
    CHECK(counts({"training.parallelism={model: 2}"}, run) == Counts{2, 2});
    CHECK(counts({"training.parallelism={model: auto}", "training.batch=64"}, run) == Counts{3 * 2, 3 * 2});
}

TEST_CASE("lowered: an explanation lowers no more often, and each change once more", "[memory]") {
    ExplainOptions options;
    const auto explained = [&](const config::Variant& variant) {
        CHECK(memory_of(variant.lowered()).fits());
        explain(variant.lowered(), options);
    };
    CHECK(counts({"training.ranks=1"}, explained) == Counts{1, 1});
    CHECK(counts({}, explained) == Counts{2, 2});
    options.changes = {parse_change("link:nic x2"), parse_change("batch x2")};
    CHECK(counts({}, explained) == Counts{4, 4});
}

TEST_CASE("lowered: a dry run lowers once and builds nothing", "[memory]") {
    const auto dry = [](const config::Variant& variant) { dry_run(variant.lowered()); };
    CHECK(counts({}, dry) == Counts{1, 0});
    CHECK(counts({"training.fidelity=auto"}, dry) == Counts{1, 0});
}
