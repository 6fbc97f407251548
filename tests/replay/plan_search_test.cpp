#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/base/units.hpp"
#include "sim/config/scenario.hpp"
#include "sim/iteration/forecast.hpp"
#include "sim/lowering/feasibility.hpp"
#include "sim/lowering/recomputed_spans.hpp"
#include "sim/planning/answer.hpp"
#include "sim/planning/search.hpp"
#include "sim/planning/wire_costs.hpp"
#include "tests/catch.hpp"

// The search of `parallelism: auto`, compared with the simulation of every plan.

using namespace syncline;
using namespace syncline::planning;

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// A transformer of six layers on nodes of four devices. Computation and exchanges take about as long.
config::Variant world(std::int64_t ranks, const std::string& fabric, const std::string& more = "",
                      const std::string& layer = "transformer, repeat: 6, width: 1024, heads: 16, hidden: 4096") {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("syncline-plans-{}.yaml", getpid());
    std::ofstream(path) << "platform:\n"
                           "  name: small\n"
                           "  device: {name: card, flops: 30 Tflops, memory_bandwidth: 600 GBps}\n"
                           "  per_node: {devices: 4, links: {pattern: switch, bandwidth: 60 GBps, latency: 1 us}}\n"
                           "  fabric: "
                        << fabric
                        << "\nworkload:\n"
                           "  name: small\n  sequence: 256\n  element_size: 2 B\n  layers:\n"
                           "  - {name: words, kind: embedding, vocabulary: 8000, width: 1024}\n"
                           "  - {name: layer, kind: "
                        << layer
                        << "}\n"
                           "  - {name: head, kind: dense, inputs: 1024, outputs: 8000, norm: layer, gathered: false}\n"
                        << fmt::format("training: {{ranks: {}, batch: 16, parallelism: auto, optimizer: adam{}}}\n",
                                       ranks, more);
    const config::Scenario scenario = config::load_scenario(path.string(), {});
    std::filesystem::remove(path);
    return scenario.variants.front();
}

/// One plan, and its simulation message by message.
struct Simulated {
    Plan plan;
    double seconds = 0, bytes = 0, estimated_s = 0, least_s = 0;

    /// Returns its parts in a line, for messages.
    std::string text() const {
        const Parallelism& of = plan.parallelism;
        return fmt::format(
            "rows {} context {} stages {} microbatches {} virtual stages {} schedule {} experts {} sequence {} "
            "apart {} overlap {} exchange {} sharding {} within {} gather {} sync {} recomputation {}: {} s, {} s "
            "estimated",
            of.layout.rows, of.layout.context, of.pipeline.stages, of.pipeline.micro_batches,
            of.pipeline.virtual_stages, static_cast<int>(of.pipeline.schedule), of.experts.ranks, of.sequence,
            of.experts.model, of.model_chunks, static_cast<int>(of.context_exchange), static_cast<int>(of.sharding),
            of.shard_ranks.value_or(-1), static_cast<int>(of.gather), static_cast<int>(of.gradient_sync),
            static_cast<int>(plan.recomputation), seconds, estimated_s);
    }
};

/// Adds the plan with every recomputation, every way of gathering weights and exchanging gradients that its sharding
/// has, and the other schedule without virtual stages.
void add_states(Plan plan, std::vector<Plan>& plans) {
    Parallelism& parallelism = plan.parallelism;
    const bool updates = divides_updates(parallelism.sharding);
    for (const Recomputation recomputation :
         {Recomputation::none, Recomputation::selective, Recomputation::operators, Recomputation::full})
        for (const Gather gather : {Gather::after_update, Gather::before_forward})
            for (const GradientSync sync : {GradientSync::automatic, GradientSync::last_micro_batch})
                for (const PipelineSchedule schedule :
                     {parallelism.pipeline.schedule, PipelineSchedule::zero_bubble_h1}) {
                    if (gather == Gather::before_forward && !updates) continue;
                    if (sync != GradientSync::automatic && parallelism.sharding != Sharding::parameters) continue;
                    if (schedule == PipelineSchedule::zero_bubble_h1 &&
                        (parallelism.pipeline.stages == 1 || parallelism.pipeline.virtual_stages > 1))
                        continue;
                    plans.push_back(plan);
                    plans.back().recomputation = recomputation;
                    plans.back().parallelism.gather = gather;
                    plans.back().parallelism.gradient_sync = sync;
                    plans.back().parallelism.pipeline.schedule = schedule;
                }
}

/// Adds the plan with every overlap of the exchanges among rows, and every exchange of a context group.
void add_overlaps(const Plan& plan, std::vector<Plan>& plans) {
    for (const std::int64_t chunks : {1, 2, 4})
        for (const ContextExchange exchange : {ContextExchange::ring, ContextExchange::ulysses}) {
            if (chunks > 1 && !plan.parallelism.sequence) continue;
            if (exchange == ContextExchange::ulysses && plan.parallelism.layout.context == 1) continue;
            Plan with = plan;
            if (chunks > 1) with.parallelism.model_overlap = ModelOverlap::weight_gradients;
            with.parallelism.model_chunks = chunks;
            with.parallelism.context_exchange = exchange;
            add_states(with, plans);
        }
}

