#include "sim/platform/kernel_rates.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/platform/attention_table.hpp"
#include "sim/platform/product_table.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/kernels.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"
#include "tests/unit/layers.hpp"

// Times of kernels from measured rates: tiles and waves by hand, and published times of products and of a layer.

using namespace syncline;
using namespace syncline::test;

namespace {

struct Published {
    double m, n, k, tflops;
};

/// Returns by what part the predicted time is longer than the published one.
double error_of(const Device& device, const Published& row) {
    const MatrixProduct product{row.m, row.n, row.k};
    return device.kernels->product_s(product, product.elements() * 2) / (product.flops() / row.tflops / 1e12) - 1;
}

}  // namespace

TEST_CASE("rates: a product takes whole waves of whole tiles", "[memory]") {
    KernelRates rates = ten_multiprocessors();
    // One tile on one multiprocessor: 2·128·128·100 FLOP at 1e12 per second.
    const double small_s = 2.0 * 128 * 128 * 100 / 1e12;
    CHECK(rates.tiled_s({128, 128, 100}, 0) == Approx(small_s));
    CHECK(rates.tiled_s({1, 1, 100}, 0) == Approx(small_s));
    CHECK(rates.tiled_s({128, 100, 100, 10}, 0) == Approx(small_s));
    CHECK(rates.tiled_s({128, 128, 100, 11}, 0) == Approx(2 * small_s));
    CHECK(rates.tiled_s({129, 129, 100, 5}, 0) == Approx(2 * small_s));
    // 1280×1280 is 100 tiles in ten waves; nothing is left idle.
    CHECK(rates.tiled_s({1280, 1280, 500}, 0) == Approx(2.0 * 1280 * 1280 * 500 / 1e13));
    // Bytes that take longer, and the fixed cost.
    CHECK(rates.tiled_s({128, 128, 100}, 1e9) == Approx(1e-3));
    rates.fixed_s = 5e-6;
    CHECK(rates.tiled_s({128, 128, 100}, 1e9) == Approx(1.005e-3));
    rates.speed_up(2);
    CHECK(rates.tiled_s({128, 128, 100}, 0) == Approx(5e-6 + small_s / 2));
    CHECK(rates.tiled_s({128, 128, 100}, 1e9) == Approx(1.005e-3));
}

TEST_CASE("rates: a product with few tiles and a large k is divided along k", "[memory]") {
    KernelRates rates = ten_multiprocessors();
    const double depth_s = 2.0 * 128 * 128 / 1e12;  // a tile's time per unit of k
    // One tile: eight of ten multiprocessors take an eighth of k each, and write and read sums of 4 bytes.
    const double k = 1 << 20;
    CHECK(rates.tiled_s({128, 128, k}, 0) == Approx(k / 8 * depth_s + 2 * 8 * 128 * 128 * 4 / 1e12));
    // Five tiles: two parts each fill all ten; four parts would need two waves of half the time.
    CHECK(rates.tiled_s({640, 128, k}, 0) == Approx(k / 2 * depth_s + 2 * 2 * 640 * 128 * 4 / 1e12));
    // Ten tiles fill them already, and a short k is not worth the sums.
    CHECK(rates.tiled_s({1280, 128, k}, 0) == Approx(k * depth_s));
    rates.memory_Bps = 1e9;
    CHECK(rates.tiled_s({128, 128, 256}, 0) == Approx(256 * depth_s));
    rates.memory_Bps = 1e12;
    // Larger products never take less time.
    for (const double m : {64, 300, 1000})
        for (double extent = 16; extent < 1e6; extent *= 1.7) {
            CHECK(rates.tiled_s({m, 100, extent * 1.7}, 0) >= rates.tiled_s({m, 100, extent}, 0));
            CHECK(rates.tiled_s({m, extent * 1.7, 5000}, 0) >= rates.tiled_s({m, extent, 5000}, 0));
        }
}

