#include "sim/platform/grouped_products.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/config/rate_tables.hpp"
#include "sim/platform/kernel_rates.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"

// Products of experts: the rule by hand, means of ratios, and published times of products and of layers.

using namespace syncline;
using namespace syncline::test;

namespace {

std::vector<MeasuredGroup> b200_groups() {
    std::ifstream file(SYNCLINE_SOURCE_DIR "/platforms/devices/b200-grouped.csv");
    std::ostringstream text;
    text << file.rdbuf();
    return config::read_grouped_products("b200-grouped.csv", text.str());
}

/// Returns what products move if gradients of weights are added to 4 bytes.
double bytes_of(const MeasuredGroup& row) {
    const double results = row.products.m * row.products.n * row.products.batch;
    return row.products.elements() * 2 + (row.pass == GroupedPass::weights ? results * 6 : 0);
}

double rule_of(const KernelRates& rates, const MeasuredGroup& row) {
    return rates.grouped_rule_s(row.products, bytes_of(row), Factors::half, row.pass == GroupedPass::weights);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

TEST_CASE("experts' products wait for their computation, their bytes, or the host", "[memory]") {
    KernelRates rates = ten_multiprocessors();
    // Each of 20 experts has one tile: two waves.
    const MatrixProduct twenty{100, 128, 1000, 20};
    const double waves_s = 2 * 2.0 * 128 * 128 * 1000 / 1e12;
    CHECK(rates.grouped_s(GroupedPass::forward, twenty, 0) == Approx(waves_s));
    // One product of all rows would have 16 tiles, which fill ten multiprocessors as badly; 13 rows fill a tenth of
    // one.
    CHECK(rates.grouped_s(GroupedPass::forward, {13, 128, 1000, 20}, 0) == Approx(waves_s));
    rates.fixed_s = 2e-6;
    CHECK(rates.grouped_s(GroupedPass::forward, twenty, 1e9) == Approx(1e-3 + 2e-6));
    rates.group_launch_s = 1e-4;
    CHECK(rates.grouped_s(GroupedPass::forward, twenty, 1e9) == Approx(2e-3));
    rates.speed_up(4);  // not the host
    CHECK(rates.grouped_s(GroupedPass::forward, twenty, 1e9) == Approx(2e-3));
}

TEST_CASE("experts' products between measured ones have a mean of their ratios to the rule", "[memory]") {
    const auto one = [](GroupedPass, const MatrixProduct&) { return 1.0; };
    const GroupedProducts table({{GroupedPass::forward, {100, 100, 100, 10}, 2},
                                 {GroupedPass::forward, {400, 100, 100, 10}, 8},
                                 {GroupedPass::weights, {1, 2, 3, 4}, 5}},
                                one);
    CHECK(table.ratio(GroupedPass::forward, {100, 100, 100, 10}) == Approx(2));
    CHECK(table.ratio(GroupedPass::forward, {400, 100, 100, 10}) == Approx(8));
    CHECK(table.ratio(GroupedPass::forward, {200, 100, 100, 10}) == Approx(4));
    // Half as far from the first as from the second, which counts a quarter.
    const double third = std::pow(4.0, 1.0 / 3);
    CHECK(table.ratio(GroupedPass::forward, {100 * third, 100, 100, 10}) == Approx(2 * std::pow(4.0, 1.0 / 5)));
    CHECK(table.ratio(GroupedPass::forward, {1e6, 1e6, 1e6, 1}) == Approx(4).epsilon(0.1));
    CHECK(table.ratio(GroupedPass::weights, {7, 7, 7, 7}) == Approx(5));
    CHECK(table.ratio(GroupedPass::inputs, {100, 100, 100, 10}) == 1);

    KernelRates rates = ten_multiprocessors();
    rates.others[Factors::fp8].flops_per_s = 2e13;
    const MatrixProduct products{100, 100, 100, 10};
    const double rule_s = rates.grouped_s(GroupedPass::forward, products, 0);
    rates.grouped = std::make_shared<const GroupedProducts>(table);
    CHECK(rates.grouped_s(GroupedPass::forward, products, 0) == Approx(2 * rule_s));
    CHECK(rates.grouped_s(GroupedPass::weights, products, 0, Factors::fp8) == Approx(rule_s / 2));
}

TEST_CASE("experts' factors of 8 bits are cast before products, and a gradient of weights uses both casts",
          "[memory]") {
    KernelRates rates = ten_multiprocessors();
    rates.others[Factors::fp8].flops_per_s = 2e13;
    // 10 experts with 100 rows of 1000: a million elements, of which 4 B are read or written at M = 1 TB/s: 4 us.
    const MatrixProduct products{100, 128, 1000, 10};
    const double half_s = rates.grouped_s(GroupedPass::forward, products, 0);
    CHECK(rates.grouped_s(GroupedPass::forward, products, 0, Factors::fp8) == Approx(half_s / 2 + 4e-6));
    CHECK(rates.grouped_s(GroupedPass::inputs, products, 0, Factors::fp8) == Approx(half_s / 2 + 4e-6));
    CHECK(rates.grouped_s(GroupedPass::weights, products, 0, Factors::fp8) == Approx(half_s / 2));
    // A small expert is slower in 8 bits: one tile of 16 deep takes 0.52 us in 16 bits, its cast alone 0.06 us of bytes
    // and the 2 us of another kernel.
    rates.fixed_s = 2e-6;
    const MatrixProduct small{100, 128, 16, 10};
    CHECK(rates.grouped_s(GroupedPass::forward, small, 0, Factors::fp8) >
          rates.grouped_s(GroupedPass::forward, small, 0));
}

TEST_CASE("B200: measured products of experts are exact, and others are predicted from them", "[memory]") {
    const Device device = shipped_device("b200");
    const std::vector<MeasuredGroup> rows = b200_groups();
    REQUIRE(rows.size() == 60);
    for (const GroupedPass pass : {GroupedPass::forward, GroupedPass::inputs, GroupedPass::weights}) {
        CAPTURE(static_cast<int>(pass));
        std::vector<double> errors, rule_errors;
        for (const MeasuredGroup& row : rows) {
            if (row.pass != pass) continue;
            const double predicted = device.kernels->grouped_s(pass, row.products, bytes_of(row));
            CHECK(predicted == Approx(row.seconds));
            // Nothing is faster than the rule by more than the spread of products' rates.
            const double rule = rule_of(*device.kernels, row);
            CHECK(rule < 1.15 * row.seconds);
            rule_errors.push_back(std::abs(std::log(rule / row.seconds)));
            // The table without this row.
            std::vector<MeasuredGroup> others;
            for (const MeasuredGroup& other : rows)
                if (&other != &row) others.push_back(other);
            KernelRates rates = *device.kernels;
            rates.grouped =
                std::make_shared<const GroupedProducts>(others, [&](GroupedPass of, const MatrixProduct& products) {
                    return rule_of(*device.kernels, {of, products, 0});
                });
            errors.push_back(std::abs(std::log(rates.grouped_s(pass, row.products, bytes_of(row)) / row.seconds)));
        }
        CHECK(median(errors) < 0.16);
        CHECK(median(rule_errors) < 0.35);
        CHECK(*std::max_element(errors.begin(), errors.end()) < 0.5);
    }
}

TEST_CASE("H100: PyTorch's grouped products take what was measured after the rule was written", "[memory]") {
    // torch._grouped_mm of PyTorch 2.11 in bf16 with random data on one H100 SXM, the mean of 20 in a row, at 1290 to
    // 1860 MHz: measured by the project, 2026. Experts, tokens of each, results and summed elements of the forward
    // pass, and microseconds of the three passes.
    struct Row {
        double experts, m, n, k, forward_us, inputs_us, weights_us;
    };
    constexpr Row rows[]{{8, 1024, 14336, 4096, 1440, 1248, 1566},   {8, 4096, 14336, 4096, 6083, 5619, 5990},
                         {8, 4096, 4096, 14336, 5414, 5547, 5748},   {8, 512, 14336, 4096, 779.4, 648.7, 837.1},
                         {16, 1024, 4096, 7168, 1450, 1462, 1610},   {32, 512, 4096, 7168, 1413, 1488, 1922},
                         {32, 512, 7168, 2048, 810, 665.4, 863.4},   {32, 2048, 4096, 7168, 5501, 5321, 5777},
                         {64, 256, 2816, 2048, 379.7, 344.8, 482.5}, {64, 1024, 2816, 2048, 1092, 1063, 1248},
                         {16, 128, 4096, 7168, 354.2, 358.8, 470.9}, {128, 128, 1536, 4096, 629.9, 639.8, 765.3},
                         {128, 512, 1536, 4096, 1187, 1276, 1642}};
    KernelRates rates = *shipped_device("h100-sxm").kernels;
    rates.group_launch_s = 0;  // one kernel
    std::vector<double> forward, inputs, weights;
    for (const auto& [experts, m, n, k, forward_us, inputs_us, weights_us] : rows) {
        const auto ratio = [&](GroupedPass pass, const MatrixProduct& products, double us) {
            return rates.grouped_s(pass, products, products.elements() * 2) / (us * 1e-6);
        };
        forward.push_back(ratio(GroupedPass::forward, {m, n, k, experts}, forward_us));
        inputs.push_back(ratio(GroupedPass::inputs, {m, k, n, experts}, inputs_us));
        weights.push_back(ratio(GroupedPass::weights, {n, k, m, experts}, weights_us));
        CAPTURE(experts, m, n, k);
        for (const double one : {forward.back(), inputs.back(), weights.back()}) {
            CHECK(one > 0.75);
            CHECK(one < 1.25);
        }
    }
    CHECK(median(forward) == Approx(1).epsilon(0.05));
    CHECK(median(inputs) == Approx(1).epsilon(0.05));
    CHECK(median(weights) == Approx(1).epsilon(0.12));
}

TEST_CASE("H100: layers of experts as one kernel for each of their products computes them", "[memory]") {
    // NVIDIA, AIConfigurator (Copyright (c) 2025-2026 NVIDIA Corporation and affiliates, Apache License 2.0,
    // ai-dynamo/aiconfigurator, commit 095f58a51c, systems/data, moe, tensorrt-llm 1.3.0rc20): forward passes of gated
    // experts in bf16 on one H100 SXM with random weights, evenly loaded.
    struct Row {
        double tokens, width, hidden, top_k, experts, seconds;
    };
    constexpr Row rows[]{{16384, 2048, 512, 8, 256, 0.0023615}, {4096, 2048, 768, 8, 128, 0.00085539},
                         {16384, 2048, 768, 8, 128, 0.0026916}, {16384, 3072, 1024, 8, 256, 0.0048332},
                         {4096, 4096, 1536, 8, 128, 0.0025408}, {16384, 4096, 1536, 8, 128, 0.0078306},
                         {4096, 4096, 2048, 8, 256, 0.0053594}, {16384, 4096, 2048, 8, 256, 0.010537},
                         {1024, 4096, 14336, 2, 8, 0.0013017},  {4096, 4096, 14336, 2, 8, 0.0036269},
                         {16384, 4096, 14336, 2, 8, 0.014329},  {16384, 6144, 2560, 8, 160, 0.020573},
                         {4096, 6144, 16384, 2, 8, 0.0059847},  {16384, 6144, 16384, 2, 8, 0.024213}};
    KernelRates rates = *shipped_device("h100-sxm").kernels;
    rates.group_launch_s = 0;
    rates.sustained_flops_per_s = 0;  // measured in bursts
    std::vector<double> ratios;
    for (const Row& row : rows) {
        const double copies = row.tokens * row.top_k, m = copies / row.experts;
        double seconds = 0;
        for (const MatrixProduct& products : {MatrixProduct{m, 2 * row.hidden, row.width, row.experts},
                                              MatrixProduct{m, row.width, row.hidden, row.experts}})
            seconds += rates.grouped_s(GroupedPass::forward, products, products.elements() * 2);
        // Tokens are copied to their experts, activated, and added up.
        seconds += rates.pointwise_s(Pointwise::copy, 2 * copies * row.width * 2) +
                   rates.pointwise_s(Pointwise::activation, 3 * copies * row.hidden * 2) +
                   rates.pointwise_s(Pointwise::addition, (copies + row.tokens) * row.width * 2);
        ratios.push_back(seconds / row.seconds);
        CAPTURE(row.tokens, row.width, row.hidden, row.experts);
        CHECK(ratios.back() > 0.7);
        CHECK(ratios.back() < 1.3);
    }
    CHECK(median(ratios) > 0.85);
    CHECK(median(ratios) < 1.1);
}

TEST_CASE("H100: products on four queues", "[memory]") {
    // Measured by the project in 2026 on one H100 SXM (80 GB HBM3, 700 W), PyTorch 2.11, CUDA 13, in bf16: torch.mm
    // with weights of their own, in turn on four streams, captured as a CUDA graph, so that the host costs nothing.
    const std::vector<MeasuredGroup> rows{{GroupedPass::forward, {1024, 4096, 6144, 8}, 535.1e-6},
                                          {GroupedPass::forward, {4096, 4096, 6144, 8}, 2304.2e-6},
                                          {GroupedPass::forward, {4096, 6144, 2048, 8}, 1237.6e-6},
                                          {GroupedPass::forward, {1024, 4096, 7168, 32}, 2907.3e-6},
                                          {GroupedPass::forward, {1024, 7168, 2048, 32}, 1491.5e-6},
                                          {GroupedPass::forward, {512, 4096, 7168, 64}, 3385.6e-6},
                                          {GroupedPass::forward, {512, 7168, 2048, 64}, 1580.0e-6},
                                          {GroupedPass::forward, {512, 2048, 3584, 64}, 1040.6e-6},
                                          {GroupedPass::forward, {1232, 3072, 5120, 20}, 1106.1e-6},
                                          {GroupedPass::forward, {308, 5120, 1536, 80}, 914.9e-6}};
    KernelRates rates = *shipped_device("h100-sxm").kernels;
    rates.group_launch_s = 0;
    std::vector<double> ratios;
    for (const MeasuredGroup& row : rows) {
        ratios.push_back(rule_of(rates, row) / row.seconds);
        CAPTURE(row.products.m, row.products.n, row.products.k, row.products.batch, ratios.back());
        CHECK(ratios.back() > 0.6);
        CHECK(ratios.back() < 1.2);
    }
    CHECK(median(ratios) > 0.88);
    CHECK(median(ratios) < 1.05);
}
