#include <cmath>
#include <vector>

#include "sim/analysis/host_bound.hpp"
#include "sim/lowering/arrangement.hpp"
#include "sim/lowering/recomputed_spans.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/kernels.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"
#include "tests/unit/layers.hpp"

// Passes whose kernels the host issues more slowly than the device computes them.

using namespace syncline;
using namespace syncline::test;

namespace {

constexpr double us = 1e-6;

/// Returns a device of one multiprocessor without a limit of memory, on which a kernel takes 1 us, and a tile of a
/// product 4 us more for each 128 of its k.
Device slow_tiles(double host_launch_s) {
    Device device;
    device.flops_per_s = 1e12;
    KernelRates& rates = device.kernels.emplace();
    rates.product_flops_per_s = rates.attention_flops_per_s = 2.0 * 128 * 128 * 128 / (4 * us);
    rates.memory_Bps = unlimited;
    rates.fixed_s = 1 * us;
    rates.host_launch_s = host_launch_s;
    return device;
}

Model model_of(std::vector<Layer> layers) {
    Model model;
    model.name = "small";
    model.element_bytes = 2;
    model.layers = std::move(layers);
    return model;
}

/// Forward 5 kernels: normalisation, product, activation, product, addition. Gradients of inputs: the same backwards.
/// Gradients of weights: two products.
Layer small_feed_forward(std::int64_t hidden = 128) {
    return feed_forward("feed-forward",
                        FeedForward{.positions = 128, .width = 128, .hidden = hidden, .bias = false, .dropout = false});
}

LayerTime time_of(const Layer& layer, double host_launch_s, Launches launches = Launches::eager, double part = 1) {
    const Model model = model_of({layer});
    const Device device = slow_tiles(host_launch_s);
    return make_compute_model(ComputeKind::tables, model, device, {launches})
        ->time(0, {.samples = 1, .fraction = part});
}

void check_same(const LayerTime& one, const LayerTime& other) {
    CHECK(one.forward_s == other.forward_s);
    CHECK(one.input_gradient_s == other.input_gradient_s);
    CHECK(one.weight_gradient_s == other.weight_gradient_s);
    CHECK(one.core_again_s == other.core_again_s);
    CHECK(one.bound == other.bound);
}

}  // namespace

TEST_CASE("launches: the backward pass has its own time for a launch", "[memory]") {
    const Model model = model_of({small_feed_forward()});
    Device device = slow_tiles(3 * us);
    device.kernels->host_launch_backward_s = 10 * us;
    const auto time = [&](Launches launches) {
        return make_compute_model(ComputeKind::tables, model, device, {launches})->time(0, {.samples = 1});
    };
    // 5 kernels forward take 13 us on the device, 7 backward 23 us.
    CHECK(time(Launches::eager).forward_s == Approx(15 * us));
    CHECK(time(Launches::eager).backward_s() == Approx(70 * us));
    CHECK(time(Launches::blocking).forward_s == Approx((13 + 15) * us));
    CHECK(time(Launches::blocking).backward_s() == Approx((23 + 70) * us));
    CHECK(time(Launches::graph).backward_s() == Approx(23 * us));
    device.speed = 2;  // the host does not get faster
    CHECK(time(Launches::eager).backward_s() == Approx(70 * us));
}

