#include "sim/workload/compute_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "sim/workload/kernels.hpp"
#include "sim/workload/layer_table.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Compute times: each compute model against its formula, and properties that all must have.

using namespace syncline;
using namespace syncline::test;

namespace {

Device device_of(double flops_per_s, double memory_Bps, double latency_s = 0) {
    Device device;
    device.flops_per_s = flops_per_s;
    device.memory_Bps = memory_Bps;
    device.kernel_latency_s = latency_s;
    return device;
}

Model model_of(const Layer& layer) {
    Model model;
    model.name = "one";
    model.layers = {layer};
    return model;
}

double total(const LayerTime& time) {
    return time.forward_s + time.backward_s();
}

using Points = std::vector<EfficiencyCurve::Point>;

/// Returns devices with the data that every kind needs, from memory-bound to launch-bound ones.
std::vector<Device> devices(const Model& model) {
    std::vector<Device> all;
    for (const auto& [flops, memory, latency] : {std::tuple{10.6e12, 732e9, 0.0}, std::tuple{1e12, 1e9, 0.0},
                                                 std::tuple{1e11, 1e13, 0.0}, std::tuple{19.5e12, 1555e9, 5e-6}}) {
        for (const EfficiencyCurve::Over over : {EfficiencyCurve::Over::batch, EfficiencyCurve::Over::gemm}) {
            Device device = device_of(flops, memory, latency);
            device.calibration = {{model.name, 16, 123, ""}};
            // The first piece grows at the maximum rate.
            device.efficiency = EfficiencyCurve{over, {{2, 0.05}, {4, 0.1}, {30, 0.4}, {256, 0.9}}};
            MeasuredLayers measured{model.name, 10, {}, ""};
            double time_s = 1e-3;
            for (const Layer& layer : model.layers)
                measured.layers.push_back({layer.name, time_s *= 1.1, 2.5 * time_s});
            device.layer_times = {measured};
            KernelRates& rates = device.kernels.emplace();
            rates.product_flops_per_s = rates.attention_flops_per_s = 0.8 * flops;
            rates.memory_Bps = 0.9 * memory;
            rates.fixed_s = latency / 2;
            rates.multiprocessors = 7;
            all.push_back(device);
        }
    }
    return all;
}

constexpr ComputeKind kinds[] = {ComputeKind::calibrated, ComputeKind::roofline, ComputeKind::im2col,
                                 ComputeKind::efficiency, ComputeKind::measured, ComputeKind::tables};

/// `tables`: also checks the compute model of that name.
template <class Check>
void for_every_model(const Check& check, bool tables = true) {
    std::vector<Model> models{every_kind(), shipped_model("alexnet-caffe"), shipped_model("inception-v3"),
                              shipped_model("bert-large")};
    for (const Model& model : models) {
        for (const Device& device : devices(model)) {
            for (const ComputeKind kind : kinds) {
                if (kind == ComputeKind::tables && !tables) continue;
                CAPTURE(model.name, device.flops_per_s, device.memory_Bps, device.kernel_latency_s,
                        static_cast<int>(kind), static_cast<int>(device.efficiency->over));
                check(model, *make_compute_model(kind, model, device));
            }
        }
    }
}

}  // namespace

