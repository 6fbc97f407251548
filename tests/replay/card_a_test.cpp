#include "tests/replay/card_a.hpp"

#include <random>

#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"

// Card A: compares simulated iterations of model-parallel CNNs with the sum of the card's equations, over the card's
// ranges, drawn at random. Simulations of many ranks need many messages, so the larger networks have fewer of them by
// ring.

using namespace syncline;
using namespace syncline::test;

namespace {

double lg(double P) {
    return std::log2(P);
}

/// Ring allgather with q contributors: blocks of whole bytes, at most ⌈n/q⌉, for P - 1 full steps.
double ring_allgather_s(const CardMachine& m, double n, double P, double q) {
    return (P - 1) * (m.alpha_s + std::ceil(n / q) * m.beta());
}
double ring_allreduce_s(const CardMachine& m, double n, double P, double) {
    return 2 * (P - 1) * (m.alpha_s + std::ceil(n / P) * m.beta());
}
double doubling_allgather_s(const CardMachine& m, double n, double P, double) {
    return lg(P) * m.alpha_s + (P - 1) / P * n * m.beta();
}
double rabenseifner_s(const CardMachine& m, double n, double P, double) {
    return 2 * lg(P) * m.alpha_s + 2 * (P - 1) / P * n * m.beta();
}
double doubling_allreduce_s(const CardMachine& m, double n, double P, double) {
    return lg(P) * (m.alpha_s + n * m.beta());
}

/// Algorithms and their costs.
struct Ways {
    std::string allgather, allreduce;
    CardCost allgather_s, allreduce_s;
};
const Ways rings{"ring", "ring", ring_allgather_s, ring_allreduce_s};
const Ways logarithmic{"recursive-doubling", "rabenseifner", doubling_allgather_s, rabenseifner_s};
const Ways doubling{"recursive-doubling", "recursive-doubling", doubling_allgather_s, doubling_allreduce_s};

void choose(Plan& plan, const Ways& chosen) {
    plan.parallelism.algorithms.allgather = chosen.allgather;
    plan.parallelism.algorithms.allreduce = chosen.allreduce;
}

double draw(std::mt19937& random, double least, double most) {  // evenly on a logarithmic axis
    return std::exp(std::uniform_real_distribution<double>(std::log(least), std::log(most))(random));
}

CardMachine draw_machine(std::mt19937& random) {
    return {draw(random, 0.5e12, 32e12), draw(random, 50e9, 900e9), draw(random, 0.2e-6, 20e-6),
            draw(random, 1e9, 100e9)};
}

std::int64_t draw_batch(std::mt19937& random) {
    return std::int64_t{32} << random() % 5;
}

double iteration_s(const CardMachine& machine, const Model& model, const Plan& plan) {
    return simulate(lower(machine.cluster(plan.ranks), model, plan)).time.iteration_s;
}

void equals_sum(const std::string& name, std::int64_t P, const Ways& chosen, std::mt19937& random) {
    const Model model = shipped_model(name);
    const std::vector<CardLayer> layers = card_layers(model);
    const CardMachine machine = draw_machine(random);
    const std::int64_t b = draw_batch(random);
    CAPTURE(name, P, b, chosen.allgather, chosen.allreduce, machine.F, machine.M, machine.link_bps, machine.alpha_s);
    Plan plan = card_plan(P, b);
    choose(plan, chosen);
    const auto ranks = static_cast<double>(P), batch = static_cast<double>(b);
    for (const CardLayer& layer : layers) REQUIRE(contributors(layer, ranks) == ranks);
    const double exchanges_s = card_exchanges_s(layers, machine, batch, ranks, chosen.allgather_s, chosen.allreduce_s);
    const double sum_s = card_compute_s(layers, machine, batch, ranks) + exchanges_s;
    const Result result = simulate(lower(machine.cluster(P), model, plan));
    CHECK(result.time.iteration_s == Approx(sum_s).epsilon(1e-6));
    REQUIRE(result.closed_form.iteration_time_s);
    CHECK(*result.closed_form.iteration_time_s == Approx(sum_s).epsilon(1e-6));
    if (P > 1) CHECK(*result.closed_form.communication_time_s == Approx(exchanges_s).epsilon(1e-6));
}

}  // namespace

TEST_CASE("card A: AlexNet and VGG-16, with channels in every row, take the sum of their parts to 1e-6", "[memory]") {
    std::mt19937 random(1);
    for (const char* name : {"alexnet-nogroup", "vgg-16"})
        for (const std::int64_t P : {1, 2, 4, 8, 16, 32})
            for (const Ways& chosen : {rings, logarithmic, doubling}) equals_sum(name, P, chosen, random);
}

