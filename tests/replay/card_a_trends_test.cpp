#include <cmath>

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/card_a.hpp"

// Card A: trends of model parallelism that are independent of the machine. Times are from the program's closed form,
// which card_a_test.cpp compares with simulations, or simulated.

using namespace syncline;
using namespace syncline::test;

namespace {

const std::vector<std::string> networks{"alexnet-nogroup", "vgg-16", "resnet-50", "inception-v3"};
/// Returns the maximum number of rows with which every row has channels of every layer.
std::int64_t most_rows(const std::string& name) {
    return name == "inception-v3" ? 16 : 32;
}

ClosedForm form(const CardMachine& machine, const Model& model, std::int64_t P, std::int64_t b) {
    Plan plan = card_plan(P, b);
    plan.parallelism.algorithms.allgather = "recursive-doubling";
    plan.parallelism.algorithms.allreduce = "rabenseifner";
    return closed_form(lower(machine.cluster(256), model, plan));
}

double time_s(const CardMachine& machine, const Model& model, std::int64_t P, std::int64_t b) {
    return form(machine, model, P, b).iteration_time_s.value();
}

/// Returns the largest P at which ranks are used at least half of the time.
std::int64_t knee(const CardMachine& machine, const Model& model, std::int64_t most, std::int64_t b) {
    const double one_s = time_s(machine, model, 1, b);
    std::int64_t last = 1;
    for (std::int64_t P = 2; P <= most; P *= 2) {
        if (one_s / (static_cast<double>(P) * time_s(machine, model, P, b)) < 0.5) break;
        last = P;
    }
    return last;
}

/// Returns the limit of communication: allgathers of b·d_i and twice b·d_{i-1}, except for the first layer's inputs.
double limit_s(const std::vector<CardLayer>& layers, const CardMachine& machine, double b) {
    double elements = layers.front().outputs;
    for (std::size_t i = 1; i < layers.size(); ++i) elements += layers[i].outputs + 2 * layers[i].inputs;
    return 4 * b * elements * machine.beta();
}

double sum_of_outputs(const std::vector<CardLayer>& layers) {
    double sum = 0;
    for (const CardLayer& layer : layers) sum += layer.outputs;
    return sum;
}

/// Returns the extra cost of blocks of equal size over the actual outputs.
double padding_s(const std::vector<CardLayer>& layers, const CardMachine& machine, std::int64_t b, double P) {
    double elements = 0;
    for (const CardLayer& layer : layers) {
        const double each = std::ceil(layer.channels / P);
        elements += layer.outputs * (each * contributors(layer, P) / layer.channels - 1);
    }
    return 4 * static_cast<double>(b) * elements * machine.beta();
}

double simulated_communication_s(const CardMachine& machine, const Model& model, const Plan& plan) {
    const double compute_s = card_compute_s(card_layers(model), machine, static_cast<double>(plan.batch_per_rank),
                                            static_cast<double>(plan.ranks));
    return simulate(lower(machine.cluster(plan.ranks), model, plan)).time.iteration_s - compute_s;
}

}  // namespace

TEST_CASE("card A: communication grows with P towards b·d_i forward and 2 b·d_{i-1} backward, as speed-up saturates",
          "[memory]") {
    for (const std::string& name : networks) {
        const Model model = shipped_model(name);
        const std::vector<CardLayer> layers = card_layers(model);
        for (const double link_bps : {1e9, 1e10, 1e11})
            for (const std::int64_t b : {32, 128, 512}) {
                CAPTURE(name, link_bps, b);
                CardMachine machine;
                machine.link_bps = link_bps;
                const double end_s = limit_s(layers, machine, static_cast<double>(b));
                // The card's 3·Σ b·d_i is larger if pooling makes inputs smaller than outputs, but not if blocks read
                // an output more than once (Inception-v3: 1.36 of it).
                if (name == "alexnet-nogroup" || name == "vgg-16")
                    CHECK(end_s <= 3 * 4 * static_cast<double>(b) * sum_of_outputs(layers) * machine.beta());
                const double one_s = time_s(machine, model, 1, b);
                const double latency_s = 3 * static_cast<double>(layers.size()) * 5 * machine.alpha_s;  // lg 32 = 5
                double communicated_s = 0, iterated_s = 0;
                for (std::int64_t P = 2; P <= most_rows(name); P *= 2) {
                    CAPTURE(P);
                    const ClosedForm now = form(machine, model, P, b);
                    const double communication_s = now.communication_time_s.value();
                    const double iteration_s = now.iteration_time_s.value();
                    const double ranks = static_cast<double>(P), part = (ranks - 1) / ranks;
                    CHECK(communication_s > communicated_s);
                    CHECK(communication_s >= part * end_s * (1 - 1e-9));
                    CHECK(communication_s <= part * end_s + latency_s + padding_s(layers, machine, b, ranks));
                    CHECK(one_s / iteration_s < one_s / (part * end_s));  // however many ranks compute
                    // Doubling the ranks removes at most half of the computation in parts, and adds at most the missing
                    // communication: each doubling changes the time by at most half as much.
                    if (P > 2) CHECK(std::abs(iteration_s - iterated_s) <= std::max(one_s, end_s) / ranks + latency_s);
                    communicated_s = communication_s, iterated_s = iteration_s;
                }
            }
    }
}