TEST_CASE("the roofline of convolutions and dense layers follows from their counts", "[memory]") {
    const Device device = device_of(10.6e12, 732e9);
    for (const std::string& name : shipped_cnns) {
        const Model model = shipped_model(name);
        const auto roofline = make_compute_model(ComputeKind::roofline, model, device);
        for (std::size_t i = 0; i < model.layers.size(); ++i) {
            const Layer& layer = model.layers[i];
            for (const Share& share : {Share{.samples = 1}, Share{.samples = 64},
                                       Share{.samples = 16, .fraction = 0.125}, Share{.samples = 8, .area = 0.25}}) {
                const double flops = 2 * static_cast<double>(layer.macs) * share.samples * share.fraction * share.area;
                const double inputs = static_cast<double>(layer.inputs) * share.area;
                const double outputs = static_cast<double>(layer.activations) * share.area * share.fraction;
                const double bytes =
                    4 * ((inputs + outputs) * share.samples + static_cast<double>(layer.parameters) * share.fraction);
                const double each_s = std::max(flops / 10.6e12, bytes / 732e9);
                const LayerTime time = roofline->time(i, share);
                CAPTURE(name, layer.name);
                CHECK(time.forward_s == Approx(each_s).epsilon(1e-14));
                CHECK(time.weight_gradient_s == time.forward_s);
                CHECK(time.input_gradient_s == (i == 0 ? 0 : time.forward_s));
                const double stall_s = std::max(0.0, bytes / 732e9 - flops / 10.6e12);
                CHECK(time.stall_s == Approx(stall_s * (i == 0 ? 2 : 3)).epsilon(1e-12));
                CHECK(time.bound == (bytes / 732e9 > flops / 10.6e12 ? Bound::memory : Bound::compute));
            }
        }
    }
}

TEST_CASE("AlexNet's first layer with im2col on a P100 takes the time computed by hand", "[memory]") {
    // 96 filters of 3·11·11 = 363, outputs of 55×55: with 64 images a 363 × 193600 matrix.
    const Model model = shipped_model("alexnet-nogroup");
    const double columns = 64 * 55 * 55;
    const double copy_s = 363 * columns * 4 / 732e9;
    const double compute_s = 2 * 96 * columns * 363 / 10.6e12;
    const double move_s = 4 * (96 * columns + 96 * 363 + 363 * columns) / 732e9;
    REQUIRE(compute_s > move_s);
    const LayerTime time = layer_times(model, device_of(10.6e12, 732e9), 64, ComputeKind::im2col)[0];
    CHECK(time.forward_s == Approx(copy_s + compute_s).epsilon(1e-12));
    CHECK(time.weight_gradient_s == Approx(compute_s).epsilon(1e-12));
    CHECK(time.input_gradient_s == 0);
    CHECK(time.stall_s == Approx(copy_s).epsilon(1e-12));
    CHECK(time.bound == Bound::compute);
    // On the device of Castelló's model, 4 TFLOP/s and 50 GB/s, all kernels are memory-bound.
    const LayerTime slow = layer_times(model, device_of(4e12, 50e9), 64, ComputeKind::im2col)[0];
    CHECK(slow.forward_s == Approx((copy_s + move_s) * 732 / 50).epsilon(1e-12));
    CHECK(slow.stall_s == Approx(copy_s * 732 / 50 + 2 * (move_s * 732 / 50 - compute_s * 10.6 / 4)).epsilon(1e-12));
    CHECK(slow.bound == Bound::memory);
}

TEST_CASE("no kernel takes less than the device's latency", "[memory]") {
    Convolution conv{.channels = 12, .height = 3, .width = 3, .filters = 12, .groups = 4};
    Model model = model_of(convolution("c", conv));
    model.layers.push_back(convolution("d", conv));
    const Device device = device_of(1e15, 1e15, 5e-6);
    const auto lowered = layer_times(model, device, 1, ComputeKind::im2col);
    CHECK(lowered[0].forward_s == Approx(5 * 5e-6));               // im2col and four groups
    CHECK(lowered[0].backward_s() == Approx(4 * 5e-6));            // four groups
    CHECK(lowered[1].backward_s() == Approx((4 + 4 + 1) * 5e-6));  // and col2im
    CHECK(lowered[1].bound == Bound::latency);
    CHECK(lowered[1].stall_s < 1e-9);  // waiting for a launch is not waiting for memory
    const auto implicit = layer_times(model, device, 1, ComputeKind::roofline);
    CHECK(implicit[1].forward_s == Approx(5e-6));
    CHECK(implicit[1].backward_s() == Approx(2 * 5e-6));
    // Larger work hides the launch.
    const Model large = model_of(dense("fc", 4096, 4096, false));
    CHECK(total(layer_times(large, device_of(1e12, 1e12, 5e-6), 64, ComputeKind::roofline)[0]) ==
          total(layer_times(large, device_of(1e12, 1e12), 64, ComputeKind::roofline)[0]));
}