TEST_CASE("rates: factors change the rate of products, and of nothing else", "[memory]") {
    KernelRates rates = ten_multiprocessors();
    rates.fixed_s = 5e-6;
    rates.others[Factors::tf32].flops_per_s = 5e12;
    rates.others[Factors::fp32].flops_per_s = 1e12;
    const MatrixProduct cube{1280, 1280, 1280};
    const double half_s = rates.product_s(cube, 0) - 5e-6;
    CHECK(rates.product_s(cube, 0, Factors::tf32) == Approx(5e-6 + 2 * half_s));
    CHECK(rates.product_s(cube, 0, Factors::tf32, true) == Approx(5e-6 + 2 * half_s));
    CHECK(rates.product_s(cube, 0, Factors::fp32) == Approx(5e-6 + 10 * half_s));
    CHECK(rates.product_s(cube, 1e10, Factors::fp32) == Approx(5e-6 + 1e-2));
    CHECK(rates.attention_rate({.head_size = 64}, Factors::tf32) == Approx(2.5e12));
    rates.tf32_weights_flops_per_s = 2e12;
    rates.fp32_attention_flops_per_s = 3e12;
    CHECK(rates.product_s(cube, 0, Factors::tf32, true) == Approx(5e-6 + 5 * half_s));
    CHECK(rates.product_s(cube, 0, Factors::tf32) == Approx(5e-6 + 2 * half_s));
    CHECK(rates.product_s(cube, 0, Factors::fp32, true) == Approx(5e-6 + 10 * half_s));
    CHECK(rates.attention_rate({.head_size = 64}, Factors::tf32) == 3e12);
    CHECK(rates.attention_rate({.head_size = 64}, Factors::fp32) == 3e12);
    CHECK(rates.attention_rate({.head_size = 64}) == 5e12);
}

TEST_CASE("rates: kernels that are no products take their bytes or their FLOP, and never less than the fixed cost",
          "[memory]") {
    Device device;
    device.flops_per_s = 1e14;
    device.kernels = ten_multiprocessors();
    device.kernels->fixed_s = 1e-6;
    Model model;
    model.name = "one";
    model.element_bytes = 2;
    Layer custom;
    custom.name = "custom";
    custom.macs = 5'000'000'000;  // 1e10 FLOP: 1 ms forward, and 1 ms for the gradient of the weights
    custom.inputs = 1000;
    model.layers = {custom};
    LayerTime time = layer_times(model, device, 1, ComputeKind::tables)[0];
    CHECK(time.forward_s == Approx(1e-3 + 1e-6));
    CHECK(time.weight_gradient_s == Approx(1e-3 + 1e-6));
    CHECK(time.bound == Bound::compute);
    CHECK(time.stall_s == 0);
    model.layers[0].inputs = 1'000'000'000;  // 2e9 bytes: 2 ms
    time = layer_times(model, device, 1, ComputeKind::tables)[0];
    CHECK(time.forward_s == Approx(2e-3 + 1e-6));
    CHECK(time.bound == Bound::memory);
    CHECK(time.stall_s == Approx(2 * 1e-3));
    model.layers[0].macs = 1, model.layers[0].inputs = 1;
    time = layer_times(model, device, 1, ComputeKind::tables)[0];
    CHECK(time.forward_s == Approx(1e-6).epsilon(1e-4));
    CHECK(time.bound == Bound::latency);
    device.kernel_latency_s = 7e-6;  // the host starts kernels more slowly than they end
    CHECK(layer_times(model, device, 1, ComputeKind::tables)[0].forward_s == Approx(7e-6));
}

TEST_CASE("rates: a faster device has shorter products, but the same fixed cost, with and without a table",
          "[memory]") {
    for (const char* name : {"h100-sxm", "a100-sxm4-80gb"}) {
        KernelRates rates = *shipped_device(name).kernels;
        const MatrixProduct product{3000, 5000, 2000};
        const double before_s = rates.product_s(product, 0);
        rates.speed_up(4);
        CHECK(rates.product_s(product, 0) == Approx(rates.fixed_s + (before_s - rates.fixed_s) / 4));
    }
}

