#include <array>
#include <cmath>
#include <string>

#include "sim/config/file_kinds.hpp"
#include "sim/config/rate_tables.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"

// The keys of device files for memory and compute times. Mistakes are in tests/cases/device.cases.

using namespace syncline;

namespace {

Device written(const std::string& text) {
    config::Library library;
    Device device;
    std::vector<Diagnostic> errors;
    config::read(
        library.parse("test.yaml", "flops: 1 Tflops\nmemory_bandwidth: 300 GBps\n" + text, "."), "device",
        [&](config::Fields& fields) { describe(fields, device); }, errors);
    if (!errors.empty()) throw ConfigError(errors);
    return device;
}

/// Returns the error of a device, with its place.
std::string refusal(const std::string& text) {
    try {
        written(text);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

std::string curve(const std::string& points) {
    return "efficiency: {over: gemm, points: [" + points + "], source: chosen}\n";
}

}  // namespace

TEST_CASE("a device without further keys has unlimited memory and starts kernels immediately", "[memory]") {
    const Device device = written("");
    CHECK(std::isinf(device.memory_bytes));
    CHECK(device.kernel_latency_s == 0);
    CHECK_FALSE(device.efficiency);
    CHECK(device.layer_times.empty());
}

TEST_CASE("memory and the minimum time of a kernel are read", "[memory]") {
    const Device device = written("memory: 16 GB\nkernel_latency: 5 us\n");
    CHECK(device.memory_bytes == 16e9);
    CHECK(device.kernel_latency_s == Approx(5e-6));
    CHECK(std::isinf(written("memory: unlimited\n").memory_bytes));
    CHECK(written("kernel_latency: none\n").kernel_latency_s == 0);
}

TEST_CASE("the speed beside exchanges is one number or one for each kind of exchange", "[memory]") {
    using Speeds = std::array<double, exchange_classes>;
    CHECK(written("").speed_beside_exchange.of == Speeds{1, 1});
    CHECK(!written("").speed_beside_exchange.slows());
    CHECK(written("speed_beside_exchange: 0.8\n").speed_beside_exchange.of == Speeds{0.8, 0.8});
    CHECK(written("speed_beside_exchange: {collective: 0.57}\n").speed_beside_exchange.of == Speeds{0.57, 1});
    const auto both = written("speed_beside_exchange: {collective: 0.5, point-to-point: 0.9}\n").speed_beside_exchange;
    CHECK(both.of == Speeds{0.5, 0.9});
    CHECK(both.slows());
    CHECK(both.beside({0, 0}) == 1);
    CHECK(both.beside({2, 0}) == 0.5);
    CHECK(both.beside({0, 1}) == 0.9);
    CHECK(both.beside({1, 3}) == 0.5);
}

TEST_CASE("an efficiency curve is read", "[memory]") {
    const Device device =
        written(curve("{at: 8, part: 0.1}, {at: 16, part: 0.2}, {at: 100, part: 0.2}, {at: 1e3, part: 1}"));
    REQUIRE(device.efficiency);
    CHECK(device.efficiency->over == EfficiencyCurve::Over::gemm);
    REQUIRE(device.efficiency->points.size() == 4);
    CHECK(device.efficiency->points[1].at == 16);
    CHECK(device.efficiency->points[1].fraction == 0.2);
    CHECK(written("efficiency: {over: batch, points: [{at: 1, part: 0.5}], source: x}\n").efficiency->over ==
          EfficiencyCurve::Over::batch);
}

TEST_CASE("an efficiency curve in proportion is allowed, despite rounding", "[memory]") {
    for (int at = 1; at < 50; ++at)
        for (int next = at + 1; next < 50; ++next)
            CHECK(refusal(curve("{at: " + std::to_string(at) + ", part: " + std::to_string(at) + "e-2}, {at: " +
                                std::to_string(next) + ", part: " + std::to_string(next) + "e-2}")) == "");
}

TEST_CASE("a calibration may have several batches", "[memory]") {
    const std::string row = "calibration: {w: {batch: 64, throughput: 219 images/s, source: here";
    const Device device = written(row + ", other_batches: [{batch: 32, throughput: 195 images/s, source: there}, " +
                                  "{batch: 128, throughput: 220 images/s, source: there}]}}\n");
    REQUIRE(device.calibration.size() == 3);
    for (const Calibration& one : device.calibration) CHECK(one.workload == "w");
    CHECK(device.calibration[0].batch == 64);
    CHECK(device.calibration[1].batch == 32);
    CHECK(device.calibration[1].samples_per_s == Approx(195));
    CHECK(device.calibration[1].source == "there");
    CHECK(device.calibration[2].batch == 128);
    CHECK(written(row + "}}\n").calibration.size() == 1);
}

TEST_CASE("times of layers are read", "[memory]") {
    const Device device = written(
        "layer_times:\n"
        "  alexnet: {batch: 64, source: here, layers: {conv1: {forward: 1.2 ms, backward: 2.4 ms}, fc: {forward: 1 us, "
        "backward: none}}}\n"
        "  other: {batch: 1, source: there, layers: {a: {forward: 1 s, backward: 1 s}}}\n");
    REQUIRE(device.layer_times.size() == 2);
    const MeasuredLayers& alexnet = device.layer_times[0];
    CHECK(alexnet.workload == "alexnet");
    CHECK(alexnet.batch == 64);
    CHECK(alexnet.source == "here");
    REQUIRE(alexnet.layers.size() == 2);
    CHECK(alexnet.layers[0].name == "conv1");
    CHECK(alexnet.layers[0].forward_s == Approx(1.2e-3));
    CHECK(alexnet.layers[0].backward_s == Approx(2.4e-3));
    CHECK(alexnet.layers[1].backward_s == 0);
}

TEST_CASE("rates of kernels are read", "[memory]") {
    const std::string start = "multiprocessors: 10\nkernels:\n  product_rate: 0.8 Tflops\n  source: here\n";
    const Device device = written(start + "  memory_bandwidth: 250 GBps\n  fixed_cost: 4 us\n");
    REQUIRE(device.kernels);
    CHECK(device.kernels->product_flops_per_s == 0.8e12);
    CHECK(device.kernels->attention_flops_per_s == 0.8e12);
    CHECK(device.kernels->memory_Bps == 250e9);
    CHECK(device.kernels->fixed_s == Approx(4e-6));
    CHECK(device.kernels->multiprocessors == 10);
    CHECK(device.kernels->table == nullptr);
    CHECK(device.speed == 1);
    CHECK(written("speed: 0.9\n").speed == 0.9);
    CHECK(written(start + "  memory_bandwidth: 1 GBps\n  attention_rate: 1 Gflops\n").kernels->attention_flops_per_s ==
          1e9);
    CHECK_FALSE(written("").kernels);
}

TEST_CASE("a table of products is read", "[memory]") {
    using config::read_products;
    const std::string head = "# source\nbatch,m,n,k,tflops\n";
    const auto rows = read_products("t.csv", head + "1,2,3,4,5.5\r\n\n# more\n2,16,32,64,1e-3\n");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].product.m == 2);
    CHECK(rows[0].product.n == 3);
    CHECK(rows[0].product.k == 4);
    CHECK(rows[0].product.batch == 1);
    CHECK(rows[0].flops_per_s == 5.5e12);
    CHECK(rows[1].product.batch == 2);
    CHECK(rows[1].flops_per_s == 1e9);
}

