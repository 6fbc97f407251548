#include "sim/platform/attention_table.hpp"

#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/config/rate_tables.hpp"
#include "sim/workload/compute_model.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"
#include "tests/unit/layers.hpp"

// Rates of fused attention: interpolation by hand, what is not measured, and published times that no rate comes from.

using namespace syncline;
using namespace syncline::test;

namespace {

constexpr bool forward = false, backward = true, whole = false, causal = true;

/// Returns the shipped rates of a kernel.
AttentionTable shipped(const std::string& device, const std::string& kernel) {
    const std::string path = SYNCLINE_SOURCE_DIR "/platforms/devices/" + device + "-attention.csv";
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return AttentionTable(config::read_attention(path, text.str()).at(kernel));
}

/// Returns the seconds of a forward and a backward pass over attention alone, which nothing else delays.
double both_passes_s(Device device, const std::string& kernel, double sequences, const Attention& shape) {
    device.kernels->attention = std::make_shared<const AttentionTable>(shipped("h100", kernel));
    Model model;
    model.name = "attention";
    model.element_bytes = 2;
    model.layers = {attention("attention", shape)};
    const LayerTime time =
        make_compute_model(ComputeKind::tables, model, device)->time(0, {.samples = sequences, .fraction = 1});
    return time.core_forward_s + time.core_backward_s;
}

}  // namespace

TEST_CASE("attention: the rate is that of the measured point, and a power of the sequence between two", "[memory]") {
    const AttentionTable table({{{forward, causal, 128, 1024}, 100},
                                {{forward, causal, 128, 4096}, 400},
                                {{backward, causal, 128, 1024}, 50}});
    CHECK(table.rate({forward, causal, 128, 1024}) == Approx(100));
    CHECK(table.rate({forward, causal, 128, 4096}) == Approx(400));
    CHECK(table.rate({forward, causal, 128, 2048}) == Approx(200));
    CHECK(table.rate({forward, causal, 128, 1}) == Approx(100));
    CHECK(table.rate({forward, causal, 128, 1e6}) == Approx(400));
    CHECK(table.rate({backward, causal, 128, 4096}) == Approx(50));
}

TEST_CASE("attention: a clock that falls under load slows it by as much as large products", "[memory]") {
    KernelRates rates = *shipped_device("h100-sxm").kernels;
    const AttentionWork work{forward, causal, 128, 4096};
    const double sustained = rates.attention_rate(work);
    rates.sustained_flops_per_s = 0;
    CHECK(sustained / rates.attention_rate(work) == Approx(697 / 794.5));
    rates.sustained_flops_per_s = 2 * rates.product_flops_per_s;  // a limit that is never reached
    const double burst = rates.attention_rate(work);
    rates.sustained_flops_per_s = 0;
    CHECK(burst == rates.attention_rate(work));
}

TEST_CASE("attention: head sizes are interpolated and may have different sequences", "[memory]") {
    const AttentionTable table({{{forward, whole, 64, 1024}, 100},
                                {{forward, whole, 256, 512}, 200},
                                {{forward, whole, 256, 2048}, 800},
                                {{backward, whole, 64, 1}, 1}});
    CHECK(table.rate({forward, whole, 64, 2048}) == Approx(100));
    CHECK(table.rate({forward, whole, 256, 1024}) == Approx(400));
    // Half of the way from 64 to 256 is 128, and from 100 to 400 is 200.
    CHECK(table.rate({forward, whole, 128, 1024}) == Approx(200));
    CHECK(table.rate({forward, whole, 32, 1024}) == Approx(100));
    CHECK(table.rate({forward, whole, 512, 1024}) == Approx(400));
}

TEST_CASE("attention: a pass without one of the masks has the rate of the other one, and both passes are needed",
          "[memory]") {
    const AttentionTable table({{{forward, causal, 128, 1024}, 100}, {{backward, whole, 128, 1024}, 50}});
    CHECK(table.rate({forward, whole, 128, 1024}) == Approx(100));
    CHECK(table.rate({backward, causal, 128, 1024}) == Approx(50));
    CHECK_THROWS_AS(AttentionTable(std::vector<AttentionTable::Row>{}), std::invalid_argument);
    CHECK_THROWS_WITH(AttentionTable({{{forward, causal, 128, 1024}, 100}}), "the backward pass has no rate");
    CHECK_THROWS_WITH(AttentionTable({{{backward, causal, 128, 1024}, 100}}), "the forward pass has no rate");
}

