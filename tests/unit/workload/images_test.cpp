#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/platform/convolution_table.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/kernel_time.hpp"
#include "sim/workload/kernels.hpp"
#include "sim/workload/peak_note.hpp"
#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"
#include "tests/unit/layers.hpp"

// Networks of convolutions as a framework launches them: kernels beside the convolutions, factors of products, measured
// convolutions.

using namespace syncline;
using namespace syncline::test;

namespace {

Model model_of(const Layer& layer, double element_bytes = 4) {
    Model model;
    model.name = "one";
    model.element_bytes = element_bytes;
    model.layers = {layer, layer};  // the second one has gradients of its inputs
    return model;
}

/// Returns what the kernels of a pass read and write, by name.
std::map<std::string, double> moved(const Convolution& conv, Pass pass, const Share& share, double element_bytes) {
    std::map<std::string, double> bytes;
    for (const Kernel& kernel : kernels(convolution("conv", conv), pass, share, Lowering::launched))
        bytes[kernel.name] += kernel.moved(element_bytes);
    return bytes;
}

/// Returns a device whose products have rates of 1, 4 and 16 Tflops, and whose kernels cost nothing else.
Device three_rates() {
    Device device;
    device.name = "three";
    device.flops_per_s = 16e12;
    KernelRates& rates = device.kernels.emplace();
    rates.others[Factors::fp32].flops_per_s = 1e12;
    rates.others[Factors::tf32].flops_per_s = 4e12;
    rates.product_flops_per_s = rates.attention_flops_per_s = 16e12;
    rates.memory_Bps = 1e30;
    return device;
}

double forward_s(const Model& model, const Device& device) {
    return layer_times(model, device, 1, ComputeKind::tables)[1].forward_s;
}

/// An image network's precisions: sizes and factors.
std::vector<Precision> precisions() {
    Precision tf32, fp32, autocast;
    tf32.products = Factors::tf32;
    fp32.products = Factors::fp32;
    autocast.activations = 2;
    return {tf32, fp32, autocast, {}};
}

}  // namespace

TEST_CASE("images: kernels beside a convolution read and write each operand once", "[memory]") {
    const Convolution conv{.channels = 8,
                           .height = 10,
                           .width = 6,
                           .filters = 12,
                           .kernel = {3, 3},
                           .padding = {1, 1},
                           .bias = true,
                           .batch_norm = true,
                           .residual = true,
                           .joined = true,
                           .shared_input = true,
                           .pooling = {Pooling::Kind::maximum, 3, 2}};
    const double x = 5 * 8 * 10 * 6, y = 5 * 12 * 10 * 6, p = 12 * 8 * 9 + 3 * 12;
    const std::map<std::string, double> forward = moved(conv, Pass::forward, {.samples = 5}, 2);
    CHECK(forward.at("conv") == Approx(2 * (x + y + p)));
    CHECK(forward.at("pooling") == Approx(2 * (4 * x + x) + 8 * x));  // an index of 8 bytes for each maximum
    CHECK(forward.at("bias") == Approx(2 * 2 * y));
    CHECK(forward.at("batch normalisation") == Approx(2 * 3 * y));
    CHECK(forward.at("residual addition") == Approx(2 * 3 * y));
    CHECK(forward.at("ReLU") == Approx(2 * 2 * y));
    CHECK(forward.at("concatenation") == Approx(2 * 2 * y));
    CHECK(forward.size() == 8);  // and the cast
    const std::map<std::string, double> weights = moved(conv, Pass::weight_gradient, {.samples = 5}, 2);
    CHECK(weights.at("conv") == Approx(2 * (x + y + p)));
    CHECK(weights.at("ReLU") == Approx(2 * 3 * y));
    CHECK(weights.at("batch normalisation") == Approx(2 * 5 * y));
    CHECK(weights.at("bias") == Approx(2 * y));
    CHECK(weights.size() == 5);
    const std::map<std::string, double> inputs = moved(conv, Pass::input_gradient, {.samples = 5}, 2);
    CHECK(inputs.at("conv") == Approx(2 * (x + y + p)));
    CHECK(inputs.at("pooling") == Approx(2 * (4 * x + x) + 8 * x));
    CHECK(inputs.at("addition of gradients") == Approx(2 * 3 * x));
    CHECK(inputs.size() == 3);
    // A part of the filters has that part of the outputs.
    CHECK(moved(conv, Pass::forward, {.samples = 5, .fraction = 0.25}, 2).at("ReLU") == Approx(y));
}