TEST_CASE("rates: no product stays above the sustained rate, and slower ones keep their times", "[memory]") {
    KernelRates rates = *shipped_device("h100-sxm").kernels;
    KernelRates bursts = rates;
    bursts.sustained_flops_per_s = 0;
    int limited = 0, free = 0;
    for (const double m : {64, 300, 1024, 5000, 16384})
        for (const double n : {128, 700, 4096, 128256})
            for (const double k : {100, 2048, 16384}) {
                const MatrixProduct product{m, n, k};
                const double burst_s = bursts.product_s(product, 0), least_s = rates.fixed_s + product.flops() / 697e12;
                CAPTURE(m, n, k, burst_s, least_s);
                CHECK(rates.product_s(product, 0) == Approx(std::max(burst_s, least_s)));
                ++(burst_s < least_s ? limited : free);
                // Products of 8-bit factors are not limited.
                CHECK(rates.product_s(product, 0, Factors::fp8) == Approx(bursts.product_s(product, 0, Factors::fp8)));
            }
    CHECK(limited > 5);
    CHECK(free > 5);
    rates.speed_up(2);  // a device without that limit of power, or another one, has other rates
    CHECK(rates.product_s({16384, 16384, 16384}, 0) - rates.fixed_s ==
          Approx(2 * std::pow(16384, 3) / (2 * 697e12)).epsilon(0.01));
}

TEST_CASE("rates: a workload without a calibration uses the device's tables", "[memory]") {
    Device device = shipped_device("h100-sxm");
    CHECK(kind_used(ComputeKind::calibrated, "gpt-2", device) == ComputeKind::tables);
    CHECK(kind_used(ComputeKind::roofline, "gpt-2", device) == ComputeKind::roofline);
    device.calibration = {{"gpt-2", 4, 100, ""}};
    CHECK(kind_used(ComputeKind::calibrated, "gpt-2", device) == ComputeKind::calibrated);
    CHECK(kind_used(ComputeKind::calibrated, "bert-large", device) == ComputeKind::tables);
    CHECK(kind_used(ComputeKind::calibrated, "gpt-2", shipped_device("a100-sxm4")) == ComputeKind::roofline);
}

TEST_CASE("rates: the device's speed divides all times of every compute model", "[memory]") {
    const Model model = every_kind();
    Device device = shipped_device("a100-sxm4-80gb");
    device.kernels->host_launch_s = 0;  // launches_test.cpp: the host does not get faster
    device.calibration = {{model.name, 16, 123, ""}};
    MeasuredLayers measured{model.name, 10, {}, ""};
    for (const Layer& layer : model.layers) measured.layers.push_back({layer.name, 1e-3, 2e-3});
    device.layer_times = {measured};
    for (const ComputeKind kind : {ComputeKind::calibrated, ComputeKind::roofline, ComputeKind::im2col,
                                   ComputeKind::efficiency, ComputeKind::measured, ComputeKind::tables}) {
        CAPTURE(static_cast<int>(kind));
        Device faster = device;
        faster.speed = 1.25;
        const auto plain = layer_times(model, device, 12, kind), fast = layer_times(model, faster, 12, kind);
        for (std::size_t i = 0; i < plain.size(); ++i) {
            CHECK(fast[i].forward_s == Approx(plain[i].forward_s / 1.25));
            CHECK(fast[i].backward_s() == Approx(plain[i].backward_s() / 1.25));
        }
    }
}

TEST_CASE("rates: published products of an A100 are predicted from one rate and the tiles", "[memory]") {
    Device device = shipped_device("a100-sxm4-80gb");
    const Device measured = device;
    device.kernels->table = nullptr;
    device.kernels->sustained_flops_per_s = 0;
    // Azure/AI-benchmarking-guide, A100 80 GB, fp16, random data; the cube of 16384 gives the device its rate.
    const Published random_data[] = {{1024, 1024, 1024, 119.4}, {2048, 2048, 2048, 221.8},   {4096, 4096, 4096, 228.0},
                                     {8192, 8192, 8192, 253.7}, {6144, 12288, 12288, 250.8}, {802816, 192, 768, 157.8}};
    for (const Published& row : random_data) {
        CAPTURE(row.m, row.n, row.k);
        CHECK(std::abs(error_of(device, row)) < 0.18);
        // The table's source ran a slower kernel for the cube of 2048, with two waves of tiles.
        CHECK(std::abs(error_of(measured, row)) < (row.k == 2048 ? 0.41 : 0.12));
    }
    // PrincetonUniversity/LLMCompass, ae, A100, cuBLAS; nearly constant data, which raises large products by a tenth.
    // Its products of 8192 × n × n with n ≤ 1024 are left out: the four smallest take 29 to 47 us, time of the host.
    const Published constant_data[] = {
        {64, 12288, 12288, 101.7},    {128, 12288, 12288, 193},    {256, 12288, 12288, 242.7},
        {512, 12288, 12288, 252.7},   {1024, 12288, 12288, 257.9}, {2048, 12288, 12288, 262.2},
        {4096, 12288, 12288, 277.5},  {8192, 12288, 12288, 286.9}, {16384, 12288, 12288, 290.5},
        {32768, 12288, 12288, 279.2}, {8192, 2048, 2048, 243.8},   {8192, 4096, 4096, 269.2},
        {8192, 8192, 8192, 277.6},    {8192, 16384, 16384, 293.0}, {8192, 32768, 32768, 287.8}};
    for (const Published& row : constant_data) {
        CAPTURE(row.m, row.n, row.k);
        CHECK(std::abs(error_of(device, row)) < 0.15);
    }
}