/// Returns every plan whose batch, rows, contexts, stages, chunks and experts divide, by loops of its own. `devices`
/// are those of a node.
std::vector<Plan> every_plan(const Plan& base, std::int64_t batch, std::int64_t layers, std::int64_t experts,
                             std::int64_t devices) {
    std::vector<Plan> plans;
    const auto add = [&](std::int64_t rows, std::int64_t context, std::int64_t stages, std::int64_t count) {
        const std::int64_t alike = base.ranks / stages / rows, columns = alike / context;
        for (const std::int64_t chunks : {1, 2, 4, 8})
            for (std::int64_t expert_ranks = 1; expert_ranks <= std::min(experts, alike * rows); expert_ranks *= 2)
                for (const bool apart : {false, true})
                    for (const bool sequence : {false, true})
                        for (const Sharding sharding :
                             {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
                            if (chunks > 1 && (stages == 1 || count % stages != 0 || stages * chunks > layers))
                                continue;
                            if ((sequence && rows == 1) || (sharding != Sharding::none && alike == 1)) continue;
                            if (apart ? experts == 1 || !sequence : expert_ranks > alike) continue;
                            Plan plan = base;
                            plan.parallelism = {};
                            plan.parallelism.layout.rows = rows;
                            plan.parallelism.layout.context = context;
                            plan.parallelism.experts.ranks = expert_ranks;
                            plan.parallelism.experts.model = apart ? 1 : 0;
                            plan.parallelism.sequence = sequence;
                            plan.parallelism.sharding = sharding;
                            Pipeline& pipeline = plan.parallelism.pipeline;
                            pipeline.stages = stages;
                            pipeline.micro_batches = count;
                            pipeline.virtual_stages = chunks;
                            if (chunks > 1) pipeline.schedule = PipelineSchedule::interleaved;
                            plan.batch_per_rank = batch / columns;
                            plan.scaling = Scaling::strong;
                            add_overlaps(plan, plans);
                            if (sharding == Sharding::none || devices / rows < 2 || devices / rows >= alike) continue;
                            plan.parallelism.shard_ranks = devices / rows;
                            add_overlaps(plan, plans);
                        }
    };
    for (std::int64_t rows = 1; rows <= std::min<std::int64_t>(base.ranks, 16); rows *= 2)
        for (std::int64_t context = 1; context * rows <= base.ranks && context <= 16; context *= 2)
            for (std::int64_t stages = 1; stages * context * rows <= base.ranks && stages <= layers; stages *= 2)
                for (std::int64_t count = 1; count * (base.ranks / stages / rows / context) <= batch; count *= 2)
                    add(rows, context, stages, count);
    return plans;
}

std::vector<Simulated> simulate_all(const Cluster& wanted, const Model& model, const Plan& base, const OpenPlan& open,
                                    std::int64_t experts, const std::function<bool(const Plan&)>& chosen = {}) {
    Cluster cluster = wanted;
    give_nodes(cluster, base.placement, base.ranks, 0);
    std::vector<Simulated> all;
    for (const Plan& plan : every_plan(base, open.batch, std::ssize(model.layers), experts, cluster.node.devices)) {
        if (chosen && !chosen(plan)) continue;
        // Without stored scores there is nothing to select.
        if (plan.recomputation == Recomputation::selective && !stores_scores(model)) continue;
        if (!open.recomputation && plan.recomputation != base.recomputation) continue;
        const Feasibility found = judge(cluster, model, plan);
        if (!found.complaints.empty()) continue;
        const Lowered lowered = lower(cluster, model, plan);
        WireCosts wires(cluster, lowered.places);
        const Forecast expected = forecast(lowered, wires);
        all.push_back({plan, replay_iteration(lowered).time.iteration_s, memory_of(lowered).total_bytes(),
                       expected.time_s, expected.least_s});
    }
    return all;
}

/// Checks the search against all plans, with the device's memory at several limits.
void compare(const config::Variant& variant, std::int64_t experts = 1, double most = 1.02) {
    const std::vector<Simulated> all =
        simulate_all(variant.cluster, variant.model, variant.plan, variant.open, experts);
    std::vector<double> needs;
    double worst = 0;
    for (const Simulated& one : all) {
        needs.push_back(one.bytes);
        worst = std::max(worst, std::abs(one.estimated_s / one.seconds - 1));
        CAPTURE(one.text());
        CHECK(one.least_s <= one.seconds);
    }
    std::sort(needs.begin(), needs.end());
    CAPTURE(all.size(), worst);
    REQUIRE(all.size() > 50);
    for (const double limit_B : {endless, needs[needs.size() / 2], needs[needs.size() / 8], needs.front()}) {
        double best_s = endless;
        std::size_t fitting = 0;
        for (const Simulated& one : all) {
            if (one.bytes > limit_B) continue;
            best_s = std::min(best_s, one.seconds);
            ++fitting;
        }
        Cluster cluster = variant.cluster;
        cluster.device.memory_bytes = limit_B;
        const Found found = search(cluster, variant.model, variant.plan, variant.open, {.jobs = 2});
        CAPTURE(limit_B, fitting, found.plans.size(), found.simulated);
        REQUIRE(!found.plans.empty());
        CAPTURE(found.plans.front().text, best_s, worst);
        CHECK(found.plans.front().simulated_s.value() <= most * best_s);
        // Of the divisions of layers all plans have the default one.
        if (found.plans.front().layers.empty()) CHECK(found.plans.front().simulated_s.value() >= best_s * (1 - 1e-6));
        for (const FoundPlan& plan : found.plans) CHECK(plan.memory.total_bytes() <= limit_B);
        CHECK(found.considered.choices == found.skipped.total() + std::ssize(found.plans));
    }
}

}  // namespace

