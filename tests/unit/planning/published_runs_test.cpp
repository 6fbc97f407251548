#include "sim/planning/published_runs.hpp"

#include <cmath>

#include "tests/catch.hpp"

// The nearest published runs to a plan, and how far their predictions were off.

using namespace syncline;
using namespace syncline::planning;

namespace {

PublishedRun run_of(const std::string& name, const std::string& device, std::int64_t ranks, std::int64_t parameters,
                    double factor, std::int64_t experts = 0) {
    PublishedRun run;
    run.name = name;
    run.device = device;
    run.model = "model";
    run.ranks = ranks;
    run.parameters = parameters;
    run.experts = experts;
    run.measured_by_predicted = factor;
    return run;
}

Model model_of(std::int64_t parameters) {
    Model model;
    model.name = "model";
    Layer& layer = model.layers.emplace_back();
    layer.parameters = parameters;
    return model;
}

Device device_of(const std::string& name) {
    Device device;
    device.name = name;
    return device;
}

}  // namespace

TEST_CASE("published runs: generations are letters before numbers") {
    CHECK(generation_of("h100-sxm") == generation_of("gh200"));
    CHECK(generation_of("gb200") == "b");
    CHECK(generation_of("a100-sxm4") == "a");
    for (const char* other : {"", "g", "tpu-v4", "100g", "device"}) CHECK(generation_of(other).empty());
}

TEST_CASE("published runs: of the eight nearest, the shortest and the longest do not count") {
    // On 64 ranks with 1000 parameters: the distances of 2^k as many ranks are k ln 2, 0 to 2.8 for k <= 4.
    std::vector<PublishedRun> runs{
        run_of("other generation", "a100-sxm4", 64, 1000, 9), run_of("experts", "h100-sxm", 64, 1000, 9, 8),
        run_of("not predicted", "h100-sxm", 64, 1000, 0), run_of("unreliable", "h100-sxm", 64, 1000, 9),
        run_of("far", "h100-sxm", 64 * 32, 1000, 9)};  // 5 ln 2 = 3.5
    runs[3].reliable = false;
    for (const auto& [ranks, factor] :
         {std::pair{64, 1.3}, {128, 1.1}, {32, 5.9}, {256, 1.2}, {16, 1.0}, {512, 0.9}, {8, 1.25}, {1024, 1.15}})
        runs.push_back(run_of(std::to_string(ranks), "h200", ranks, 1000, factor));
    const Spread spread = spread_of(runs, device_of("h100-sxm"), model_of(1000), 64);
    REQUIRE(spread.runs.size() == 8);  // factors 0.9, 1, 1.1, 1.15, 1.2, 1.25, 1.3, 5.9
    CHECK(spread.least == 1.0);
    CHECK(spread.most == 1.3);
    CHECK(spread.first.name == "16");
    CHECK(spread.last.name == "64");
    // A nearer one takes the place of the farthest, of 1024 ranks: sqrt(2) ln 2 = 0.98 is less than 4 ln 2.
    runs.push_back(run_of("near", "gh200", 128, 2000, 1.28));
    CHECK(spread_of(runs, device_of("h100-sxm"), model_of(1000), 64).runs.size() == 8);
    for (const PublishedRun& run : spread_of(runs, device_of("h100-sxm"), model_of(1000), 64).runs)
        CHECK(run.name != "1024");
    CHECK(spread_of(runs, device_of("a100"), model_of(1000), 64).most == 9);
    CHECK_FALSE(spread_of(runs, device_of("a100"), model_of(1000 * 1000), 64).any());
    CHECK_FALSE(spread_of(runs, device_of("device"), model_of(1000), 64).any());
}

TEST_CASE("published runs: all of three count") {
    const std::vector<PublishedRun> runs{run_of("a", "h100-sxm", 64, 1000, 2), run_of("b", "h100-sxm", 64, 1000, 1),
                                         run_of("c", "h100-sxm", 64, 1000, 1.5)};
    const Spread spread = spread_of(runs, device_of("h100-sxm"), model_of(1000), 64);
    CHECK(spread.least == 1);
    CHECK(spread.most == 2);
    CHECK(words_of(spread) ==
          "the 3 nearest published runs took 1.00 to 2.00 times as long as predicted: from b (model, 64 h100-sxm) to a "
          "(model, 64 h100-sxm)");
}