TEST_CASE("rates: tiles and waves alone predict the H100's table", "[memory]") {
    KernelRates rates = *shipped_device("h100-sxm").kernels;
    rates.sustained_flops_per_s = 0;
    std::vector<double> errors;
    for (const double m : {512, 1024, 2048, 4096, 8192, 16384})
        for (const double n : {512, 1024, 2048, 4096, 8192, 16384})
            for (const double k : {512, 1024, 2048, 4096, 8192, 16384}) {
                const MatrixProduct product{m, n, k};
                errors.push_back(
                    std::abs(rates.tiled_s(product, product.elements() * 2) / rates.product_s(product, 0) - 1));
            }
    std::sort(errors.begin(), errors.end());
    CHECK(errors[errors.size() / 2] < 0.12);
}

// Products in bf16 that the project measured on one H100 (PyTorch 2.11, 2026), in bursts of milliseconds; another
// source than the table's.
TEST_CASE("rates: measured products of shapes that the H100's table lacks", "[memory]") {
    const KernelRates rates = *shipped_device("h100-sxm").kernels;
    const Published measured[] = {
        {512, 2304, 768, 318.7},   {1024, 28672, 4096, 781.4}, {2048, 3072, 1024, 642.9}, {4096, 1536, 12288, 786.0},
        {4096, 6144, 4096, 787.8}, {8192, 4096, 14336, 820.3}, {8192, 7168, 8192, 812.7}, {16384, 768, 3072, 749.4},
    };
    for (const Published& row : measured) {
        const MatrixProduct product{row.m, row.n, row.k};
        KernelRates bursts = rates;
        bursts.sustained_flops_per_s = 0;
        CAPTURE(row.m, row.n, row.k);
        CHECK(product.flops() / bursts.product_s(product, 0) / 1e12 == Approx(row.tflops).epsilon(0.12));
    }
    // Those that last: a head of 128256 columns for 50 ms and more.
    for (const Published& row : {Published{8192, 128256, 4096, 696.9}, Published{16384, 128256, 4096, 688.3}}) {
        const MatrixProduct product{row.m, row.n, row.k};
        CHECK(product.flops() / rates.product_s(product, 0) / 1e12 == Approx(row.tflops).epsilon(0.04));
    }
}

// V. Korthikanti et al., "Reducing activation recomputation in large transformer models", 2022, table 4: a layer of the
// 22B model (width 6144, 64 heads, 2048 tokens, 4 samples) on 8 A100 with tensor parallelism takes 7.7 ms forward, and
// 11.9 ms backward, whose all-reduces are overlapped. Two all-reduces of 100.7 MB take 0.83 ms each of the forward time
// (vTrain's measurement on eight A100), so computation takes 6.0 ms. The kernels leave out copies that change the
// layout and gaps between kernels, so the prediction must be shorter.
TEST_CASE("rates: the 22B layer of Korthikanti et al. takes up to an eighth longer than its predicted kernels",
          "[memory]") {
    Model model;
    model.name = "22b";
    model.element_bytes = 2;
    model.layers = {
        attention("attention", Attention{.positions = 2048, .width = 6144, .heads = 64, .scores = Scores::stored}),
        feed_forward("feed-forward", FeedForward{.positions = 2048, .width = 6144, .hidden = 4 * 6144})};
    const Device device = shipped_device("a100-sxm4-80gb");
    const auto computation = make_compute_model(ComputeKind::tables, model, device);
    double forward_s = 0, backward_s = 0, core_s = 0;
    for (std::size_t layer = 0; layer < 2; ++layer) {
        const LayerTime time = computation->time(layer, {.samples = 4, .fraction = 1.0 / 8});
        forward_s += time.forward_s;
        backward_s += time.backward_s();
        core_s += time.core_forward_s;
    }
    CAPTURE(forward_s, backward_s);
    CHECK(forward_s < 6.0e-3);
    CHECK(forward_s > 6.0e-3 / 1.125);
    CHECK(backward_s < 11.9e-3);
    CHECK(backward_s > 11.9e-3 / 1.125);
    // At the speed that one iteration calibrates (scenarios/published/llm/kor22.yaml), table 4's times: forward and
    // backward, the latter with the forward pass once more (full), and with attention's core once more (selective).
    constexpr double speed = 0.897, exchanges_s = 2 * 0.83e-3;
    const double pass_s = forward_s / speed + exchanges_s;
    CHECK(pass_s == Approx(7.7e-3).epsilon(0.1));
    CHECK(backward_s / speed == Approx(11.9e-3).epsilon(0.1));
    CHECK(backward_s / speed + pass_s == Approx(19.5e-3).epsilon(0.1));
    CHECK((backward_s + core_s) / speed == Approx(13.2e-3).epsilon(0.1));
}