TEST_CASE("plan search: on one switch the best plan is within 2 % of the best of all plans", "[sweep]") {
    compare(world(8, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}"));
}

TEST_CASE("plan search: on a slow network the best plan is within 2 % of the best of all plans", "[sweep]") {
    compare(world(8, "{topology: star, bandwidth: 10 Gbps, latency: 20 us}"));
}

TEST_CASE("plan search: on an oversubscribed tree the best plan is within 2 % of the best of all plans", "[sweep]") {
    compare(world(16, "{topology: fat-tree, down: [2, 2], up: [1, 1], bandwidth: 50 Gbps, latency: 2 us}",
                  ", iterations: 2, recomputation: none"));
}

constexpr const char* experts_of_four =
    "block, repeat: 3, layers: [{name: attention, kind: attention, width: 1024, heads: 16}, {name: moe, kind: moe, "
    "width: 1024, hidden: 2048, experts: 4, top_k: 2}]";

TEST_CASE("plan search: with experts the best plan is within 2 % of the best of all plans", "[sweep]") {
    compare(world(8, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}", "", experts_of_four), 4);
}

// A tenth of the plans of the sweeps above.
TEST_CASE("plan search: on a slow network without recomputation the best plan is within 2 % of the best of all plans",
          "[sweep]") {
    compare(world(8, "{topology: star, bandwidth: 10 Gbps, latency: 20 us}", ", iterations: 1, recomputation: none"));
}

TEST_CASE("plan search: with experts, without recomputation, the best plan is within 3 % of the best of all plans") {
    compare(world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}", ", iterations: 1, recomputation: none",
                  experts_of_four),
            4, 1.03);
}

TEST_CASE("plan search: without overlap the best plan is within 2 % of the best of all plans") {
    compare(world(4, "{topology: star, bandwidth: 40 Gbps, latency: 2 us}",
                  ", overlap: none, iterations: 1, recomputation: none"));
}

/// Checks that the best of all plans by simulation, or one as fast to a thousandth, is among the three that `syncline
/// plan` shows after as many simulations as it makes. The device has the memory that `memory_share` of the plans need.
void answer_has_best(const config::Variant& variant, std::int64_t experts, double memory_share = 1,
                     const std::function<bool(const Plan&)>& wanted = {}) {
    std::vector<Simulated> all =
        simulate_all(variant.cluster, variant.model, variant.plan, variant.open, experts, wanted);
    REQUIRE(all.size() > 50);
    std::ranges::sort(all, {}, &Simulated::bytes);
    all.resize(static_cast<std::size_t>(memory_share * static_cast<double>(all.size())));
    const Simulated& best = *std::ranges::min_element(all, {}, &Simulated::seconds);
    Cluster cluster = variant.cluster;
    if (memory_share < 1) cluster.device.memory_bytes = all.back().bytes;
    const Found found = search(cluster, variant.model, variant.plan, variant.open, {.jobs = 2});
    give_nodes(cluster, variant.plan.placement, variant.plan.ranks, 0);
    double shown_s = endless;
    std::string texts;
    for (const planning::Answer& one : answers(cluster, variant.model, variant.plan, variant.open, found, 3)) {
        const Plan plan = settled_plan(variant.plan, variant.open.batch, one.found);
        const double seconds = replay_iteration(lower(cluster, variant.model, plan)).time.iteration_s;
        texts += fmt::format("{}: {} s; ", one.words, seconds);
        shown_s = std::min(shown_s, seconds);
    }
    CAPTURE(all.size(), found.plans.size(), best.text(), texts);
    CHECK(shown_s <= 1.001 * best.seconds);
}

TEST_CASE("plan search: of a dense model, the best of all plans is among the three shown", "[slow]") {
    answer_has_best(world(8, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}", ", recomputation: none"), 1);
}

TEST_CASE("plan search: with experts, the best of all plans is among the three shown") {
    answer_has_best(world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}",
                          ", iterations: 1, recomputation: none", experts_of_four),
                    4, 1, [](const Plan& plan) { return plan.parallelism.model_chunks == 1; });  // not searched
}

