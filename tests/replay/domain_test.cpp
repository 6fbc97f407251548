#include <utility>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Compares domain parallelism with A. Gholami et al. (SPAA 2018): edges of images before each convolution, and an
// all-reduce of all weights among all ranks.

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};
constexpr double element_bytes = 4;

/// A square image of `side`, whose size every convolution keeps.
Layer kept(const std::string& name, std::int64_t channels, std::int64_t filters, std::int64_t side,
           std::int64_t kernel) {
    Convolution conv;
    conv.channels = channels, conv.filters = filters;
    conv.height = conv.width = side;
    conv.kernel[0] = conv.kernel[1] = kernel;
    conv.padding[0] = conv.padding[1] = kernel / 2;
    return convolution(name, conv);
}

Model convolutions(std::int64_t side) {
    Model model;
    model.name = "convolutions";
    model.layers = {kept("first", 3, 24, side, 5), kept("pointwise", 24, 36, side, 1), kept("last", 36, 12, side, 3)};
    return model;
}

Cluster cluster_of(const Model& model, std::int64_t ranks, double forward_s, double backward_s) {
    return timed_star(ranks, star.bandwidth_Bps, star.latency_s, model,
                      std::vector<double>(model.layers.size(), forward_s),
                      std::vector<double>(model.layers.size(), backward_s));
}

Plan plan_of(std::int64_t columns, std::int64_t height, std::int64_t width, std::int64_t batch) {
    Plan plan;
    plan.ranks = columns * height * width;
    plan.batch_per_rank = batch;
    plan.compute = ComputeKind::measured;
    plan.iterations = 3;
    plan.overlap = Overlap::none;
    plan.algorithm.name = "ring";
    plan.parallelism.layout.height = height;
    plan.parallelism.layout.width = width;
    return plan;
}

double gradients_s(const Model& model, std::int64_t ranks) {
    double seconds = 0;
    for (const Layer& layer : model.layers)
        seconds += 2 * star.ring_s(static_cast<double>(ranks), static_cast<double>(gradient_bytes(model, layer)));
    return seconds;
}

std::uint64_t gradients_sent(const Model& model, std::int64_t ranks) {
    return 2 * static_cast<std::uint64_t>(ranks - 1) * model.gradient_bytes();
}

}  // namespace

TEST_CASE("neighbouring cells exchange edges before convolutions larger than 1x1, forward and backward", "[memory]") {
    const std::int64_t side = 12, batch = 3;
    const Model model = convolutions(side);
    for (const std::int64_t columns : {1, 2}) {
        for (const std::int64_t cells : {2, 3, 4}) {
            CAPTURE(columns, cells);
            const Plan plan = plan_of(columns, cells, 1, batch);
            const Result result = simulate(lower(cluster_of(model, plan.ranks, 1e-3, 2e-3), model, plan));
            // Channels times half the kernel: for the inputs of the first and the last, and the outputs of the last.
            const double row = element_bytes * static_cast<double>(batch * side);
            const double edges[] = {row * 3 * 2, row * 36 * 1, row * 12 * 1};
            // Ranks between two others send two edges over one link.
            const double at_once = cells == 2 ? 1 : 2;
            double by_hand_s = 3 * (1e-3 + 2e-3) * batch / static_cast<double>(cells), sent = 0;
            for (const double edge : edges) {
                by_hand_s += star.message_s(at_once * edge);
                sent += static_cast<double>(2 * (cells - 1) * columns) * edge;
            }
            CHECK(result.time.iteration_s == Approx(by_hand_s + gradients_s(model, plan.ranks)).epsilon(1e-6));
            CHECK(result.bytes_sent == gradients_sent(model, plan.ranks) + static_cast<std::uint64_t>(sent));
        }
    }
}

TEST_CASE("two by two cells exchange rows first, then columns with the corners", "[memory]") {
    const std::int64_t side = 8, batch = 2;
    const Model model = convolutions(side);
    const Plan plan = plan_of(1, 2, 2, batch);
    const Result result = simulate(lower(cluster_of(model, plan.ranks, 1e-3, 2e-3), model, plan));
    double by_hand_s = 3 * (1e-3 + 2e-3) * batch / 4.0, sent = 0;
    const struct { double channels, half; } exchanged[] = {{3, 2}, {36, 1}, {12, 1}};
    for (const auto& [channels, half] : exchanged) {
        const double unit = element_bytes * batch * channels * half;
        // With one corner: each cell has one neighbour in its column.
        const double row = unit * 4, column = unit * (4 + half);
        by_hand_s += star.message_s(row) + star.message_s(column);
        sent += 4 * (row + column);
    }
    CHECK(result.time.iteration_s == Approx(by_hand_s + gradients_s(model, 4)).epsilon(1e-6));
    CHECK(result.bytes_sent == gradients_sent(model, 4) + static_cast<std::uint64_t>(sent));
}