TEST_CASE("a table of products may have a grid for each kind of factors", "[memory]") {
    using config::read_products;
    const std::string head = "# source\nfactors,batch,m,n,k,tflops\n";
    const auto rows = read_products("t.csv", head + "16-bit,1,2,3,4,5.5\r\nnvfp4,2,16,32,64,7\n");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].factors == Factors::half);
    CHECK(rows[0].product.k == 4);
    CHECK(rows[1].factors == Factors::nvfp4);
    CHECK(rows[1].product.batch == 2);
    CHECK(rows[1].flops_per_s == 7e12);
    CHECK(read_products("t.csv", "batch,m,n,k,tflops\n1,2,3,4,5\n")[0].factors == Factors::half);
    for (const char* line : {"fp6,1,2,3,4,5", "1,2,3,4,5", "fp8,1,2,3,4", "fp8,1,2,3,4,0", "fp8"})
        CHECK_THROWS_AS(read_products("t.csv", head + line), ConfigError);
}

TEST_CASE("the rate of factors is the best of their table, unless it is given", "[memory]") {
    const std::string products = "  products: " SYNCLINE_SOURCE_DIR "/platforms/devices/b200-gemm.csv\n";
    const std::string start =
        "multiprocessors: 148\nkernels:\n  product_rate: 1745 Tflops\n  source: here\n  memory_bandwidth: 6.9 TBps\n";
    const KernelRates best = *written(start + products).kernels;
    // 2968 and 4789 are the largest of AIConfigurator's rates on a B200 in these formats, 2615 and 3521 the medians of
    // those of large products.
    CHECK(best.product_rate(Factors::half) == 1745e12);
    CHECK(best.product_rate(Factors::mxfp8) <= 2968e12);
    CHECK(best.product_rate(Factors::mxfp8) > 2615e12);
    CHECK(best.product_rate(Factors::nvfp4) <= 4789e12);
    CHECK(best.product_rate(Factors::nvfp4) > 3521e12);
    CHECK(best.product_rate(Factors::tf32) == 0);
    for (const Factors factors : {Factors::fp8, Factors::mxfp8, Factors::nvfp4}) CHECK(best.others.at(factors).table);
    CHECK(written(start + "  mxfp8_product_rate: 1 Tflops\n" + products).kernels->product_rate(Factors::mxfp8) == 1e12);
}

