#include "sim/analysis/utilisation.hpp"
#include "sim/workload/peak_note.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Utilisation of the devices' peak by a training, and notes on compute times without a measurement.

using namespace syncline;
using test::shipped_model;

namespace {

/// Returns a layer with this number of multiply-accumulates and output channels.
Layer channels(std::int64_t macs, std::int64_t filters) {
    return {"layer", 0, macs, 0, 0, Convolution{.channels = 1, .height = 1, .width = 1, .filters = filters}};
}

}  // namespace

TEST_CASE("utilisation: a transformer's model FLOP equal the literature's formula", "[memory]") {
    // F = 72slh²(1 + s/(6h) + V/(12lh)) per sample, D. Narayanan et al., SC 2021, without recomputation.
    const Model model = shipped_model("gpt-3-175b");
    const double s = 2048, l = 96, h = 12288, V = 51200, samples = 4 * 8, ranks = 16, time_s = 100;
    const double flop = samples * 72 * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h));
    Cluster cluster = star_cluster(16, 1e9, 0);
    cluster.device.flops_per_s = 312e12;
    cluster.device.memory_Bps = 2e12;
    Plan plan;
    plan.ranks = 16;
    plan.batch_per_rank = 8;
    plan.parallelism.layout.rows = 4;
    const Utilisation result = utilisation_of(lower(cluster, model, plan), time_s);
    CHECK(result.tflops_per_device.value() == Approx(flop / ranks / time_s / 1e12));
    CHECK(result.model_flops.value() == Approx(flop / ranks / time_s / 312e12));
    // 96 heads, 49152 hidden units and 51200 words divide into 4 rows: nothing is computed beyond the model. Of the
    // scores, with 12s²h FLOP in each layer, flash attention computes (s+1)/(2s) under the causal mask, and 14s²h.
    const double executed = flop - samples * l * s * s * h * (12 - 14 * (s + 1) / (2 * s));
    CHECK(result.hardware_flops.value() == Approx(executed / ranks / time_s / 312e12));
    CHECK(result.flop.value() == Approx(flop));
    CHECK(result.tokens_per_s.value() == Approx(samples * s / time_s));
    CHECK(result.tokens_per_s_per_device.value() == Approx(samples * s / time_s / ranks));
    CHECK(above_peak_note(result, cluster.device) == "");
    // In a hundredth of the time the same FLOP are beyond the peak.
    const Utilisation faster = utilisation_of(lower(cluster, model, plan), time_s / 100);
    REQUIRE(faster.model_flops.value() > 1);
    CHECK(above_peak_note(faster, cluster.device).find("of the peak") != std::string::npos);
}

TEST_CASE("utilisation: rows that pad execute more than the model needs", "[memory]") {
    // 5 channels among 4 rows are 2 each on 3 of them: 6 in place of 5. The first layer needs no gradient of its
    // inputs, so it has 2 passes, and the second has 3.
    Model model;
    model.layers = {channels(1000, 5), channels(10'000, 5)};
    Cluster cluster = star_cluster(8, 1e9, 0);
    cluster.device.flops_per_s = 1e6;
    cluster.device.memory_Bps = 1e9;
    Plan plan;
    plan.ranks = 8;
    plan.batch_per_rank = 6;
    plan.parallelism.layout.rows = 4;
    const double flop = 12 * 2 * (2 * 1000 + 3 * 10'000);
    const Utilisation result = utilisation_of(lower(cluster, model, plan), 10);
    CHECK(result.model_flops.value() == Approx(flop / (8 * 10 * 1e6)));
    CHECK(result.hardware_flops.value() == Approx(flop * 6 / 5 / (8 * 10 * 1e6)));
    CHECK(!result.tokens_per_s);
    CHECK(!result.tokens_per_s_per_device);
}

TEST_CASE("utilisation: it is empty if the peak, the FLOP or the time is unknown", "[memory]") {
    Model model;
    model.layers = {channels(1000, 5)};
    Cluster cluster = star_cluster(1, 1e9, 0);
    const Utilisation no_peak = utilisation_of(lower(cluster, model, Plan{}), 1);
    CHECK(!no_peak.model_flops);
    CHECK(!no_peak.hardware_flops);
    CHECK(no_peak.tflops_per_device.value() == Approx(32 * 2 * 2 * 1000 / 1e12));
    cluster.device.flops_per_s = 1e9;
    CHECK(!utilisation_of(lower(cluster, model, Plan{}), 0).model_flops);
    CHECK(utilisation_of(lower(cluster, model, Plan{}), 0).flop.value() == 32 * 2 * 2 * 1000);
    model.layers[0].macs = 0;
    CHECK(!utilisation_of(lower(cluster, model, Plan{}), 1).flop);
    CHECK(!utilisation_of(lower(cluster, model, Plan{}), 1).tflops_per_device);
}

TEST_CASE("a note says that compute times assume the device's peak", "[memory]") {
    Device device;
    CHECK(
        peak_note(ComputeKind::calibrated, "model", device)
            .starts_with("compute times assume the device's peak: no measurement supports them; nine of ten published "
                         "trainings of language models on A100 and H100 took "));
    CHECK(peak_note(ComputeKind::roofline, "model", device) == peak_note(ComputeKind::calibrated, "model", device));
    device.calibration = {{"another", 4, 1, ""}};
    CHECK(peak_note(ComputeKind::calibrated, "model", device) != "");
    CHECK(peak_note(ComputeKind::calibrated, "another", device) == "");
    CHECK(peak_note(ComputeKind::roofline, "another", device).find("`compute: calibrated`") != std::string::npos);
    device.efficiency = EfficiencyCurve{};
    CHECK(peak_note(ComputeKind::efficiency, "model", device) == "");
    CHECK(peak_note(ComputeKind::calibrated, "model", device).find("`compute: efficiency`") != std::string::npos);
    CHECK(peak_note(ComputeKind::measured, "model", device) == "");
}

TEST_CASE("a note says that compute times rest on rates of kernels", "[memory]") {
    Device device;
    device.kernels.emplace();
    device.efficiency = EfficiencyCurve{};
    const std::string tiles = peak_note(ComputeKind::tables, "model", device);
    CHECK(tiles.find("rate of large matrix products") != std::string::npos);
    CHECK(peak_note(ComputeKind::calibrated, "model", device) == tiles);
    CHECK(tiles.find("; nine of ten published trainings of language models on A100 took ") != std::string::npos);
    CHECK(peak_note(ComputeKind::roofline, "model", device)
              .starts_with(
                  "compute times assume the device's peak: its measurement of kernels (`compute: tables`) is not "
                  "used; nine of ten "));
    device.calibration = {{"model", 4, 1, ""}};
    CHECK(peak_note(ComputeKind::calibrated, "model", device) == "");
    CHECK(peak_note(ComputeKind::tables, "model", device) == tiles);
}