TEST_CASE("images: a convolution of single channels has no product", "[memory]") {
    const Convolution conv{.channels = 6, .height = 9, .width = 9, .filters = 6, .kernel = {3, 3}, .groups = 6};
    for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient})
        for (const Kernel& kernel : kernels(convolution("conv", conv), pass, {.samples = 2}, Lowering::launched))
            CHECK((kernel.flops == 0 && !kernel.product && !kernel.convolution));
}

TEST_CASE("images: weights are cast if they have another size than activations", "[memory]") {
    Device device = three_rates();
    device.kernels->product_flops_per_s = 1e30;
    device.kernels->memory_Bps = 1e9;
    Model model = model_of(dense("dense", 1000, 1, false));
    const double plain_s = forward_s(model, device);
    model.precision.activations = 2;
    // 1000 weights of 4 bytes are read and written in 2; then the product moves 2 bytes for each of its elements.
    CHECK(forward_s(model, device) == Approx((1000 * 6 + 2 * 2001) / 1e9));
    model.precision.weights = 2;
    CHECK(forward_s(model, device) == Approx(2 * 2001 / 1e9));
    CHECK(plain_s >= 4 * 2001 / 1e9);
}

TEST_CASE("images: factors decide the rate of products, and those of convolutions are others by default", "[memory]") {
    const Device device = three_rates();
    const double flops = 2e9;
    Model product = model_of(dense("dense", 31250, 32000, false));
    const Convolution shape{.channels = 1000, .height = 100, .width = 10, .filters = 1000, .activation = false};
    Model convolved = model_of(convolution("conv", shape));
    // Both are 1e9 multiply-accumulates; the one multiprocessor computes whole tiles.
    const double tiles_product = std::ceil(32000 / 128.0) * 128 * 128 * 31250 * 2;
    const double tiles_convolved = std::ceil(1000 / 128.0) * std::ceil(1000 / 128.0) * 128 * 128 * 1000 * 2;
    REQUIRE(2.0 * static_cast<double>(product.layers[0].macs) == flops);
    REQUIRE(2.0 * static_cast<double>(convolved.layers[0].macs) == flops);
    CHECK(forward_s(product, device) == Approx(tiles_product / 1e12));
    CHECK(forward_s(convolved, device) == Approx(tiles_convolved / 4e12));
    for (const auto& [factors, rate] :
         {std::pair{Factors::fp32, 1e12}, std::pair{Factors::tf32, 4e12}, std::pair{Factors::half, 16e12}}) {
        product.precision.products = convolved.precision.products = factors;
        CHECK(forward_s(product, device) == Approx(tiles_product / rate));
        CHECK(forward_s(convolved, device) == Approx(tiles_convolved / rate));
    }
    product.precision = convolved.precision = {};
    product.precision.activations = convolved.precision.activations = 2;
    CHECK(forward_s(product, device) == Approx(tiles_product / 16e12));
    CHECK(forward_s(convolved, device) == Approx(tiles_convolved / 16e12));
}

TEST_CASE("images: a rate that the device lacks is an error if it is named, else a note", "[memory]") {
    Device device = three_rates();
    Model model = model_of(dense("dense", 31250, 32000, false));
    CHECK(missing_rate_note(ComputeKind::tables, model, device).empty());
    device.kernels->others[Factors::fp32].flops_per_s = 0;
    const std::string note = missing_rate_note(ComputeKind::tables, model, device);
    CHECK(note.find("32-bit factors (fp32)") != std::string::npos);
    CHECK(note.find("device 'three' has no `fp32_product_rate`") != std::string::npos);
    CHECK(missing_rate_note(ComputeKind::roofline, model, device).empty());
    model.precision.products = Factors::fp32;
    CHECK_THROWS_AS(make_compute_model(ComputeKind::tables, model, device), std::logic_error);
    model.precision.products = Factors::tf32;
    CHECK_NOTHROW(make_compute_model(ComputeKind::tables, model, device));
    // Convolutions, too.
    model = model_of(convolution("conv", {.channels = 10, .height = 10, .width = 10, .filters = 10}));
    device = three_rates();
    CHECK(missing_rate_note(ComputeKind::tables, model, device).empty());
    device.kernels->others[Factors::tf32].flops_per_s = 0;  // a device before TF32
    CHECK(missing_rate_note(ComputeKind::tables, model, device).empty());
    CHECK(factors_used(model, device, ProductKind::convolution) == Factors::fp32);
    device.kernels->others[Factors::fp32].flops_per_s = 0;
    CHECK(factors_used(model, device, ProductKind::convolution) == Factors::half);
    CHECK_FALSE(missing_rate_note(ComputeKind::tables, model, device).empty());
}