TEST_CASE("plan search: on a slow fabric, the best of all plans is among the three shown", "[slow]") {
    answer_has_best(world(8, "{topology: star, bandwidth: 10 Gbps, latency: 20 us}", ", recomputation: none"), 1);
}

TEST_CASE("plan search: with little memory, the best of all plans is among the three shown") {
    answer_has_best(world(4, "{topology: star, bandwidth: 50 Gbps, latency: 2 us}", ", iterations: 1"), 1, 0.1);
}

TEST_CASE("plan search: with many stages, the best of all plans is among the three shown") {
    // Twelve layers, whose single heads rows cannot divide, on 16 ranks.
    config::Variant variant =
        world(16, "{topology: star, bandwidth: 10 Gbps, latency: 20 us}", ", iterations: 1, recomputation: none",
              "transformer, repeat: 12, width: 1024, heads: 1, hidden: 4096");
    variant.open.kept = {"context.ranks", "sharding"};
    answer_has_best(variant, 1, 1, [](const Plan& plan) {
        return plan.parallelism.layout.context == 1 && plan.parallelism.sharding == Sharding::none;
    });
}

/// Twelve layers, of a single head that rows cannot divide, whose gradients take nearly as long as their computation,
/// on four nodes of one device.
config::Variant four_nodes(const std::string& parallelism) {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("syncline-plans-{}.yaml", getpid());
    std::ofstream(path) << "platform:\n"
                           "  name: four\n"
                           "  device: {name: card, flops: 30 Tflops, memory_bandwidth: 600 GBps}\n"
                           "  fabric: {topology: star, bandwidth: 120 Gbps, latency: 2 us}\n"
                           "workload:\n"
                           "  name: small\n  sequence: 1024\n  element_size: 2 B\n  layers:\n"
                           "  - {name: words, kind: embedding, vocabulary: 8000, width: 1024}\n"
                           "  - {name: layer, kind: transformer, repeat: 12, width: 1024, heads: 1, hidden: 4096}\n"
                           "  - {name: head, kind: dense, inputs: 1024, outputs: 8000, norm: layer, gathered: false}\n"
                        << fmt::format(
                               "training: {{ranks: 4, batch: 4, optimizer: adam, precision: mixed, parallelism: {}}}\n",
                               parallelism);
    const config::Scenario scenario = config::load_scenario(path.string(), {});
    std::filesystem::remove(path);
    return scenario.variants.front();
}

TEST_CASE("plan search: weights that are gathered before the forward pass are found where they win") {
    // Gradients leave beside the backward pass, and weights come beside the forward pass.
    const config::Variant written = four_nodes("{data: 4, sharding: optimizer, gathering: before-forward}");
    const double written_s = replay_iteration(written.lowered()).time.iteration_s;
    double others_s = endless;
    for (const char* other : {"data", "{data: 4, sharding: optimizer}", "{data: 4, sharding: parameters}", "pipeline"})
        others_s = std::min(others_s, replay_iteration(four_nodes(other).lowered()).time.iteration_s);
    REQUIRE(written_s < 0.96 * others_s);
    const config::Variant open = four_nodes("auto");
    const Found found = search(open.cluster, open.model, open.plan, open.open, {.jobs = 2});
    REQUIRE(!found.plans.empty());
    CAPTURE(found.plans.front().text, written_s, others_s);
    CHECK(found.plans.front().text.find("gathering: before-forward") != std::string::npos);
    CHECK(found.plans.front().simulated_s.value() <= written_s * (1 + 1e-9));
}

TEST_CASE("plan search: keys that are written stay, and the others are searched") {
    const auto plans_of = [](const std::string& parallelism) {
        const config::Variant variant = four_nodes(parallelism);
        std::vector<Plan> plans;
        for (const FoundPlan& one :
             search(variant.cluster, variant.model, variant.plan, variant.open, {.simulated = 0}).plans)
            plans.push_back(plan_of(one.choice, variant.plan));
        return plans;
    };
    const auto all = plans_of("{auto: true}");
    CHECK(all.size() == plans_of("auto").size());
    CHECK(!four_nodes("{auto: false, data: 4}").open.everything);  // as if it were not there
    struct Case {
        const char* parallelism;
        std::function<bool(const Plan&)> keeps;
    };
    const auto parts = [](const Plan& plan) -> const Parallelism& { return plan.parallelism; };
    for (const Case& one : {
             Case{"{auto: true, sharding: parameters}",
                  [&](const Plan& plan) { return parts(plan).sharding == Sharding::parameters; }},
             {"{auto: true, data: 2}", [&](const Plan& plan) { return plan.replicas() == 2; }},
             {"{auto: true, pipeline: 2}", [&](const Plan& plan) { return parts(plan).pipeline.stages == 2; }},
             {"{auto: true, pipeline: {schedule: gpipe}}",
              [&](const Plan& plan) { return parts(plan).pipeline.schedule == PipelineSchedule::gpipe; }},
             {"{auto: true, pipeline: {micro_batch_size: 2}}",
              [&](const Plan& plan) { return parts(plan).pipeline.micro_batches == 4 / plan.replicas() / 2; }},
             {"{auto: true, sharding: {of: optimizer, within: 2}}",
              [&](const Plan& plan) {
                  return parts(plan).sharding == Sharding::optimizer && parts(plan).shard_ranks == 2;
              }},
             {"{auto: true, context: 2}", [&](const Plan& plan) { return parts(plan).layout.context == 2; }},
         }) {
        const auto plans = plans_of(one.parallelism);
        CAPTURE(one.parallelism, plans.size(), all.size());
        CHECK(plans.size() > 1);
        CHECK(plans.size() < all.size());
        CHECK(std::ranges::all_of(plans, one.keeps));
    }
}