TEST_CASE("the kernel of fused attention is one of its file, unless one rate is given", "[memory]") {
    const std::string start =
        "multiprocessors: 10\nkernels:\n  product_rate: 0.8 Tflops\n  source: here\n  memory_bandwidth: 1 GBps\n";
    const std::string file = "  attention: " SYNCLINE_SOURCE_DIR "/platforms/devices/h100-attention.csv\n";
    CHECK(written(start + file + "  attention_kernel: cudnn\n").kernels->attention);
    CHECK_FALSE(written(start + file + "  attention_kernel: cudnn\n  attention_rate: 1 Gflops\n").kernels->attention);
    CHECK_FALSE(written(start).kernels->attention);
}

TEST_CASE("a table of attention's rates is read", "[memory]") {
    using config::read_attention;
    const std::string head = "# source\nkernel,pass,mask,head_size,sequence,tflops\n";
    const auto rows =
        read_attention("t.csv", head + "a,forward,causal,64,512,5.5\r\n\n# more\na,backward,none,1,2,3\n");
    REQUIRE(rows.size() == 1);
    REQUIRE(rows.at("a").size() == 2);
    CHECK_FALSE(rows.at("a")[0].work.backward);
    CHECK(rows.at("a")[0].work.causal);
    CHECK(rows.at("a")[0].work.head_size == 64);
    CHECK(rows.at("a")[0].work.sequence == 512);
    CHECK(rows.at("a")[0].flops_per_s == 5.5e12);
    CHECK(rows.at("a")[1].work.backward);
    CHECK_FALSE(rows.at("a")[1].work.causal);
}

