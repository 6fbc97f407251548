#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/analysis/experiment.hpp"
#include "sim/config/scenario.hpp"
#include "sim/planning/answer_text.hpp"
#include "sim/planning/divisions.hpp"
#include "sim/planning/search.hpp"
#include "tests/catch.hpp"

// Divisions of layers that the search of plans finds, compared with the default by the simulation of both.

using namespace syncline;
using namespace syncline::planning;

namespace {

/// Ten transformer layers, that is 20 halves, an embedding, and a head as long as three halves, on four stages.
config::Variant world(const std::string& pipeline) {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("syncline-divisions-{}.yaml", getpid());
    std::ofstream(path) << "platform:\n"
                           "  name: small\n"
                           "  device: {name: card, flops: 30 Tflops, memory_bandwidth: 600 GBps}\n"
                           "  per_node: {devices: 4, links: {pattern: switch, bandwidth: 60 GBps, latency: 1 us}}\n"
                           "  fabric: {topology: star, bandwidth: 100 Gbps, latency: 2 us}\n"
                           "workload:\n"
                           "  name: small\n  sequence: 256\n  element_size: 2 B\n  layers:\n"
                           "  - {name: words, kind: embedding, vocabulary: 8000, width: 1024}\n"
                           "  - {name: layer, kind: transformer, repeat: 10, width: 1024, heads: 16, hidden: 4096}\n"
                           "  - {name: head, kind: dense, inputs: 1024, outputs: 32000, norm: layer, gathered: false}\n"
                           "training: {ranks: 8, batch: 16, optimizer: adam, parallelism: {auto: true, pipeline: "
                        << pipeline << "}}\n";
    const config::Scenario scenario = config::load_scenario(path.string(), {});
    std::filesystem::remove(path);
    return scenario.variants.front();
}

Found found_for(const config::Variant& variant) {
    Search how;
    how.simulated = 4;
    return search(variant.cluster, variant.model, variant.plan, variant.open, how);
}

double simulated_s(const config::Variant& variant, Plan plan) {
    plan.fidelity = Fidelity::message;
    return replay_iteration(lower(variant.cluster, variant.model, std::move(plan))).time.iteration_s;
}

}  // namespace

TEST_CASE("plan divisions: one that is better than the default is found, and the simulation agrees", "[planning]") {
    const config::Variant variant = world("{stages: 4, schedule: interleaved, virtual_stages: 2}");
    const Found found = found_for(variant);
    REQUIRE(!found.plans.empty());
    const FoundPlan& best = found.plans.front();
    REQUIRE(best.layers.size() == 8);
    CHECK(best.simulated_s);
    CHECK(best.estimated_s <= (1 - least_gain) * best.undivided_s);
    CHECK(best.text.find(fmt::format("layers: [{}]", fmt::join(best.layers, ", "))) != std::string::npos);
    const double divided_s = simulated_s(variant, settled_plan(variant.plan, variant.open.batch, best));
    const double usual_s = simulated_s(variant, settled_plan(variant.plan, variant.open.batch, best.choice));
    CHECK(divided_s < (1 - least_gain) * usual_s);
    CHECK(divided_s / usual_s == Approx(best.estimated_s / best.undivided_s).epsilon(0.02));

    const std::vector<Answer> all = answers(variant.cluster, variant.model, variant.plan, variant.open, found, 1, {});
    REQUIRE(all.size() == 1);
    CHECK(all.front().words.find("PP4x2 ") != std::string::npos);
    CHECK(all.front().words.find(" layers") != std::string::npos);
    // Whoever published the same plan has the default division.
    const auto published = beside({{PublishedRun{}, best.choice}}, variant.cluster, variant.model, variant.plan,
                                  variant.open, found, best);
    REQUIRE(published.size() == 1);
    CHECK(!published.front().best);
    CHECK(published.front().shares.total_s() > all.front().shares.total_s());
    CHECK(to_table({variant.model.name, 256, all, {}}).find("faster than the default") != std::string::npos);
}

TEST_CASE("plan divisions: layers that are written are kept, and one virtual stage has its balance", "[planning]") {
    for (const char* pipeline :
         {"{stages: 4, schedule: interleaved, virtual_stages: 2, layers: [4, 2, 3, 3, 3, 3, 2, 2]}",
          "{stages: 4, virtual_stages: 1}"}) {
        const config::Variant variant = world(pipeline);
        const Found found = found_for(variant);
        REQUIRE(!found.plans.empty());
        for (const FoundPlan& plan : found.plans) CHECK(plan.layers.empty());
        CHECK(settled_plan(variant.plan, variant.open.batch, found.plans.front()).parallelism.pipeline.layers ==
              variant.plan.parallelism.pipeline.layers);
    }
}