TEST_CASE("the bound of a layer is the cause of most of its time", "[memory]") {
    const Model model = model_of(dense("fc", 100, 100, false));
    const auto bound = [&](const Device& device) {
        return layer_times(model, device, 10, ComputeKind::roofline)[0].bound;
    };
    // 2e5 FLOP, 12000 elements, 48 kB.
    CHECK(bound(device_of(1e9, 1e12, 1e-6)) == Bound::compute);
    CHECK(bound(device_of(1e12, 1e9, 1e-6)) == Bound::memory);
    CHECK(bound(device_of(1e12, 1e12, 1e-6)) == Bound::latency);
}

TEST_CASE("an efficiency curve has its points' values, is a power of the size between them, and constant outside",
          "[memory]") {
    const EfficiencyCurve curve{EfficiencyCurve::Over::batch, {{4, 0.1}, {16, 0.4}, {64, 0.8}}};
    for (const EfficiencyCurve::Point& point : curve.points) CHECK(curve.at(point.at) == Approx(point.fraction));
    CHECK(curve.at(0.5) == 0.1);
    CHECK(curve.at(1e9) == 0.8);
    CHECK(curve.at(8) == Approx(0.2));                    // in proportion
    CHECK(curve.at(32) == Approx(0.4 * std::sqrt(2.0)));  // half way in logarithms
    CHECK(EfficiencyCurve{EfficiencyCurve::Over::gemm, {{8, 0.7}}}.at(3) == 0.7);
}

TEST_CASE("efficiency over the batch slows down computing, not moving data", "[memory]") {
    Device device = device_of(1e12, 200e9);
    device.efficiency = EfficiencyCurve{EfficiencyCurve::Over::batch, {{1, 0.25}, {64, 0.5}}};
    const Model model = shipped_model("vgg-16");
    const auto roofline = make_compute_model(ComputeKind::roofline, model, device);
    const auto efficient = make_compute_model(ComputeKind::efficiency, model, device);
    int computing = 0, moving = 0;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        for (const double batch : {1.0, 64.0, 500.0}) {
            const double part = batch == 1 ? 0.25 : 0.5;
            const LayerTime plain = roofline->time(i, {.samples = batch});
            const LayerTime slowed = efficient->time(i, {.samples = batch});
            CHECK(slowed.forward_s ==
                  Approx(std::max(plain.forward_s,
                                  2 * batch * static_cast<double>(model.layers[i].macs) / (1e12 * part))));
            ++(slowed.bound == Bound::compute ? computing : moving);
        }
    }
    CHECK(computing > 0);
    CHECK(moving > 0);
}

