#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/config/scenario.hpp"
#include "sim/explain/explain.hpp"
#include "sim/output/explanation_output.hpp"
#include "sim/output/json_text.hpp"
#include "tests/catch.hpp"

// Explanations of trainings whose replicas fold, of which only the ranks that stand for the others are simulated.

using namespace syncline;

namespace {

/// Returns the array without pieces of the critical path that are rounding errors, and their sums by name: of equal
/// ones rounding decides which is first.
std::vector<Json> without_rounding(const Json& array) {
    constexpr double rounding_s = 1e-11;
    std::vector<Json> left;
    for (const Json& one : array) {
        const bool piece = one.is_object() && one.contains("where"), sum = one.is_object() && one.contains("pieces");
        const double length_s = piece ? one.at("end_s").get<double>() - one.at("start_s").get<double>()
                                : sum ? one.at("seconds").get<double>()
                                      : 1;
        if (length_s > rounding_s) left.push_back(one);
    }
    if (!left.empty() && left.front().contains("pieces"))
        std::ranges::sort(left, {}, [](const Json& sum) { return sum.at("kind").dump() + sum.at("what").dump(); });
    return left;
}

/// Checks that all that both explanations say is the same, but how they were simulated.
void check_same(const Json& folded, const Json& whole, const std::string& where) {
    static const std::set<std::string> how{"fidelity",        "messages_simulated", "messages_folded",
                                           "folding_error_s", "iterations_folded",  "level_reason"};
    INFO(where);
    REQUIRE(folded.type_name() == std::string(whole.type_name()));
    if (folded.is_object()) {
        REQUIRE(folded.size() == whole.size());
        for (const auto& [key, value] : whole.items())
            if (!how.contains(key)) check_same(folded.at(key), value, where + "." + key);
    } else if (folded.is_array()) {
        const std::vector<Json> own = without_rounding(folded), other = without_rounding(whole);
        REQUIRE(own.size() == other.size());
        for (std::size_t i = 0; i < other.size(); ++i) check_same(own[i], other[i], where + "." + std::to_string(i));
    } else if (folded.is_number()) {
        CHECK(folded.get<double>() == Approx(whole.get<double>()).epsilon(1e-8).margin(1e-9));
    } else {
        CHECK(folded == whole);
    }
}

Explanation explained(const config::Variant& variant, Fidelity fidelity, bool every_rank, TimelineView& view) {
    Plan plan = variant.plan;
    plan.fidelity = fidelity;
    ExplainOptions options;
    options.most_messages = 0;
    options.changes = {{"link:nic", 2}, {"device", 2}};
    options.every_rank = every_rank;
    return explain(lower(variant.cluster, variant.model, plan), options, &view);
}

}  // namespace

TEST_CASE("explain: where replicas fold, the ranks that stand for the others give the same answer") {
    // Stages of 32 ranks on four nodes.
    for (const char* parallelism :
         {"{model: 4, data: 8, pipeline: {stages: 2, micro_batches: 4}, sequence: true, sharding: optimizer}",
          "{model: 2, context: 2, data: 8, pipeline: {stages: 2, micro_batches: 4, schedule: interleaved, "
          "virtual_stages: 2}, sharding: optimizer}"}) {
        CAPTURE(parallelism);
        const config::Scenario scenario =
            config::load_scenario(std::string(SYNCLINE_SOURCE_DIR) + "/scenarios/llama-3-70b.yaml",
                                  {"workload=llama-3-8b", "training.ranks=64", "training.batch=64", "training.run=~",
                                   "training.parallelism=~", std::string("training.parallelism=") + parallelism},
                                  nullptr, 1, {"recipe"});
        const config::Variant& variant = scenario.variants.front();
        TimelineView few, all, whole;
        const Explanation folded = explained(variant, Fidelity::folded, false, few);
        const Explanation every = explained(variant, Fidelity::folded, true, all);
        const Explanation unfolded = explained(variant, Fidelity::message, false, whole);
        REQUIRE(few.graph.images() > 1);
        REQUIRE(all.graph.images() == 1);
        CHECK(few.graph.tasks().size() * few.graph.images() == whole.graph.tasks().size());
        REQUIRE(folded.what_if.size() == 2);
        const Json other = Json::parse(to_json(ExplainReport{"", {unfolded}}));
        check_same(Json::parse(to_json(ExplainReport{"", {folded}})), other, "folded");
        check_same(Json::parse(to_json(ExplainReport{"", {every}})), other, "every rank");
    }
}