TEST_CASE("tables of convolutions, and of kernels beside them, are read", "[memory]") {
    using namespace config;
    const std::string head = "# source\nfactors,pass,kernel,filters,pixels,channels,tflops\n";
    const auto rows = read_convolutions("t.csv", head + "16-bit,weights,3,64,500,10,5.5\ntf32,forward,1,1,2,3,0.1\n");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].factors == Factors::half);
    CHECK(rows[0].work.pass == ConvolutionPass::weights);
    CHECK_FALSE(rows[0].work.pointwise);
    CHECK(rows[0].work.product.m == 64);
    CHECK(rows[0].work.product.n == 500);
    CHECK(rows[0].work.product.k == 90);
    CHECK(rows[0].flops_per_s == 5.5e12);
    CHECK(rows[1].factors == Factors::tf32);
    CHECK(rows[1].work.pass == ConvolutionPass::forward);
    CHECK(rows[1].work.pointwise);
    for (const char* line :
         {"fp8,forward,1,1,2,3,4", "fp32,backward,1,1,2,3,4", "fp32,forward,1,1,2,3", "fp32,forward,1,1,2,3,0"})
        CHECK_THROWS_AS(read_convolutions("t.csv", head + line), ConfigError);
    CHECK_THROWS_AS(read_convolutions("t.csv", "factors\n"), ConfigError);

    const std::string kernels = "kernel,channels,size,GBps\n";
    const ImageKernelRates rates =
        read_image_kernels("t.csv", kernels + "batch-norm,last,100,1\nbatch-norm,last,400,4\nbias,first,1,7\n");
    CHECK(*rates.rate({ImageKernel::batch_norm, 100}, true) == Approx(1e9));
    CHECK(*rates.rate({ImageKernel::batch_norm, 200}, true) == Approx(2e9));  // linear in both logarithms
    CHECK(*rates.rate({ImageKernel::batch_norm, 1}, true) == Approx(1e9));
    CHECK(*rates.rate({ImageKernel::batch_norm, 1e4}, true) == Approx(4e9));
    CHECK(*rates.rate({ImageKernel::bias, 64}, false) == Approx(7e9));
    CHECK_FALSE(rates.rate({ImageKernel::batch_norm, 100}, false));
    for (const char* line :
         {"norm,last,1,2", "bias,middle,1,2", "bias,last,0,2", "bias,last,1", "bias,last,1,2\nbias,last,1,3"})
        CHECK_THROWS_AS(read_image_kernels("t.csv", kernels + line), ConfigError);
}

TEST_CASE("tables of experts' products are read", "[memory]") {
    using namespace config;
    const std::string head = "# source\npass,groups,m,n,k,tflops\n";
    const auto rows = read_grouped_products("t.csv", head + "weights,4,64,500,10,5.5\nforward,1,1,2,3,0.1\n");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].pass == GroupedPass::weights);
    CHECK(rows[0].products.batch == 4);
    CHECK(rows[0].products.m == 64);
    CHECK(rows[0].products.n == 500);
    CHECK(rows[0].products.k == 10);
    CHECK(rows[0].seconds == Approx(2.0 * 4 * 64 * 500 * 10 / 5.5e12));
    CHECK(rows[1].pass == GroupedPass::forward);
    for (const char* line : {"backward,4,64,500,10,5.5", "inputs,4,64,500,10", "inputs,0,64,500,10,5.5",
                             "inputs,4,64,500,10,0", "inputs,4,64,500,10,1\ninputs,4,64,500,10,2"})
        CHECK_THROWS_AS(read_grouped_products("t.csv", head + line), ConfigError);
    CHECK_THROWS_AS(read_grouped_products("t.csv", "pass\n"), ConfigError);
}

TEST_CASE("rates of products are read by the size of their factors", "[memory]") {
    const std::string start =
        "multiprocessors: 10\nkernels:\n  product_rate: 0.8 Tflops\n  source: here\n  memory_bandwidth: 1 GBps\n";
    const KernelRates none = *written(start).kernels;
    CHECK(none.product_rate(Factors::half) == 0.8e12);
    for (const Factors factors : all_factors) {
        if (factors == Factors::half) continue;
        CHECK(none.product_rate(factors) == 0);
        const KernelRates one = *written(start + "  " + rate_key(factors) + ": 2 Tflops\n").kernels;
        CHECK(one.product_rate(factors) == 2e12);
        CHECK(one.product_rate(Factors::half) == 0.8e12);
    }
}