TEST_CASE("card A: ResNet-50 and Inception-v3, with channels in every row, take the sum of their parts to 1e-6",
          "[memory]") {
    std::mt19937 random(2);
    for (const std::int64_t P : {1, 2, 4, 8, 16, 32}) equals_sum("resnet-50", P, logarithmic, random);
    for (const std::int64_t P : {1, 2, 4, 8, 16}) equals_sum("inception-v3", P, logarithmic, random);
    for (const std::int64_t P : {2, 8}) equals_sum("resnet-50", P, rings, random);
    for (const std::int64_t P : {4, 8}) equals_sum("inception-v3", P, rings, random);
    for (const std::int64_t P : {4, 16}) equals_sum("resnet-50", P, doubling, random);
}

TEST_CASE("card A: numbers of ranks that divide nothing take the sum to 1e-6 while every row has channels",
          "[memory]") {
    std::mt19937 random(3);
    for (const std::int64_t P : {3, 5, 6, 7, 12}) {
        const std::vector<CardLayer> layers = card_layers(shipped_model("alexnet-nogroup"));
        const auto ranks = static_cast<double>(P);
        if (std::all_of(layers.begin(), layers.end(),
                        [&](const CardLayer& layer) { return contributors(layer, ranks) == ranks; }))
            equals_sum("alexnet-nogroup", P, rings, random);
    }
}

TEST_CASE("card A: with binomial trees ranks end at different times, and an iteration still takes the sum to 1e-6",
          "[memory]") {
    // The last of 2^k ranks is the farthest: its first message is the last to reach the root, and it is the last to get
    // the sum.
    std::mt19937 random(7);
    for (const char* name : {"alexnet-nogroup", "resnet-50"})
        for (const std::int64_t P : {2, 4, 8, 16}) {
            const Model model = shipped_model(name);
            const CardMachine machine = draw_machine(random);
            const std::int64_t b = draw_batch(random);
            CAPTURE(name, P, b);
            Plan plan = card_plan(P, b);
            plan.parallelism.algorithms.allreduce = "binomial-tree";
            const std::vector<CardLayer> layers = card_layers(model);
            const auto ranks = static_cast<double>(P), batch = static_cast<double>(b);
            const auto tree_s = [](const CardMachine& m, double n, double of, double) {
                return 2 * lg(of) * (m.alpha_s + n * m.beta());
            };
            const double sum_s = card_compute_s(layers, machine, batch, ranks) +
                                 card_exchanges_s(layers, machine, batch, ranks, ring_allgather_s, tree_s);
            CHECK(iteration_s(machine, model, plan) == Approx(sum_s).epsilon(1e-6));
        }
}

TEST_CASE("card A: up to 256 ranks and layers with fewer channels, padded and naive rings take the sum to 1e-6, too") {
    // A rank without a part starts early, but its ring waits for the others: all end together.
    std::mt19937 random(4);
    const auto padded = [&](const std::string& name, std::int64_t P) {
        const Model model = shipped_model(name);
        const std::vector<CardLayer> layers = card_layers(model);
        const CardMachine machine = draw_machine(random);
        const std::int64_t b = draw_batch(random);
        CAPTURE(name, P, b, machine.F, machine.M, machine.link_bps, machine.alpha_s);
        Plan plan = card_plan(P, b);
        choose(plan, rings);
        plan.parallelism.algorithms.uneven_allgather = "padded-ring";
        plan.parallelism.algorithms.uneven_allreduce = "ring";
        const auto ranks = static_cast<double>(P), batch = static_cast<double>(b);
        const double sum_s = card_compute_s(layers, machine, batch, ranks) +
                             card_exchanges_s(layers, machine, batch, ranks, ring_allgather_s, ring_allreduce_s);
        const Result result = simulate(lower(machine.cluster(P), model, plan));
        CHECK(result.time.iteration_s == Approx(sum_s).epsilon(1e-6));
        CHECK(!result.closed_form.iteration_time_s);
    };
    for (const std::int64_t P : {48, 100, 256}) padded("alexnet-nogroup", P);
    for (const std::int64_t P : {48, 64}) padded("vgg-16", P);
}