TEST_CASE("efficiency over matrices: the same operations in a fatter matrix are never slower", "[memory]") {
    // A layer on Pr × Pc ranks, each with out/Pr outputs of B/Pc samples: 2·B·out·in/P operations whatever the grid;
    // the closer its two sides, the faster.
    Device device = device_of(10e12, 700e9);
    for (const Points& points :
         {Points{{8, 0.05}, {64, 0.3}, {512, 0.9}}, Points{{1, 0.01}, {100, 1}}, Points{{32, 0.5}}}) {
        device.efficiency = EfficiencyCurve{EfficiencyCurve::Over::gemm, points};
        for (const auto& [inputs, outputs, batch, ranks] :
             {std::tuple{4096, 4096, 1024, 256}, std::tuple{9216, 4096, 2048, 512}, std::tuple{100, 1000, 8, 8}}) {
            const Model model = model_of(dense("fc", inputs, outputs, false));
            const auto computation = make_compute_model(ComputeKind::efficiency, model, device);
            std::vector<std::pair<double, double>> by_narrower;  // the minimum of B/Pc and out/Pr, and the time
            for (int rows = 1; rows <= ranks; rows *= 2) {
                const Share share{.samples = static_cast<double>(batch) * rows / ranks, .fraction = 1.0 / rows};
                const double narrower = std::min(share.samples, outputs * share.fraction);
                by_narrower.emplace_back(narrower, total(computation->time(0, share)));
            }
            std::sort(by_narrower.begin(), by_narrower.end());
            for (std::size_t i = 1; i < by_narrower.size(); ++i) {
                CAPTURE(inputs, outputs, batch, by_narrower[i].first);
                if (by_narrower[i].first > by_narrower[i - 1].first)
                    CHECK(by_narrower[i].second <= by_narrower[i - 1].second * (1 + 1e-12));
            }
        }
    }
    // Checks the magnitude, too: 8 of 512 rows are at the curve's low end.
    device.efficiency = EfficiencyCurve{EfficiencyCurve::Over::gemm, {{8, 0.1}, {64, 0.5}}};
    device.memory_Bps = 1e18;
    const Model model = model_of(dense("fc", 4096, 4096, false));
    const auto computation = make_compute_model(ComputeKind::efficiency, model, device);
    CHECK(computation->time(0, {.samples = 8}).forward_s ==
          Approx(5 * computation->time(0, {.samples = 64, .fraction = 0.125}).forward_s));
}

TEST_CASE("work other than matrix products has the curve's last fraction of the peak", "[memory]") {
    Device device = device_of(1e12, 1e18);
    device.efficiency = EfficiencyCurve{EfficiencyCurve::Over::gemm, {{8, 0.1}, {64, 0.5}}};
    Layer layer;
    layer.macs = 1000;
    CHECK(layer_times(model_of(layer), device, 5, ComputeKind::efficiency)[0].forward_s == Approx(10000 / 0.5e12));
}

TEST_CASE("measured times scale with samples and share", "[memory]") {
    Device device = device_of(1, 1);
    const Model model = every_kind();
    MeasuredLayers measured{model.name, 8, {}, ""};
    for (const Layer& layer : model.layers) measured.layers.insert(measured.layers.begin(), {layer.name, 0.008, 0.024});
    measured.layers[0].forward_s = 1;  // for the last layer: the order does not matter
    device.layer_times = {{"another", 1, {}, ""}, measured};
    const auto computation = make_compute_model(ComputeKind::measured, model, device);
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const LayerTime time = computation->time(i, {.samples = 2, .fraction = 0.5, .area = 0.25});
        CAPTURE(model.layers[i].name);
        CHECK(time.forward_s == Approx((i + 1 == model.layers.size() ? 1 : 0.008) / 32));
        CHECK(time.backward_s() == Approx(0.024 / 32));
        CHECK(time.input_gradient_s == Approx(has_input_gradient(model, i) ? 0.012 / 32 : 0));
        CHECK_FALSE(time.bound);
    }
}

TEST_CASE("a device without the data that a compute model needs is a bug of the caller", "[memory]") {
    const Model model = every_kind();
    const Device device = device_of(1e12, 1e12);
    CHECK_THROWS_AS(make_compute_model(ComputeKind::efficiency, model, device), std::logic_error);
    CHECK_THROWS_AS(make_compute_model(ComputeKind::measured, model, device), std::logic_error);
    CHECK_THROWS_AS(make_compute_model(ComputeKind::tables, model, device), std::logic_error);
    Device partly = device;
    partly.layer_times = {{model.name, 1, {{"dense", 1, 1}}, ""}};
    CHECK_THROWS_AS(make_compute_model(ComputeKind::measured, model, partly), std::logic_error);
}

TEST_CASE("a calibration scales stalls with times, and keeps bounds", "[memory]") {
    const Model model = shipped_model("resnet-50");
    Device device = device_of(10.6e12, 732e9);
    device.calibration = {{"resnet-50", 64, 219, ""}};
    const auto plain = layer_times(model, device, 64, ComputeKind::roofline);
    const auto scaled = layer_times(model, device, 64, ComputeKind::calibrated);
    const double factor = scaled[0].forward_s / plain[0].forward_s;
    double sum = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        sum += total(scaled[i]);
        CHECK(scaled[i].weight_gradient_s == Approx(plain[i].weight_gradient_s * factor));
        CHECK(scaled[i].stall_s == Approx(plain[i].stall_s * factor));
        CHECK(scaled[i].bound == plain[i].bound);
    }
    CHECK(sum == Approx(64.0 / 219));
}