TEST_CASE("cells in rows and columns send the edges that neighbours lack, and columns grow by the received rows",
          "[memory]") {
    const std::int64_t side = 12, batch = 2;
    const Model model = convolutions(side);
    for (const std::int64_t replicas : {1, 2}) {
        for (const auto& [height, width] : {std::pair{2, 2}, {3, 2}, {2, 3}, {4, 3}}) {
            CAPTURE(replicas, height, width);
            const Plan plan = plan_of(replicas, height, width, batch);
            double sent = 0;
            const struct { double channels, half; } exchanged[] = {{3, 2}, {36, 1}, {12, 1}};
            for (const auto& [channels, half] : exchanged) {
                const double unit = element_bytes * static_cast<double>(batch * replicas) * channels * half;
                for (int y = 0; y < height; ++y) {
                    const int above = y > 0 ? 1 : 0, below = y + 1 < height ? 1 : 0;
                    for (int x = 0; x < width; ++x) {
                        const int left = x > 0 ? 1 : 0, right = x + 1 < width ? 1 : 0;
                        sent += unit * (above + below) * side / width;
                        sent += unit * (left + right) * (static_cast<double>(side) / height + half * (above + below));
                    }
                }
            }
            const Result result = simulate(lower(cluster_of(model, plan.ranks, 1e-3, 2e-3), model, plan));
            CHECK(result.bytes_sent == gradients_sent(model, plan.ranks) + static_cast<std::uint64_t>(sent));
            CHECK(result.closed_form.iteration_time_s.has_value() == (height == 2 && width == 2));
            if (height > 2 || width > 2) continue;
            CHECK(result.time.iteration_s == Approx(result.closed_form.iteration_time_s.value()).epsilon(1e-6));
        }
    }
}

TEST_CASE("convolutions of 1x1 exchange no edges", "[memory]") {
    Model model = convolutions(8);
    model.layers = {model.layers[1]};
    const Plan plan = plan_of(1, 2, 2, 2);
    const Result result = simulate(lower(cluster_of(model, 4, 1e-3, 2e-3), model, plan));
    CHECK(result.time.iteration_s == Approx(3e-3 * 2 / 4 + gradients_s(model, 4)).epsilon(1e-6));
    CHECK(result.bytes_sent == gradients_sent(model, 4));
}

TEST_CASE("between cells and dense layers there is an allgather of inputs and a reduce-scatter of their gradients",
          "[memory]") {
    const std::int64_t side = 8, batch = 2;
    Model model;
    model.name = "with-classifier";
    model.layers = {kept("conv", 4, 12, side, 1), dense("classifier", 12 * side * side, 40, false)};
    for (const std::int64_t columns : {1, 3}) {
        for (const std::int64_t cells : {2, 4}) {
            CAPTURE(columns, cells);
            const Plan plan = plan_of(columns, cells, 1, batch);
            const Result result = simulate(lower(cluster_of(model, plan.ranks, 1e-3, 2e-3), model, plan));
            const auto n = static_cast<double>(cells), all = static_cast<double>(plan.ranks);
            const auto replicas = static_cast<double>(columns);
            const double inputs = element_bytes * batch * 12 * side * side, outputs = element_bytes * batch * 40;
            const double conv = static_cast<double>(gradient_bytes(model, model.layers[0]));
            const double dense = static_cast<double>(gradient_bytes(model, model.layers[1])) / n;
            const double by_hand_s = 2 * (1e-3 + 2e-3) * batch / n + 2 * star.ring_s(n, inputs) +
                                     star.ring_s(n, outputs) + 2 * star.ring_s(all, conv) +
                                     2 * star.ring_s(replicas, dense);
            CHECK(result.time.iteration_s == Approx(by_hand_s).epsilon(1e-6));
            const double sent =
                replicas * (n - 1) * (2 * inputs + outputs) + 2 * (all - 1) * conv + n * 2 * (replicas - 1) * dense;
            CHECK(static_cast<double>(result.bytes_sent) == sent);
        }
    }
}

TEST_CASE("more cells than an image has pixels, or than its kernels reach over, are an error", "[memory]") {
    const Model model = convolutions(8);
    const auto arranged = [&](std::int64_t height, std::int64_t width) {
        const Plan plan = plan_of(1, height, width, 1);
        return arrange(cluster_of(model, plan.ranks, 1, 1), model, plan);
    };
    CHECK_NOTHROW(arranged(4, 1));
    CHECK_THROWS_AS(arranged(9, 1), ParallelismError);
    CHECK_THROWS_AS(arranged(1, 9), ParallelismError);
    CHECK_THROWS_AS(arranged(8, 1), ParallelismError);  // for the first layer, which reaches two pixels out
    CHECK_THROWS_AS(arranged(1, 8), ParallelismError);
}