TEST_CASE("plan search: simulations end with their number or their time") {
    const config::Variant variant = world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}");
    const auto simulated = [&](const Search& how) {
        const Found found = search(variant.cluster, variant.model, variant.plan, variant.open, how);
        CHECK(found.plans.front().simulated_s.has_value() == (found.simulated > 0));
        CHECK(std::count_if(found.plans.begin(), found.plans.end(), [](const FoundPlan& plan) {
                  return plan.simulated_s.has_value();
              }) == static_cast<std::ptrdiff_t>(found.simulated));
        return found.simulated;
    };
    CHECK(simulated({.simulated = 0}) == 0);
    CHECK(simulated({.simulated = 3}) == 3);
    CHECK(simulated({.budget_s = 0}) == 0);
    CHECK(simulated({}) <= 24);
}

TEST_CASE("plan search: a budget of time counts what folding leaves of a simulation") {
    config::Variant variant = world(8, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}",
                                    ", iterations: 1, recomputation: none, fidelity: folded");
    // 256 microbatches, of which the folded simulation needs a few.
    variant.open.batch = 256;
    variant.open.kept = {"model", "context.ranks", "pipeline.stages", "pipeline.micro_batches", "model_overlap"};
    variant.plan.parallelism.pipeline.stages = 4;
    variant.plan.parallelism.pipeline.micro_batches = 128;
    const auto found = [&](double budget_s) {
        return search(variant.cluster, variant.model, variant.plan, variant.open,
                      {.simulated = 4, .budget_s = budget_s, .runs = false});
    };
    const Found all = found(endless);
    REQUIRE(all.simulated == 4);
    // The time of the shortest by estimate, which is simulated first.
    const FoundPlan& first = *std::ranges::min_element(all.plans, {}, &FoundPlan::estimated_s);
    Cluster cluster = variant.cluster;
    give_nodes(cluster, variant.plan.placement, variant.plan.ranks, 0);
    const Estimate whole =
        estimate(lower(cluster, variant.model, settled_plan(variant.plan, variant.open.batch, first.choice)));
    const Plan settled = settled_plan(variant.plan, variant.open.batch, first.choice);
    Plan unfolded = settled;
    unfolded.fidelity = Fidelity::message;
    REQUIRE(whole.messages < 0.2 * estimate(lower(cluster, variant.model, unfolded)).messages);
    const Found some = found(1.01 * whole.time_s);
    CHECK(some.simulated >= 1);
    const auto passed_over = [&](const Found& one) {
        return !std::ranges::find(one.plans, first.choice, &FoundPlan::choice)->passed_over.empty();
    };
    CHECK_FALSE(passed_over(some));
    CHECK(passed_over(found(0.99 * whole.time_s)));
}

TEST_CASE("plan search: the result does not depend on the number of processes") {
    const config::Variant variant = world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}");
    const auto texts = [&](std::size_t jobs) {
        std::vector<std::string> lines;
        for (const FoundPlan& plan :
             search(variant.cluster, variant.model, variant.plan, variant.open, {.jobs = jobs}).plans)
            lines.push_back(fmt::format("{} {} {}", plan.text, plan.estimated_s, plan.simulated_s.value_or(0)));
        return lines;
    };
    const auto one = texts(1);
    CHECK(one == texts(3));
    CHECK(one == texts(1));
}