TEST_CASE("between several measured batches the iteration's time is linear", "[memory]") {
    const Model model = shipped_model("resnet-50");
    Device device = device_of(10.6e12, 732e9);
    // Rows may be in any order.
    device.calibration = {
        {"resnet-50", 64, 219, ""}, {"other", 48, 1, ""}, {"resnet-50", 32, 195, ""}, {"resnet-50", 256, 230, ""}};
    const auto iteration_s = [&](const Device& of, std::int64_t batch) {
        double sum_s = 0;
        for (const LayerTime& time : layer_times(model, of, batch)) sum_s += total(time);
        return sum_s;
    };
    for (const auto& [batch, rate] : {std::pair{32, 195.0}, std::pair{64, 219.0}, std::pair{256, 230.0}})
        CHECK(iteration_s(device, batch) == Approx(batch / rate).epsilon(1e-12));
    CHECK(iteration_s(device, 48) == Approx((32 / 195.0 + 64 / 219.0) / 2).epsilon(1e-12));
    CHECK(iteration_s(device, 112) == Approx((3 * 64 / 219.0 + 256 / 230.0) / 4).epsilon(1e-12));
    // Outside the measured batches the nearest one alone applies.
    for (const auto& [batch, nearest] : {std::pair{8, Calibration{"resnet-50", 32, 195, ""}},
                                         std::pair{1024, Calibration{"resnet-50", 256, 230, ""}}}) {
        Device alone = device;
        alone.calibration = {nearest};
        CHECK(iteration_s(device, batch) == iteration_s(alone, batch));
    }
    // The time of a part of a layer is interpolated between the same parts of it.
    const auto computation = make_compute_model(ComputeKind::calibrated, model, device);
    const LayerTime few = computation->time(5, {.samples = 32, .fraction = 0.5});
    const LayerTime more = computation->time(5, {.samples = 64, .fraction = 0.5});
    CHECK(total(computation->time(5, {.samples = 40, .fraction = 0.5})) ==
          Approx(0.75 * total(few) + 0.25 * total(more)).epsilon(1e-12));
}

TEST_CASE("time never decreases with more samples", "[memory]") {
    for_every_model([](const Model& model, const ComputeModel& computation) {
        for (std::size_t i = 0; i < model.layers.size(); ++i) {
            LayerTime last;
            for (const double samples : {0.25, 1.0, 2.0, 3.0, 5.0, 8.0, 31.0, 64.0, 100.0, 512.0}) {
                const LayerTime time = computation.time(i, {.samples = samples});
                const bool grows = time.forward_s >= last.forward_s * (1 - 1e-12) &&
                                   time.input_gradient_s >= last.input_gradient_s * (1 - 1e-12) &&
                                   time.weight_gradient_s >= last.weight_gradient_s * (1 - 1e-12);
                CAPTURE(model.layers[i].name, samples);
                if (!grows) FAIL_CHECK("it falls");
                last = time;
            }
        }
    });
}

