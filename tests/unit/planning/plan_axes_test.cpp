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
    // Two columns of 2 samples: 1 or 2 microbatches with four kinds of sharding, of which two gather weights at two
    // times, and with 2 microbatches parameters' gradients are exchanged once or twice. Two stages of 4 samples: 1, 2
    // or 4 microbatches with 1f1b and zb-h1; 2 and 4 also interleaved, in 2, 4 or 8 chunks. Two parts of a sequence:
    // 1, 2 or 4 microbatches with these kinds of sharding, and two exchanges. Two rows: 3 numbers of microbatches,
    // without sequence parallelism, and with it as a whole, or in 2 or 4 chunks.
    CHECK(texts.size() == (6 + 7) + (2 + 5 + 5) + 2 * (6 + 7 + 7) + 3 * 4);
    CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == texts.size());
    CHECK(texts.front() == "{data: 2}");
    CHECK(texts[2] == "{data: 2, sharding: optimizer, gathering: before-forward}");
    CHECK(texts[6] == "{data: 2, pipeline: {micro_batches: 2}}");
    CHECK(texts.back() ==
          "{model: 2, data: 1, pipeline: {micro_batches: 4}, sequence: true, model_overlap: {chunks: 4}}");
    const auto listed = [&](const std::string& text) { return std::ranges::count(texts, text); };
    CHECK(texts[25] == "{data: 1, context: 2}");
    CHECK(
        listed("{data: 1, context: {ranks: 2, exchange: ulysses}, pipeline: {micro_batches: 2}, sharding: parameters, "
               "gradient_sync: last-micro-batch}") == 1);
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

TEST_CASE("plan axes: a plan has the values that a choice has given it", "[memory]") {
    Model model = test::shipped_model("mixtral-8x7b");
    Plan base;
    base.ranks = 8;
    const Space space{.model = model, .ranks = 8, .batch = 8, .devices = 2, .recomputation = true};
    std::set<std::string> seen;
    std::vector<std::set<std::int64_t>> values(axes().size());
    each_choice(space, base, [&](const planning::Choice& choice, const Plan& plan) {
        for (std::size_t i = 0; i < choice.size(); ++i) {
            values[i].insert(choice[i]);
            if (axes()[i].read(plan) != choice[i]) seen.insert(axes()[i].key);
        }
    });
    CHECK(seen.empty());
    // All that can be chosen for this model but chunks, since its halves with experts have none.
    for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(axes()[i].key);
        CHECK((values[i].size() > 1) == (axes()[i].key != "model_overlap"));
    }
}

TEST_CASE("plan axes: what the user has written has one value, and what a framework decides as well", "[memory]") {
    const Model model = test::shipped_model("gpt-2");
    Plan base;
    base.ranks = 4;
    base.parallelism.sharding = Sharding::optimizer;
    base.parallelism.gather = Gather::before_forward;
    const auto texts = [&](const std::vector<std::string>& written) {
        std::set<std::string> all;
        each_choice({.model = model, .ranks = 4, .batch = 4, .written = written}, base,
                    [&](const planning::Choice& choice, const Plan&) { all.insert(text_of(choice, base)); });
        return all;
    };
    const auto having = [](const std::set<std::string>& all, const std::string& part) {
        return std::ranges::count_if(all, [&](const std::string& text) { return text.find(part) != text.npos; });
    };
    const auto size = [](const auto& all) { return std::ranges::ssize(all); };
    const auto free = texts({});
    CHECK(having(free, "sharding: parameters") > 0);
    CHECK(having(free, "gathering") < size(free));
    CHECK(having(texts({"sharding"}), "sharding: optimizer") == size(texts({"sharding"})));
    CHECK(having(texts({"sharding.of"}), "sharding: optimizer") == size(texts({"sharding"})));
    CHECK(having(texts({"gathering"}), "gathering: before-forward") == size(texts({"gathering"})));
    CHECK(having(texts({"pipeline"}), "stages") == 0);
    CHECK(having(texts({"context"}), "context") == 0);
    // A framework's sharding is replaced by what is found, and its way of gathering stays, unsaid.
    base.inherited = {"parallelism.sharding", "parallelism.gathering"};
    const auto inherited = texts({});
    CHECK(having(inherited, "sharding: ") == size(inherited));
    CHECK(having(inherited, "gathering") == 0);
}