TEST_CASE("launches: a pass takes at least the host's time for its kernels", "[memory]") {
    // On the device a product takes 1 + 4 us: 13 us forward, 13 us for the gradients of inputs, 10 for those of
    // weights.
    const LayerTime device = time_of(small_feed_forward(), 0);
    CHECK(device.forward_s == Approx(13 * us));
    CHECK(device.input_gradient_s == Approx(13 * us));
    CHECK(device.weight_gradient_s == Approx(10 * us));
    CHECK(device.host_bound_s == 0);
    // 5 · 2.5 us are less than 13, and 7 · 2.5 us less than 23.
    check_same(time_of(small_feed_forward(), 2.5 * us), device);
    // Equal forward: nothing waits.
    CHECK(time_of(small_feed_forward(), 13 * us / 5).forward_s == Approx(13 * us));
    // Forward 15 us; 7 kernels backward take 21 us, less than 23, although 5 of them alone have only 13 us on the
    // device.
    const LayerTime forward = time_of(small_feed_forward(), 3 * us);
    CHECK(forward.forward_s == Approx(15 * us));
    CHECK(forward.input_gradient_s == device.input_gradient_s);
    CHECK(forward.weight_gradient_s == device.weight_gradient_s);
    CHECK(forward.host_bound_s == Approx(2 * us));
    CHECK(forward.bound != Bound::host);
    // 50 us and 70 us: 47 us wait for 7 kernels, 5/7 of them for those of the inputs' gradients.
    const LayerTime both = time_of(small_feed_forward(), 10 * us);
    CHECK(both.forward_s == Approx(50 * us));
    CHECK(both.backward_s() == Approx(70 * us));
    CHECK(both.input_gradient_s == Approx((13 + 47 * 5 / 7.0) * us));
    CHECK(both.host_bound_s == Approx((37 + 47) * us));
    CHECK(both.bound == Bound::host);
    check_same(time_of(small_feed_forward(), 10 * us, Launches::graph), device);
}

TEST_CASE("launches: the host that waits for each kernel adds its time", "[memory]") {
    // 13 us and 5 kernels forward, 23 us and 7 kernels backward, of which 5 are for the inputs' gradients.
    const LayerTime time = time_of(small_feed_forward(), 2 * us, Launches::blocking);
    CHECK(time.forward_s == Approx((13 + 5 * 2) * us));
    CHECK(time.input_gradient_s == Approx((13 + 5 * 2) * us));
    CHECK(time.weight_gradient_s == Approx((10 + 2 * 2) * us));
    CHECK(time.host_bound_s == Approx(12 * 2 * us));
    CHECK(time.bound != Bound::host);
    CHECK(time_of(small_feed_forward(), 4 * us, Launches::blocking).bound == Bound::host);  // 48 of 84 us
    // What is computed again: 3 kernels, 11 us on the device.
    const Layer layer = attention(
        "attention", Attention{.positions = 128, .width = 128, .heads = 1, .dropout = false, .scores = Scores::stored});
    CHECK(time_of(layer, 2 * us, Launches::blocking).core_again_s == Approx((11 + 3 * 2) * us));
    check_same(time_of(small_feed_forward(), 0, Launches::blocking), time_of(small_feed_forward(), 0));
}

TEST_CASE("launches: a pass without kernels takes no time", "[memory]") {
    const Layer table = embedding("embedding", Embedding{.vocabulary = 1000, .positions = 16, .width = 64});
    const LayerTime time = time_of(table, 10 * us);
    CHECK(time.input_gradient_s == 0);
    CHECK(time.forward_s > 0);
}

TEST_CASE("launches: parts of a layer have as many kernels as the whole", "[memory]") {
    // 8 tiles of hidden units, of 4 us: products take 33 us, 69 us forward with the three other kernels.
    const Layer layer = small_feed_forward(1024);
    CHECK(time_of(layer, 3 * us).forward_s == Approx(69 * us));
    CHECK(time_of(layer, 3 * us, Launches::eager, 1.0 / 8).forward_s == Approx(15 * us));
    CHECK(time_of(layer, 3 * us, Launches::graph, 1.0 / 8).forward_s == Approx(13 * us));
}

TEST_CASE("launches: what is computed again is a pass of its own", "[memory]") {
    const Layer layer = attention(
        "attention", Attention{.positions = 128, .width = 128, .heads = 1, .dropout = false, .scores = Scores::stored});
    const Model model = model_of({layer});
    // The scores, the softmax and the weighted sum: 5 + 1 + 5 us. In all 7 kernels: normalisation and addition at the
    // ends, the product of queries, keys and values (three tiles), and the projection.
    const LayerTime fast = time_of(layer, 2 * us), slow = time_of(layer, 10 * us);
    const auto again = [&](Recomputation what, const LayerTime& time) {
        return recompute_seconds(what, model, 0, time);
    };
    CHECK(again(Recomputation::selective, fast) == Approx(11 * us));
    CHECK(again(Recomputation::selective, slow) == Approx(30 * us));
    CHECK(again(Recomputation::full, fast) == Approx((11 + 2 + 13 + 5) * us));
    CHECK(again(Recomputation::full, slow) == Approx(70 * us));
    CHECK(slow.core_forward_s == fast.core_forward_s);
}