TEST_CASE("plan search: where nothing fits, it names the closest plan and a number of ranks that helps") {
    const config::Variant variant = world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}");
    OpenPlan open = variant.open;
    open.recomputation = false;  // as if it were written
    // Keys that change no memory, or little.
    open.kept = {"context.exchange", "model_overlap", "gathering", "gradient_sync"};
    Cluster cluster = variant.cluster;
    /// Returns the least memory that a plan needs.
    const auto least = [&](std::int64_t ranks, Recomputation recomputation = Recomputation::none) {
        Plan plan = variant.plan;
        plan.ranks = ranks;
        plan.recomputation = recomputation;
        double bytes = endless;
        for (const FoundPlan& one : search(variant.cluster, variant.model, plan, open, {.simulated = 0}).plans)
            bytes = std::min(bytes, one.memory.total_bytes());
        return bytes;
    };
    const double four_B = least(4), eight_B = least(8), again_B = least(4, Recomputation::full);
    REQUIRE(eight_B < four_B);
    for (const double memory_bytes : {(four_B + eight_B) / 2, four_B - 1}) {
        cluster.device.memory_bytes = memory_bytes;
        const Found found = search(cluster, variant.model, variant.plan, open, {});
        CHECK(found.plans.empty());
        CHECK(found.simulated == 0);
        const bool again = again_B <= memory_bytes;
        REQUIRE(found.remedies.size() == (again ? 4 : 3));
        const auto bytes = [](double value) { return format_quantity(value, Dimension::bytes); };
        const auto has = [&](std::size_t number, const std::string& text) {
            CAPTURE(found.remedies[number], text);
            CHECK(found.remedies[number].find(text) != std::string::npos);
        };
        has(0, fmt::format("needs {} of memory", bytes(four_B)));
        if (again) {
            has(1, "with `recomputation: full`, `parallelism: {");
            has(1, fmt::format("would need {}", bytes(again_B)));
        }
        const std::size_t next = again ? 2 : 1;
        has(next, "with 8 ranks, `parallelism: {");
        has(next, fmt::format("would need {}", bytes(eight_B)));
        has(next + 1, fmt::format("4 ranks need devices with at least {}", bytes(four_B)));
    }
}

TEST_CASE("plan search: where nothing fits without it, offload is named if the platform gives its bandwidths") {
    const config::Variant variant = world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}");
    OpenPlan open = variant.open;
    open.recomputation = false;
    // Keys that change no memory, or little.
    open.kept = {"context.exchange", "model_overlap", "gathering", "gradient_sync"};
    Plan offloaded = variant.plan;
    offloaded.offload = Offload::optimizer;
    Cluster cluster = variant.cluster;
    cluster.device.host_link_Bps = 1e10;
    cluster.host.memory_Bps = 1e11;
    double none_B = endless, least_B = endless;
    for (const FoundPlan& one : search(cluster, variant.model, variant.plan, open, {.simulated = 0}).plans)
        none_B = std::min(none_B, one.memory.total_bytes());
    for (const FoundPlan& one : search(cluster, variant.model, offloaded, open, {.simulated = 0}).plans)
        least_B = std::min(least_B, one.memory.total_bytes());
    REQUIRE(least_B < none_B);
    const auto names = [](const std::vector<std::string>& remedies) {
        return std::ranges::any_of(remedies, [](const std::string& one) {
            return one.find("with `offload: optimizer`, `parallelism: {") == 0 &&
                   one.find(" in the host's memory") != std::string::npos;
        });
    };
    cluster.device.memory_bytes = least_B;
    CHECK(names(search(cluster, variant.model, variant.plan, open, {}).remedies));
    cluster.device.memory_bytes = least_B - 1;
    CHECK_FALSE(names(search(cluster, variant.model, variant.plan, open, {}).remedies));
    cluster.device.memory_bytes = least_B;
    cluster.host.memory_Bps = unlimited;
    CHECK_FALSE(names(search(cluster, variant.model, variant.plan, open, {}).remedies));
}

TEST_CASE("plan search: recomputation is chosen where nothing fits without it, unless it is written") {
    const config::Variant variant = world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}");
    const auto plans = [&](bool open_recomputation, double memory_bytes) {
        Cluster cluster = variant.cluster;
        cluster.device.memory_bytes = memory_bytes;
        OpenPlan open = variant.open;
        open.recomputation = open_recomputation;
        return search(cluster, variant.model, variant.plan, open, {.simulated = 0});
    };
    CHECK(variant.open.recomputation);
    CHECK(
        !world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}", ", recomputation: none").open.recomputation);
    double none_B = endless, full_B = endless;
    Plan again = variant.plan;
    again.recomputation = Recomputation::full;
    for (const FoundPlan& one : plans(false, endless).plans) none_B = std::min(none_B, one.memory.total_bytes());
    OpenPlan written = variant.open;
    written.recomputation = false;
    for (const FoundPlan& one : search(variant.cluster, variant.model, again, written, {.simulated = 0}).plans)
        full_B = std::min(full_B, one.memory.total_bytes());
    REQUIRE(full_B < none_B);

    CHECK(plans(false, none_B - 1).plans.empty());
    const Found found = plans(true, none_B - 1);
    REQUIRE(!found.plans.empty());
    for (const FoundPlan& one : found.plans) CHECK_FALSE(one.recomputation.empty());
    // Where everything fits, nothing is computed twice.
    for (const FoundPlan& one : plans(true, endless).plans) CHECK(one.recomputation.empty());
    CHECK(plans(true, full_B - 1).plans.empty());
}