TEST_CASE("attention: a head size without one of the masks has the rate of the other one", "[memory]") {
    const AttentionTable table({{{forward, causal, 128, 1024}, 100},
                                {{backward, causal, 128, 1024}, 50},
                                {{backward, whole, 128, 1024}, 70},
                                {{backward, whole, 64, 1024}, 40}});
    CHECK(table.rate({backward, causal, 64, 1024}) == Approx(40));
    CHECK(table.rate({backward, causal, 128, 1024}) == Approx(50));
    CHECK(table.rate({backward, whole, 128, 1024}) == Approx(70));
    CHECK(table.rate({forward, whole, 128, 1024}) == Approx(100));
}

TEST_CASE("attention: a layer's passes take their FLOP at the rates of its shape", "[memory]") {
    Device device = shipped_device("h100-sxm");
    device.kernels->sustained_flops_per_s = 0;  // bursts
    device.kernels->fixed_s = 0;
    device.kernels->attention = std::make_shared<const AttentionTable>(std::vector<AttentionTable::Row>{
        {{forward, causal, 128, 1}, 2e12}, {{forward, whole, 128, 1}, 4e12}, {{backward, whole, 128, 1}, 1e12}});
    Model model;
    model.name = "attention";
    model.element_bytes = 2;
    Attention shape{.positions = 1024, .width = 512, .heads = 4};
    const double products = 2.0 * 1024 * 1024 * 512;  // FLOP of one product of a sample
    for (const bool mask : {whole, causal}) {
        shape.causal = mask;
        model.layers = {attention("attention", shape)};
        for (const double speed : {1.0, 2.0}) {
            device.speed = speed;
            const LayerTime time =
                make_compute_model(ComputeKind::tables, model, device)->time(0, {.samples = 3, .fraction = 1});
            const double part = mask ? 1025.0 / 2048 : 1, rate = (mask ? 2e12 : 4e12) * speed;
            CAPTURE(mask, speed);
            CHECK(time.core_forward_s == Approx(3 * 2 * products * part / rate));
            CHECK(time.core_backward_s == Approx(3 * 5 * products * part / (1e12 * speed)));
        }
    }
}

// NVIDIA/TransformerEngine, docs/examples/attention/attention.ipynb, H100 80GB HBM3, bf16: two sequences of 8192
// tokens, 32 heads of 128, 4 of keys and values, causal, take 7.4875 ms forward and backward with cuDNN and 11.8879 ms
// with FlashAttention-2. The rates are of other measurements.
TEST_CASE("attention: Transformer Engine's times of cuDNN and FlashAttention-2 on H100 are predicted within 6 %",
          "[memory]") {
    Device device = shipped_device("h100-sxm");
    device.kernels->sustained_flops_per_s = 0;  // bursts
    const Attention shape{.positions = 8192, .width = 4096, .heads = 32, .kv_heads = 4, .causal = true};
    CHECK(both_passes_s(device, "cudnn-9.1", 2, shape) == Approx(7.4875e-3).epsilon(0.06));
    CHECK(both_passes_s(device, "cudnn", 2, shape) == Approx(7.4875e-3).epsilon(0.1));
    CHECK(both_passes_s(device, "flash-attention-2", 2, shape) == Approx(11.8879e-3).epsilon(0.06));
}

// Azure/AI-benchmarking-guide: FlashAttention-2 reaches 179.5 Tflops on A100 (head size 64) and 327.9 on H100 (128),
// forward and backward pass together, two sequences of 8192 tokens; it does not name the mask, which is none here.
TEST_CASE("attention: Azure's rates of FlashAttention-2 are predicted within 5 %", "[memory]") {
    const auto rate = [](const char* device, double head_size) {
        const AttentionTable table = shipped(device, "flash-attention-2");
        return 3.5 / (1 / table.rate({forward, whole, head_size, 8192}) +
                      2.5 / table.rate({backward, whole, head_size, 8192}));
    };
    CHECK(rate("a100", 64) == Approx(179.5e12).epsilon(0.05));
    CHECK(rate("h100", 128) == Approx(327.9e12).epsilon(0.05));
}