TEST_CASE("images: more images never take less time", "[memory]") {
    Device device = shipped_device("h100-sxm");
    device.kernels->host_launch_s = 0;
    for (const char* name : {"resnet-50", "vgg-16", "alexnet-owt", "inception-v3", "mobilenet-v2"}) {
        Model model = shipped_model(name);
        for (const Precision& precision : precisions()) {
            model.precision = precision;
            std::vector<LayerTime> before;
            for (const std::int64_t batch : {1, 2, 3, 8, 17, 64, 200, 1000}) {
                CAPTURE(name, batch);
                const std::vector<LayerTime> times = layer_times(model, device, batch, ComputeKind::tables);
                for (std::size_t i = 0; i < before.size(); ++i) {
                    CHECK(times[i].forward_s >= before[i].forward_s * (1 - 1e-9));
                    CHECK(times[i].backward_s() >= before[i].backward_s() * (1 - 1e-9));
                }
                before = times;
            }
        }
    }
}

// Convolutions of 64 images that are not in the table, measured as those in it
// (platforms/devices/h100-convolutions.csv), in microseconds: bf16 and TF32, in the forward pass, for the gradients of
// inputs and of weights.
TEST_CASE("images: the H100's table predicts convolutions that are not in it", "[memory]") {
    struct Measured {
        double channels, filters, kernel, pixels;
        double us[2][3];
    };
    const Measured rows[] = {
        {64, 64, 9, 224 * 224, {{501.7, 499.1, 487.2}, {2196.1, 2245.3, 3414.8}}},
        {256, 256, 9, 14 * 14, {{28.5, 36.0, 34.2}, {106.1, 115.3, 153.3}}},  // stride 2
        {128, 512, 1, 28 * 28, {{26.0, 25.2, 26.9}, {52.2, 57.2, 68.0}}},
        {512, 128, 1, 28 * 28, {{24.8, 27.7, 27.4}, {58.4, 68.1, 63.3}}},
        {192, 192, 7, 17 * 17, {{20.7, 19.6, 31.7}, {59.5, 64.7, 114.3}}},  // 1×7
        {64, 192, 25, 27 * 27, {{59.3, 72.2, 71.4}, {132.5, 192.4, 253.0}}},
    };
    const Device device = shipped_device("h100-sxm");
    std::vector<double> accuracies;
    for (const Measured& row : rows)
        for (const int tf32 : {0, 1})
            for (const int pass : {0, 1, 2}) {
                const ConvolutionWork work{static_cast<ConvolutionPass>(pass),
                                           row.kernel == 1,
                                           {row.filters, 64 * row.pixels, row.channels * row.kernel}};
                const double us =
                    1e6 * device.kernels->convolution_s(work, 0, tf32 == 1 ? Factors::tf32 : Factors::half);
                CAPTURE(row.channels, row.filters, row.kernel, tf32, pass, us, row.us[tf32][pass]);
                accuracies.push_back(std::min(us, row.us[tf32][pass]) / std::max(us, row.us[tf32][pass]));
                CHECK(accuracies.back() > 0.6);
            }
    std::sort(accuracies.begin(), accuracies.end());
    CHECK(accuracies[accuracies.size() / 2] > 0.85);
}

TEST_CASE("images: a table of convolutions has all passes and kernels of its factors", "[memory]") {
    std::vector<ConvolutionTable::Row> rows;
    const auto modelled = [](const MatrixProduct& product, Factors) { return product.flops() / 1e12; };
    for (const ConvolutionPass pass : {ConvolutionPass::forward, ConvolutionPass::inputs, ConvolutionPass::weights})
        for (const bool pointwise : {false, true}) {
            for (const double m : {64, 256})
                for (const double n : {100, 1000})
                    for (const double k : {32, 64}) rows.push_back({Factors::tf32, {pass, pointwise, {m, n, k}}, 1e12});
            if (rows.size() < 48) CHECK_THROWS_AS(ConvolutionTable(rows, modelled), std::invalid_argument);
        }
    const ConvolutionTable table(rows, modelled);
    const ConvolutionWork work{ConvolutionPass::inputs, true, {256, 1000, 64}};
    CHECK(table.seconds(work, Factors::tf32).value() == Approx(work.product.flops() / 1e12));
    CHECK_FALSE(table.seconds(work, Factors::half));
}
