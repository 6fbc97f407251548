#include "sim/planning/axes.hpp"

#include <algorithm>
#include <set>

#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// The choices that `parallelism: auto` has.

using namespace syncline;
using namespace syncline::planning;

TEST_CASE("plan axes: the choices of two ranks, counted by hand", "[memory]") {
    const Model model = test::shipped_model("gpt-2");
    Plan base;
    base.ranks = 2;
    std::vector<std::string> texts;
    each_choice({model, 2, 4}, base, [&](const planning::Choice& choice, const Plan& plan) {
        texts.push_back(text_of(choice, base));
        CHECK(plan.parallelism.layout.replica() * plan.parallelism.pipeline.stages * plan.replicas() == 2);
        CHECK(plan_of(choice, base).parallelism.sharding == plan.parallelism.sharding);
    });
    // Two columns of 2 samples: 1 or 2 micro-batches with four kinds of sharding. Two stages of 4 samples: 1, 2 or 4
    // micro-batches with 1f1b and zb-h1; 2 and 4 also interleaved, in 2, 4 or 8 chunks. Two parts of a sequence: 1, 2
    // or 4 micro-batches with four kinds of sharding. Two rows: 3 numbers of micro-batches, with and without sequence
    // parallelism.
    CHECK(texts.size() == 8 + (2 + 5 + 5) + 12 + 6);
    CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == texts.size());
    CHECK(texts.front() == "{data: 2}");
    CHECK(texts[4] == "{data: 2, pipeline: {micro_batches: 2}}");
    CHECK(texts.back() == "{model: 2, data: 1, pipeline: {micro_batches: 4}, sequence: true}");
    const auto listed = [&](const std::string& text) { return std::ranges::count(texts, text); };
    CHECK(texts[20] == "{data: 1, context: 2}");
    CHECK(listed("{data: 1, pipeline: {stages: 2, micro_batches: 2, schedule: interleaved, virtual_stages: 2}}") == 1);
    CHECK(listed("{data: 1, pipeline: {stages: 2, micro_batches: 4, schedule: zb-h1}}") == 1);
}

TEST_CASE("plan axes: rows have a part of every layer, and images have no sequences", "[memory]") {
    const auto most = [](const Model& model, std::int64_t ranks) {
        std::int64_t rows = 0;
        bool sequence = false;
        Plan base;
        base.ranks = ranks;
        each_choice({model, ranks, ranks}, base, [&](const planning::Choice&, const Plan& plan) {
            rows = std::max(rows, plan.parallelism.layout.rows);
            sequence = sequence || plan.parallelism.sequence;
        });
        return std::pair(rows, sequence);
    };
    // 12 heads: 16 of 32 ranks are too many. AlexNet's narrowest layer has 96 filters.
    CHECK(most(test::shipped_model("gpt-2"), 32) == std::pair<std::int64_t, bool>(8, true));
    CHECK(most(test::shipped_model("alexnet-nogroup"), 64).second == false);
}