TEST_CASE(
    "card A: up to 256 ranks AlexNet's communication is within 2 % of the limit, except for rings of unequal parts") {
    const Model model = shipped_model("alexnet-nogroup");
    const CardMachine machine;
    for (const std::int64_t P : {64, 256}) {
        Plan plan = card_plan(P, 128);
        const double end_s = limit_s(card_layers(model), machine, 128);
        plan.parallelism.algorithms.uneven_allgather = "spread-doubling";
        plan.parallelism.algorithms.uneven_allreduce = "ring";
        const double ratio = simulated_communication_s(machine, model, plan) / end_s;
        // The first layer's 96 channels are on at most 96 ranks. All P - 1 steps of a ring take as long as the largest
        // part of its outputs, which are a quarter of all exchanged data.
        plan.parallelism.algorithms.uneven_allgather = "ring";
        const double by_ring = simulated_communication_s(machine, model, plan) / end_s;
        const CardLayer first = card_layers(model).front();
        const auto ranks = static_cast<double>(P);
        const double first_s = 4 * 128 * first.outputs * machine.beta();
        const double least_s =
            (end_s - first_s) * (ranks - 1) / ranks + first_s * (ranks - 1) / contributors(first, ranks);
        CAPTURE(P, ratio, by_ring);
        CHECK(ratio >= 0.98);
        CHECK(ratio <= 1.02);
        CHECK(by_ring * end_s >= 0.999 * least_s);  // ranks without a part run ahead by some latencies
        CHECK(by_ring > ratio);
    }
}

TEST_CASE("card A: a faster link moves the knee to more ranks or leaves it, and a faster node moves it to fewer",
          "[memory]") {
    for (const std::string& name : networks) {
        const Model model = shipped_model(name);
        std::int64_t fewest = 256, most = 0;
        for (const std::int64_t b : {32, 512}) {
            for (const double F : {0.5e12, 4e12, 32e12}) {
                std::int64_t before = 0;
                for (const double link_bps : {1e9, 5e9, 2e10, 1e11}) {
                    CAPTURE(name, b, F, link_bps);
                    const std::int64_t now = knee({F, 900e9, 0.5e-6, link_bps}, model, most_rows(name), b);
                    CHECK(now >= before);
                    before = now;
                    fewest = std::min(fewest, now), most = std::max(most, now);
                }
            }
            for (const double link_bps : {1e9, 1e10, 1e11}) {
                std::int64_t before = 256;
                for (const double faster : {0.125, 0.5, 1.0, 4.0, 8.0}) {  // speed of computation and of memory
                    CAPTURE(name, b, link_bps, faster);
                    const CardMachine machine{faster * 4e12, faster * 100e9, 0.5e-6, link_bps};
                    const std::int64_t now = knee(machine, model, most_rows(name), b);
                    CHECK(now <= before);
                    before = now;
                }
            }
        }
        CHECK(fewest < most);  // the knee moves
    }
}