TEST_CASE("rates: factors that have a table take its times, and others the ratio of the rates", "[memory]") {
    KernelRates rates = ten_multiprocessors();
    rates.fixed_s = 1e-6;
    std::vector<MeasuredProduct> rows;
    for (const double m : {128.0, 256.0})
        for (const double n : {128.0, 256.0})
            for (const double k : {128.0, 256.0}) rows.push_back({{m, n, k}, 3e12});
    rates.others[Factors::fp8].flops_per_s = rates.others[Factors::mxfp8].flops_per_s = 20e12;
    rates.others[Factors::mxfp8].table = std::make_shared<const ProductTable>(
        rows, [&](const MatrixProduct& product) { return rates.tiled_s(product, 0, Factors::mxfp8); });
    const MatrixProduct measured{256, 128, 256}, outside{256, 128, 1024};
    CHECK(rates.product_s(measured, 0, Factors::mxfp8) == Approx(measured.flops() / 3e12));
    CHECK(rates.product_s(measured, 0, Factors::fp8) == Approx(1e-6 + (rates.product_s(measured, 0) - 1e-6) / 2));
    const double grows = rates.tiled_s(outside, 0, Factors::mxfp8) / rates.tiled_s(measured, 0, Factors::mxfp8);
    CHECK(rates.product_s(outside, 0, Factors::mxfp8) == Approx(measured.flops() / 3e12 * grows));
    CHECK(rates.product_s(measured, 0) == rates.tiled_s(measured, 0));
    rates.speed_up(2);
    CHECK(rates.product_rate(Factors::mxfp8) == 40e12);
    CHECK(rates.product_s(measured, 0, Factors::mxfp8) == Approx(1e-6 + (measured.flops() / 3e12 - 1e-6) / 2));
}

TEST_CASE("rates: a head of a size that no kernel has takes the time of the next larger one", "[memory]") {
    // Of 72 elements 96 are computed, of 80 too, of 108 there are 128, and heads above 256 are as they are.
    const KernelRates rates = ten_multiprocessors();
    for (const auto& [size, part] : {std::pair{64.0, 1.0}, std::pair{72.0, 0.75}, std::pair{80.0, 80.0 / 96},
                                     std::pair{96.0, 1.0}, std::pair{108.0, 108.0 / 128}, std::pair{300.0, 1.0}}) {
        CAPTURE(size);
        CHECK(rates.attention_rate({.head_size = size}) == Approx(part * rates.attention_flops_per_s));
    }
    const KernelRates h100 = *shipped_device("h100-sxm").kernels;
    const auto rate = [&](double size) {
        return h100.attention_rate({.causal = true, .head_size = size, .sequence = 4096});
    };
    CHECK(rate(72) == Approx(0.75 * rate(96)));
    CHECK(rate(96) > rate(64));
    CHECK(rate(96) < rate(128));
}