TEST_CASE("plan search: a plan that is too large to simulate gives way to one that is not") {
    config::Variant variant = world(8, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}");
    // Fewer choices.
    variant.open.kept = {"context.exchange", "model_overlap", "gathering", "gradient_sync"};
    const Found all = search(variant.cluster, variant.model, variant.plan, variant.open, {});
    CHECK(all.passed_over == 0);
    CHECK(!all.shorter);
    // No simulation fits into this memory, and no plan is simulated.
    const Found none = search(variant.cluster, variant.model, variant.plan, variant.open, {.memory_bytes = 1});
    CHECK(none.simulated == 0);
    CHECK(none.passed_over == Search::most_passed_over);
    CHECK(!none.plans.front().passed_over.empty());
    CHECK(none.plans.size() == all.plans.size());
    // Of the plans that are likely to be best, some are too large.
    const auto cost = [&](const FoundPlan& plan) {
        Plan made = plan_of(plan.choice, variant.plan);
        OpenPlan open;
        open.batch = variant.open.batch;
        REQUIRE(share_batch(made, open).empty());
        return estimate(lower(variant.cluster, variant.model, made)).memory_bytes;
    };
    const double needs = cost(all.plans.front());
    const Found some =
        search(variant.cluster, variant.model, variant.plan, variant.open, {.memory_bytes = 0.99 * needs / 0.8});
    CAPTURE(needs, some.passed_over);
    REQUIRE(some.simulated > 0);
    CHECK(some.passed_over > 0);
    CHECK(some.plans.front().text != all.plans.front().text);
    CHECK(some.plans.front().simulated_s.has_value());
    CHECK(some.plans.front().passed_over.empty());
    CHECK(cost(some.plans.front()) < needs);
}

TEST_CASE("plan search: with a bounded effort some plans are considered, and the best of them is nearly the best") {
    config::Variant variant = world(8, "{topology: star, bandwidth: 40 Gbps, latency: 2 us}");
    // Fewer choices.
    variant.open.kept = {"context.exchange", "model_overlap", "gathering", "gradient_sync"};
    const Found all = search(variant.cluster, variant.model, variant.plan, variant.open, {.simulated = 0});
    CHECK(all.considered.all());
    // A plan costs 300, its ranks and its layers: enough for a quarter of the choices.
    const auto each = Effort::each + static_cast<std::uint64_t>(8 + std::ssize(variant.model.layers));
    const auto quarter = static_cast<std::uint64_t>(all.considered.choices / 4);
    REQUIRE(quarter > Effort::fewest);
    std::uint64_t steps = 0, last = 0;
    const auto some = [&] {
        return search(variant.cluster, variant.model, variant.plan, variant.open,
                      {.simulated = 0, .effort = quarter * each, .watch = [&](auto, auto done, auto total) {
                           ++steps;
                           CHECK(total == quarter);
                           CHECK(done <= total);
                           last = done;
                       }});
    };
    const Found found = some();
    CHECK(last == quarter);
    CHECK(steps <= quarter + 1);
    CHECK_FALSE(found.considered.all());
    CHECK(found.considered.of == all.considered.choices);
    CHECK(found.considered.choices == static_cast<std::int64_t>(found.plans.size()) + found.skipped.total());
    CHECK(found.plans.size() <= quarter);
    CHECK(found.plans.front().estimated_s < 1.02 * all.plans.front().estimated_s);
    CHECK(some().plans.front().text == found.plans.front().text);
    // Where nothing fits, the least memory is looked for.
    Cluster small = variant.cluster;
    small.device.memory_bytes = 1;
    const auto needs = [&](std::uint64_t effort) {
        return search(small, variant.model, variant.plan, variant.open, {.simulated = 0, .effort = effort}).remedies;
    };
    CHECK(needs(quarter * each).front() == needs(Effort::usual).front());
}