TEST_CASE("card A: no algorithm from q contributors to p receivers moves more bytes than the padded, naive one") {
    struct Case {
        std::string name;
        std::int64_t P;
    };
    for (const Case& drawn :
         {Case{"alexnet-nogroup", 27}, {"alexnet-nogroup", 64}, {"vgg-16", 27}, {"inception-v3", 9}}) {
        const std::string& name = drawn.name;
        const std::int64_t P = drawn.P;
        const Model model = shipped_model(name);
        const auto bytes = [&](const char* allgather, const char* allreduce) {
            Plan plan = card_plan(P, 32);
            plan.parallelism.algorithms.uneven_allgather = allgather;
            plan.parallelism.algorithms.uneven_allreduce = allreduce;
            return simulate(lower(CardMachine{}.cluster(P), model, plan)).bytes_sent;
        };
        const std::uint64_t padded = bytes("padded-ring", "ring");
        for (const char* allgather : {"ring", "ring-broadcast", "spread-doubling"}) {
            CAPTURE(name, P, allgather);
            // Fewer: some layer has fewer channels than ranks, so some of the padded blocks are empty.
            CHECK(bytes(allgather, "reduce-scatter-allgather") < padded);
        }
    }
}

TEST_CASE(
    "card A: a tree is slower than Rabenseifner from 10 KB on, and than a ring from the crossing of the closed forms",
    "[memory]") {
    std::size_t ring_wins = 0, tree_wins = 0;
    for (const double link_bps : {1e9, 1e10, 1e11})
        for (const std::int64_t P : {4, 8, 32, 128}) {
            const CardMachine machine{4e12, 50e9, 0.5e-6, link_bps};
            const Cluster cluster = machine.cluster(P);
            const auto sweep = [&](const char* name) {
                CollectivePlan plan;
                plan.ranks = P;
                plan.algorithm.name = name;
                plan.sweep = {1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20};
                return simulate_sweep(cluster, plan).points;
            };
            const auto tree = sweep("binomial-tree"), pipelined = sweep("pipelined-tree"), ring = sweep("ring"),
                       halving = sweep("rabenseifner");
            const auto ranks = static_cast<double>(P);
            // 2 lg P (α + S·β) = 2(P-1)α + 2(P-1)/P · S·β
            const double crossing = machine.alpha_s * (ranks - 1 - std::log2(ranks)) /
                                    (machine.beta() * (std::log2(ranks) - (ranks - 1) / ranks));
            for (std::size_t i = 0; i < tree.size(); ++i) {
                const auto size = static_cast<double>(tree[i].bytes);
                CAPTURE(link_bps, P, size, crossing);
                if (size >= 10e3) CHECK(halving[i].completion_time_s < tree[i].completion_time_s);
                if (size >= 10e3) CHECK(halving[i].completion_time_s < pipelined[i].completion_time_s);
                if (size > 1.01 * crossing) {
                    CHECK(ring[i].completion_time_s < tree[i].completion_time_s);
                    ++ring_wins;
                } else if (size < 0.99 * crossing) {
                    CHECK(ring[i].completion_time_s > tree[i].completion_time_s);
                    ++tree_wins;
                }
                // The card's 10 to 100 KB apply to the ring, too, on links of up to 10 Gb/s and up to 32 ranks.
                if (size >= 100e3 && link_bps <= 1e10 && P <= 32)
                    CHECK(ring[i].completion_time_s < tree[i].completion_time_s);
            }
        }
    CHECK(ring_wins > 0);
    CHECK(tree_wins > 0);
}

TEST_CASE("card A: iterations that add up activations by a tree are slower than those by ring or Rabenseifner",
          "[memory]") {
    for (const std::string& name : networks)
        for (const std::int64_t P : {4, 8, 16}) {
            if (P == 16 && name != "alexnet-nogroup") continue;  // many messages
            const Model model = shipped_model(name);
            const auto with = [&](const char* allreduce) {
                Plan plan = card_plan(P, 32);
                plan.parallelism.algorithms.allreduce = allreduce;
                return simulate(lower(CardMachine{}.cluster(P), model, plan)).time.iteration_s;
            };
            CAPTURE(name, P);
            const double tree_s = with("binomial-tree");
            CHECK(with("ring") < tree_s);
            CHECK(with("rabenseifner") < tree_s);
        }
}