// Measured by the project, 2026, H100 SXM, PyTorch 2.11: a·bᵀ with random data reaches 164, 360 and 407 Tflops. The
// ratio of large products makes small ones too fast.
TEST_CASE("rates: products in TF32 on the H100 take nearly their measured times", "[memory]") {
    const Device device = shipped_device("h100-sxm");
    for (const auto& [size, tflops] : {std::pair{1024, 164.0}, std::pair{2048, 360.0}, std::pair{4096, 407.0}}) {
        const double extent = size;
        const MatrixProduct cube{extent, extent, extent};
        const double predicted_s = device.kernels->product_s(cube, 4 * cube.elements(), Factors::tf32);
        CAPTURE(size, cube.flops() / predicted_s / 1e12);
        CHECK(cube.flops() / predicted_s / 1e12 == Approx(tflops).epsilon(size > 1024 ? 0.08 : 0.25));
    }
}

// Azure/AI-benchmarking-guide, H100, FP8 with random data: cubes of 2048 and 4096 reach 1011 and 1217 Tflops. The
// project measured the others (torch._scaled_mm, PyTorch 2.11, 2026). Products alone, without a cast. By the ratio of
// both rates large ones take up to a fifth less than predicted: the table's 16-bit products of that size reach the
// limit of power, and these do not. Times of the table in 8 bits include a cast: up to 5 bytes for each element of the
// first factor, which is read twice if its scale is not known, at half of the memory's bandwidth or more.
TEST_CASE("rates: products of 8-bit factors on the H100 take nearly their measured times, and those of their cast",
          "[memory]") {
    const Device device = shipped_device("h100-sxm");
    KernelRates ratio = *device.kernels;
    ratio.others[Factors::fp8].table = nullptr;
    const Published measured[] = {{2048, 2048, 2048, 1011},  {4096, 4096, 4096, 1217},  {2048, 4096, 4096, 1305},
                                  {4096, 4096, 4096, 1339},  {8192, 8192, 8192, 1457},  {16384, 16384, 16384, 1443},
                                  {8192, 28672, 4096, 1425}, {4096, 6144, 12288, 1429}, {2048, 1536, 12288, 1348}};
    for (const Published& row : measured) {
        const MatrixProduct product{row.m, row.n, row.k};
        const double measured_s = product.flops() / row.tflops / 1e12;
        const double predicted_s = ratio.product_s(product, product.elements(), Factors::fp8);
        const double with_cast_s = device.kernels->product_s(product, 0, Factors::fp8);
        CAPTURE(row.m, row.n, row.k, product.flops() / predicted_s / 1e12, product.flops() / with_cast_s / 1e12);
        CHECK(predicted_s == Approx(measured_s).epsilon(row.m > 4096 ? 0.23 : 0.15));
        CHECK(predicted_s < device.kernels->product_s(product, 2 * product.elements()));
        CHECK(with_cast_s > measured_s);
        CHECK(with_cast_s < 1.05 * (measured_s + 2 * 5 * row.m * row.k / device.kernels->memory_Bps));
    }
}

TEST_CASE("rates: 8-bit factors make products inside layers faster, and nothing else", "[memory]") {
    Device device = shipped_device("h100-sxm");
    device.kernels->sustained_flops_per_s = 0;
    Model model;
    model.name = "fp8";
    model.element_bytes = 2;
    model.layers = {attention("attention", Attention{.positions = 4096, .width = 4096, .heads = 32}),
                    feed_forward("feed-forward", FeedForward{.positions = 4096, .width = 4096, .hidden = 16384}),
                    dense("head", Dense{.inputs = 4096, .outputs = 32000, .positions = 4096, .gathered = false})};
    const auto wide = layer_times(model, device, 2, ComputeKind::tables);
    model.precision.products = Factors::fp8;
    const auto narrow = layer_times(model, device, 2, ComputeKind::tables);
    // The weights' products alone: each takes the time of the table of its factors.
    double saved_s = 0;
    for (const double hidden : {3 * 4096.0, 4096.0}) {
        const MatrixProduct product{8192, hidden, 4096};
        saved_s += device.kernels->table->seconds(product);
        saved_s -= device.kernels->others.at(Factors::fp8).table->seconds(product);
    }
    CHECK(wide[0].forward_s - narrow[0].forward_s == Approx(saved_s).epsilon(1e-9));
    CHECK(narrow[1].forward_s < 0.75 * wide[1].forward_s);
    CHECK(narrow[1].backward_s() < 0.75 * wide[1].backward_s());
    CHECK(narrow[0].core_forward_s == wide[0].core_forward_s);
    CHECK(narrow[2].forward_s == wide[2].forward_s);
}