TEST_CASE(
    "card A: layers with fewer channels than ranks, out of step, are between the lower bound and the worst case") {
    std::mt19937 random(5);
    const auto worst_allreduce = [](const CardMachine& m, double n, double P, double q) {
        if (q == P) return ring_allreduce_s(m, n, P, q);
        return (q - 1 + P - 1) * (m.alpha_s + std::ceil(n / q) * m.beta());
    };
    // No rank has more than its own part of a result, and the rest must come over its link.
    const auto least_allgather = [](const CardMachine& m, double n, double, double q) {
        return (q - 1) / q * n * m.beta();
    };
    const auto least_allreduce = [](const CardMachine& m, double n, double, double) { return n * m.beta(); };
    const auto within = [&](const std::string& name, std::int64_t P) {
        const Model model = shipped_model(name);
        const std::vector<CardLayer> layers = card_layers(model);
        const CardMachine machine = draw_machine(random);
        const std::int64_t b = draw_batch(random);
        CAPTURE(name, P, b, machine.F, machine.M, machine.link_bps, machine.alpha_s);
        Plan plan = card_plan(P, b);
        choose(plan, rings);
        const auto ranks = static_cast<double>(P), batch = static_cast<double>(b);
        const double compute_s = card_compute_s(layers, machine, batch, ranks);
        const double simulated_s = iteration_s(machine, model, plan);
        const double most_s =
            compute_s + card_exchanges_s(layers, machine, batch, ranks, ring_allgather_s, worst_allreduce);
        const double least_s =
            compute_s + card_exchanges_s(layers, machine, batch, ranks, least_allgather, least_allreduce);
        CHECK(simulated_s <= most_s * (1 + 1e-6));
        CHECK(simulated_s >= least_s);
    };
    for (const std::int64_t P : {27, 40, 64, 100, 256}) within("alexnet-nogroup", P);
    for (const std::int64_t P : {9, 48}) within("vgg-16", P);
    for (const std::int64_t P : {24}) within("resnet-50", P);
    for (const std::int64_t P : {12}) within("inception-v3", P);
}

TEST_CASE("card A: rows and columns with microbatches take the same sum of activations and then gradients",
          "[memory]") {
    std::mt19937 random(6);
    for (const std::int64_t rows : {1, 2, 4, 8})
        for (const std::int64_t columns : {1, 2, 4})
            for (const std::int64_t micro_batches : {1, 2}) {
                const Model model = shipped_model("alexnet-nogroup");
                const std::vector<CardLayer> layers = card_layers(model);
                const CardMachine machine = draw_machine(random);
                const std::int64_t b = draw_batch(random);
                CAPTURE(rows, columns, micro_batches, b);
                Plan plan = card_plan(rows * columns, b);
                plan.parallelism.layout.rows = rows;
                plan.parallelism.pipeline.micro_batches = micro_batches;
                choose(plan, rings);
                const auto Pr = static_cast<double>(rows), Pc = static_cast<double>(columns);
                const auto times = static_cast<double>(micro_batches), each = static_cast<double>(b) / times;
                double sum_s = times * card_compute_s(layers, machine, each, Pr);
                sum_s += times * card_exchanges_s(layers, machine, each, Pr, ring_allgather_s, ring_allreduce_s);
                for (const CardLayer& layer : layers) {  // k weights for each channel, and a bias
                    const double bytes = 4 * layer.channels * (layer.k + 1) / Pr;
                    if (columns > 1) sum_s += ring_allreduce_s(machine, bytes, Pc, Pc);
                }
                const Result result = simulate(lower(machine.cluster(rows * columns), model, plan));
                CHECK(result.time.iteration_s == Approx(sum_s).epsilon(1e-6));
                REQUIRE(result.closed_form.iteration_time_s);
                CHECK(*result.closed_form.iteration_time_s == Approx(sum_s).epsilon(1e-6));
            }
}

TEST_CASE("card A: trees, too few channels, overlap, GPipe and stages have no closed form", "[memory]") {
    const Model model = shipped_model("alexnet-nogroup");
    const Cluster cluster = CardMachine{}.cluster(128);
    CHECK(closed_form(lower(cluster, model, card_plan(8, 32))).iteration_time_s);
    const auto none = [&](std::int64_t P, const auto& change) {
        Plan plan = card_plan(P, 32);
        change(plan);
        const ClosedForm form = closed_form(lower(cluster, model, plan));
        CAPTURE(P, form.formula);
        CHECK(!form.iteration_time_s);
        CHECK(!form.communication_time_s);
        CHECK(form.formula.rfind("none", 0) == 0);
    };
    none(8, [](Plan& plan) { plan.parallelism.algorithms.allreduce = "binomial-tree"; });
    none(6, [](Plan& plan) { plan.parallelism.algorithms.allreduce = "rabenseifner"; });
    none(128, [](Plan&) {});
    none(8, [](Plan& plan) { plan.overlap = Overlap::wait_free; });
    none(8, [](Plan& plan) {
        plan.parallelism.pipeline.micro_batches = 4;
        plan.parallelism.pipeline.schedule = PipelineSchedule::gpipe;
    });
    none(8, [](Plan& plan) {
        plan.parallelism.pipeline.stages = 2;
        plan.parallelism.layout.rows = 4;
    });
}