TEST_CASE("plan search: experts on many ranks are considered within the effort", "[memory]") {
    struct Case {
        const char* workload;
        std::int64_t ranks;
        std::uint64_t plans;  ///< 6 million / (300 + ranks + layers), with 66 and 124 layers
    };
    for (const Case& one : {Case{"mixtral-8x7b", 256, 9'646}, {"deepseek-v3", 2048, 2'427}}) {
        const auto path = std::filesystem::temp_directory_path() / fmt::format("syncline-plans-{}.yaml", getpid());
        std::ofstream(path) << fmt::format(
            "platform: dgx-h100\nworkload: {}\n"
            "training: {{ranks: {}, batch: {}, optimizer: adam, precision: mixed, parallelism: auto}}\n",
            one.workload, one.ranks, one.ranks);
        const config::Variant variant = config::load_scenario(path.string(), {}).variants.front();
        std::filesystem::remove(path);
        CAPTURE(one.workload, variant.model.layers.size());
        CHECK(Effort{}.plans(variant.model, one.ranks) == one.plans);
        if (one.ranks > 256) continue;
        const Found found =
            search(variant.cluster, variant.model, variant.plan, variant.open, {.simulated = 0, .effort = 1});
        CHECK(found.considered.choices == static_cast<std::int64_t>(Effort::fewest));
        CHECK(found.considered.of > 10'000);
        CHECK(!found.plans.empty());
    }
}

TEST_CASE("plan search: forecasts of plans without stages are their closed forms", "[memory]") {
    // Every rank has a node, nothing overlaps, and rings stay in step: analysis/theory.hpp.
    const config::Variant variant = world(4, "{topology: star, bandwidth: 100 Gbps, latency: 2 us}", ", overlap: none");
    Cluster cluster = variant.cluster;
    cluster.node.devices = 1;
    cluster.nodes = 4;
    for (const std::int64_t rows : {1, 2, 4})
        for (const auto& [sequence, sync] : {std::pair(false, GradientSync::last_micro_batch),
                                             {false, GradientSync::each_micro_batch},
                                             {true, GradientSync::last_micro_batch},
                                             {true, GradientSync::each_micro_batch}}) {
            if (rows == 1 && sequence) continue;
            Plan plan = variant.plan;
            plan.parallelism.gradient_sync = sync;
            plan.batch_per_rank = 16 * rows / 4;
            plan.parallelism.layout.rows = rows;
            plan.parallelism.sequence = sequence;
            plan.parallelism.pipeline.micro_batches = 2;
            const Lowered lowered = lower(cluster, variant.model, plan);
            WireCosts wires(cluster, lowered.places);
            CAPTURE(rows, sequence, static_cast<int>(sync));
            REQUIRE(closed_form(lowered).iteration_time_s);
            CHECK(replay_iteration(lowered).time.iteration_s ==
                  Approx(*closed_form(lowered).iteration_time_s).epsilon(1e-6));
            CHECK(forecast(lowered, wires).time_s == Approx(*closed_form(lowered).iteration_time_s).epsilon(1e-6));
        }
}

TEST_CASE("plan search: exchanges beside the backward pass have nearly the forecast of their replay", "[memory]") {
    // From exchanges that the backward pass hides to some that take longer than it.
    for (const char* bandwidth : {"400 Gbps", "100 Gbps", "25 Gbps", "10 Gbps"}) {
        const config::Variant variant =
            world(4, fmt::format("{{topology: star, bandwidth: {}, latency: 2 us}}", bandwidth));
        Cluster cluster = variant.cluster;
        cluster.node.devices = 1;
        cluster.nodes = 4;
        Plan plan = variant.plan;
        plan.batch_per_rank = 4;
        const Lowered lowered = lower(cluster, variant.model, plan);
        WireCosts wires(cluster, lowered.places);
        CAPTURE(bandwidth);
        CHECK(forecast(lowered, wires).time_s == Approx(replay_iteration(lowered).time.iteration_s).epsilon(0.02));
    }
}

TEST_CASE("plan search: a pipeline of equal stages has the forecast of its closed form", "[memory]") {
    // Layers that are all alike, and a network on which nothing takes time (D. Narayanan et al., SC 2021).
    config::Variant variant = world(4, "{topology: star, bandwidth: 100 Pbps, latency: none}");
    variant.cluster.node.devices = 1;
    variant.cluster.nodes = 4;
    Model model = variant.model;
    const Layer one = model.layers[1];
    model.layers.assign(16, one);
    for (std::size_t i = 0; i < model.layers.size(); ++i) model.layers[i].name = fmt::format("layer{}", i);
    constexpr std::int64_t zero_bubble = 0;
    for (const std::int64_t chunks : {zero_bubble, std::int64_t{1}, std::int64_t{2}, std::int64_t{4}}) {
        Plan plan = variant.plan;
        plan.batch_per_rank = 16;
        plan.input_copy = InputCopy::none;
        plan.iterations = 1;
        Pipeline& pipeline = plan.parallelism.pipeline;
        pipeline.stages = 4;
        pipeline.micro_batches = 8;
        pipeline.virtual_stages = std::max<std::int64_t>(chunks, 1);
        if (chunks > 1) pipeline.schedule = PipelineSchedule::interleaved;
        if (chunks == zero_bubble) pipeline.schedule = PipelineSchedule::zero_bubble_h1;
        const Lowered lowered = lower(variant.cluster, model, plan);
        double pass_s = 0, later_s = 0;
        for (const PlacedLayer& layer : lowered.arrangement.layers)
            pass_s += (layer.time.forward_s + layer.time.backward_s()) / 4;
        for (const PlacedLayer& layer : lowered.arrangement.layers) later_s += layer.time.weight_gradient_s / 4;
        WireCosts wires(variant.cluster, lowered.places);
        const Forecast expected = forecast(lowered, wires);
        CAPTURE(chunks);
        // With zb-h1 m(f + b + w) + (p-1)(f + b - w) (P. Qi et al., ICLR 2024, table 2).
        const double bubble_s =
            chunks == zero_bubble ? 3 * (pass_s - 2 * later_s) : 3 * pass_s / static_cast<double>(chunks);
        CHECK(expected.time_s == Approx(8 * pass_s + bubble_s).epsilon(1e-6));
        CHECK(expected.least_s == Approx(8 * pass_s + bubble_s).epsilon(1e-6));
        CHECK(replay_iteration(lowered).time.iteration_s == Approx(expected.time_s).epsilon(1e-6));
    }
}