TEST_CASE("launches: they make nothing faster, and a faster device waits for the same host", "[memory]") {
    const Model model = every_kind();
    Device device = shipped_device("a100-sxm4-80gb");
    for (const double samples : {1, 3, 64}) {
        device.kernels->host_launch_s = 0;
        std::vector<LayerTime> last = layer_times(model, device, static_cast<std::int64_t>(samples));
        const std::vector<LayerTime> free = last;
        for (const double host_launch_s : {1 * us, 7.5 * us, 100 * us}) {
            device.kernels->host_launch_s = host_launch_s;
            Device faster = device;
            faster.speed = 8;
            const auto times = layer_times(model, device, static_cast<std::int64_t>(samples));
            const auto fast = layer_times(model, faster, static_cast<std::int64_t>(samples));
            const auto graph = layer_times(model, device, static_cast<std::int64_t>(samples), ComputeKind::calibrated,
                                           {Launches::graph});
            for (std::size_t i = 0; i < times.size(); ++i) {
                CAPTURE(samples, host_launch_s, i);
                CHECK(times[i].forward_s >= last[i].forward_s);
                CHECK(times[i].input_gradient_s >= last[i].input_gradient_s);
                CHECK(times[i].weight_gradient_s >= last[i].weight_gradient_s);
                CHECK(times[i].core_again_s >= last[i].core_again_s);
                check_same(graph[i], free[i]);
                double launched = 0;
                for (const Kernel& kernel :
                     kernels(model.layers[i], Pass::forward, {.samples = samples}, Lowering::launched))
                    launched += kernel.cast ? 0 : static_cast<double>(kernel.count);  // all sizes are the same
                CHECK(fast[i].forward_s == Approx(std::max(free[i].forward_s / 8, launched * host_launch_s)));
                CHECK(times[i].host_bound_s ==
                      Approx(times[i].forward_s + times[i].backward_s() - free[i].forward_s - free[i].backward_s())
                          .margin(1e-15));
            }
            last = times;
        }
    }
}

TEST_CASE("launches: they only limit the measured rates of kernels", "[memory]") {
    const Model model = every_kind();
    Device device = shipped_device("a100-sxm4-80gb"), other = device;
    other.kernels->host_launch_s = 1;
    for (const ComputeKind kind : {ComputeKind::roofline, ComputeKind::im2col, ComputeKind::efficiency}) {
        const auto one = layer_times(model, device, 2, kind), two = layer_times(model, other, 2, kind);
        for (std::size_t i = 0; i < one.size(); ++i) check_same(one[i], two[i]);
    }
}

TEST_CASE("launches: a training's note says which part of its passes waits", "[memory]") {
    Cluster cluster = star_cluster(1, 1e9, 1e-6);
    cluster.device = slow_tiles(10 * us);
    const Model model = model_of({small_feed_forward()});
    Plan plan;
    plan.batch_per_rank = 1;
    // 84 of 120 us.
    CHECK(host_bound_note(lower(cluster, model, plan)).find("for 70 % of") != std::string::npos);
    plan.launches = Launches::graph;
    CHECK(host_bound_note(lower(cluster, model, plan)) == "");
    plan.launches = Launches::eager;
    cluster.device.kernels->host_launch_s = 2.5 * us;
    CHECK(host_bound_note(lower(cluster, model, plan)) == "");
}

TEST_CASE("launches: after a wait for the counts of tokens the device waits for one launch", "[memory]") {
    Experts shape{.positions = 12800, .width = 128, .hidden = 128, .experts = 1, .norm = Norm::none};
    const auto forward_s = [&](double host_launch_s, Launches launches) {
        return time_of(experts("experts", shape), host_launch_s, launches).forward_s;
    };
    const double alone_s = forward_s(0, Launches::eager);
    CHECK(forward_s(5 * us, Launches::eager) == Approx(alone_s + 5 * us));
    CHECK(forward_s(5 * us, Launches::graph) == Approx(alone_s));
    shape.capacity = 1;  // fixes the counts
    CHECK(forward_s(5 * us, Launches::eager) == Approx(alone_s));
}