// With tables, a share may fill the tiles that the whole does not fill: 192 of 256 filters, and 128 of 128.
TEST_CASE("a share of 1/p takes at most the time of the whole, and at least 1/p of it") {
    const auto check = [](const Model& model, const ComputeModel& computation) {
        for (std::size_t i = 0; i < model.layers.size(); ++i) {
            for (const double samples : {1.0, 48.0}) {
                const LayerTime whole = computation.time(i, {.samples = samples});
                for (const double p : {2.0, 3.0, 4.0, 5.0, 7.0, 12.0, 32.0, 64.0}) {
                    for (const Share& share : {Share{samples, 1 / p, 1}, Share{samples, 1, 1 / p}}) {
                        const LayerTime part = computation.time(i, share);
                        const auto fits = [&](double part_s, double whole_s) {
                            return part_s <= whole_s * (1 + 1e-9) && part_s >= whole_s / p * (1 - 1e-9);
                        };
                        CAPTURE(model.layers[i].name, samples, p, share.fraction, whole.forward_s, part.forward_s);
                        if (!fits(part.forward_s, whole.forward_s) ||
                            !fits(part.input_gradient_s, whole.input_gradient_s) ||
                            !fits(part.weight_gradient_s, whole.weight_gradient_s))
                            FAIL_CHECK("it does not fit");
                    }
                }
            }
        }
    };
    for_every_model(check, false);
}

TEST_CASE("a stall is part of the time, and compute-bound work has none", "[memory]") {
    for_every_model([](const Model& model, const ComputeModel& computation) {
        for (std::size_t i = 0; i < model.layers.size(); ++i) {
            const LayerTime time = computation.time(i, {.samples = 7});
            CAPTURE(model.layers[i].name);
            CHECK(time.stall_s >= 0);
            CHECK(time.stall_s <= total(time) * (1 + 1e-12));
        }
    });
    const Model model = model_of(dense("fc", 100, 100, false));
    CHECK(layer_times(model, device_of(1e12, 1e18), 64, ComputeKind::im2col)[0].stall_s == 0);
}

TEST_CASE("the rows of a layer table add up", "[memory]") {
    const Model model = shipped_model("alexnet-tf");
    Device device = device_of(10.6e12, 732e9);
    device.name = "p100";
    const LayerTable table = layer_table(model, device, 128, ComputeKind::im2col);
    const auto times = layer_times(model, device, 128, ComputeKind::im2col);
    REQUIRE(table.layers.size() == times.size());
    double time_s = 0, bytes = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        time_s += total(times[i]);
        bytes += 4.0 * 128 * static_cast<double>(model.layers[i].activations);
        CHECK(table.layers[i].time.forward_s == times[i].forward_s);
    }
    CHECK(total(table.total.time) == Approx(time_s));
    CHECK(table.total.activation_bytes == Approx(bytes));
    CHECK(table.total.parameters == 61'842'345);
    CHECK(table.total.macs == 838'792'896);
    // A layer table without calibration reports the roofline.
    CHECK(layer_table(model, device, 1, ComputeKind::calibrated).compute == ComputeKind::roofline);
    device.calibration = {{"alexnet-tf", 512, 2987, ""}};
    CHECK(layer_table(model, device, 1, ComputeKind::calibrated).compute == ComputeKind::calibrated);
    // A layer that takes no time has no bound.
    CHECK_FALSE(layer_table(model_of(Layer{}), device, 1, ComputeKind::roofline).total.time.bound);
}

TEST_CASE("compute models without rates of kernels take no notice of autocast, nor of element-wise kernels",
          "[memory]") {
    Model model;
    model.name = "small";
    model.element_bytes = 2;
    model.layers = {attention("attention", Attention{.positions = 64, .width = 64, .heads = 4, .rotary = true}),
                    feed_forward("feed-forward", FeedForward{.positions = 64, .width = 64, .hidden = 256}),
                    dense("head", Dense{.inputs = 64, .outputs = 100, .positions = 64, .norm = Norm::layer})};
    const Device device = device_of(1e12, 1e11);
    for (const ComputeKind kind : {ComputeKind::roofline, ComputeKind::im2col}) {
        model.precision = {};
        const auto plain = layer_times(model, device, 4, kind);
        model.precision = Precision::automatic();
        const auto cast = layer_times(model, device, 4, kind, {Launches::eager, Elementwise::separate});
        for (std::size_t i = 0; i < plain.size(); ++i) {
            CHECK(cast[i].forward_s == plain[i].forward_s);
            CHECK(cast[i].backward_s() == plain[i].backward_s());
        }
    }
}