TEST_CASE("the shipped devices have the published data", "[memory]") {
    // Memory is from the datasheets, in GB, or what CUDA reports, which is less than as many GiB. Peaks must follow
    // from processors and clock at two operations per cycle (of the A100 in 16 bits, from 108 multiprocessors with
    // 2048), rates of memory from its width and the rate per pin: AnandTech's table of the Tesla family, TechPowerUp's
    // database, NVIDIA's whitepapers on Volta and Ampere. A B200 is an eighth of an HGX or DGX B200: 36 Pflops with
    // sparsity, half of them without, 64 TB/s, 1440 GB. Tensor cores of a V100 do 1024 operations per cycle and
    // multiprocessor, of an H100 4096 (its boost clock is 1.83 GHz, as a card 1.62 GHz); matrix cores of an MI250X 1024
    // per compute unit, of an MI300X 2048. A TPU v4 has eight units of 128×128 at 1.05 GHz. A GB200 NVL72 has 360
    // Pflops with sparsity, 576 TB/s and 13.4 TB for its 72 GPUs; a GB300 NVL72 has 20 TB; an HGX B300 2.1 TB. Tensor
    // cores of an L40S do 1024 operations at up to 2.49 GHz; of its 48 GB CUDA has 44.42 GiB.
    struct Made {
        std::string name;
        double memory_bytes, flops_per_s, memory_Bps;
    };
    const Made all[] = {
        {"k80", 12e9, 2 * 2496 * 0.875e9, 384 * 5.0e9 / 8},
        {"p100-pcie", 16e9, 2 * 3584 * 1.3e9, 4096 * 1.43e9 / 8},
        {"p100-sxm2", 16e9, 2 * 3584 * 1.48e9, 4096 * 1.43e9 / 8},
        {"v100-sxm2", 16e9, 2 * 5120 * 1.53e9, 4096 * 1.752e9 / 8},
        {"a100-sxm4", 40e9, 2 * 6912 * 1.41e9, 5120 * 2.43e9 / 8},
        {"a100-sxm4-80gb", 80e9, 108 * 2048 * 1.41e9, 5120 * 3.186e9 / 8},
        {"a100-sxm4-40gb", 40e9, 108 * 2048 * 1.41e9, 5120 * 2.43e9 / 8},
        {"v100-sxm3-32gb", 32e9, 80 * 1024 * 1.53e9, 4096 * 1.752e9 / 8},
        {"h100-sxm", 80e9, 132 * 4096 * 1.83e9, 5120 * 5.23e9 / 8},
        {"h100-pcie", 80e9, 114 * 4096 * 1.62e9, 5120 * 3.13e9 / 8},
        {"h200", 141e9, 132 * 4096 * 1.83e9, 6144 * 6.25e9 / 8},
        {"b200", 1440e9 / 8, 36e15 / 2 / 8, 64e12 / 8},
        {"gb200", 186e9, 360e15 / 2 / 72, 576e12 / 72},
        {"b300", 2.1e12 / 8, 36e15 / 2 / 8, 64e12 / 8},
        {"gb300", 20e12 / 72, 360e15 / 2 / 72, 576e12 / 72},
        {"gh200", 96e9, 132 * 4096 * 1.83e9, 4e12},
        {"l40s", 44.42 * 1024 * 1024 * 1024, 142 * 1024 * 2.49e9, 384 * 18e9 / 8},
        {"mi250x", 64e9, 110 * 1024 * 1.7e9, 4096 * 3.2e9 / 8},
        {"mi300x", 192e9, 304 * 2048 * 2.1e9, 8192 * 5.2e9 / 8},
        {"tpu-v4", 32e9, 8 * 2 * 128 * 128 * 1.05e9, 1200e9},
    };
    for (const Made& made : all) {
        INFO(made.name);
        const Device device = test::shipped_device(made.name);
        CHECK(device.name == made.name);
        CHECK(device.memory_bytes >= 0.999 * made.memory_bytes);
        CHECK(device.memory_bytes <= made.memory_bytes * 1024 * 1024 * 1024 / 1e9);
        CHECK(device.reserve_bytes < 0.02 * made.memory_bytes);
        CHECK(device.flops_per_s == Approx(made.flops_per_s).epsilon(0.01));
        CHECK(device.memory_Bps == Approx(made.memory_Bps).epsilon(0.01));
        CHECK(device.reduction_Bps == Approx(made.memory_Bps / 3).epsilon(0.01));
    }
}
