#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Tests `syncline workload`, and the key `compute` of scenarios. Mistakes are in tests/cases/verb_workload.cases.

using namespace syncline::test;
using nlohmann::json;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Outcome ask(const fs::path& directory, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "workload");
    return run_program({.arguments = std::move(arguments), .directory = directory});
}

/// Runs in the repository's root, where workloads and devices have bare names.
json answered(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = ask(SYNCLINE_SOURCE_DIR, arguments);
    CAPTURE(arguments, outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    return json::parse(outcome.out);
}

void check_refused(const Outcome& outcome, const std::string& place, const std::string& message,
                   const std::string& hint = "") {
    CAPTURE(outcome.err, place, message, hint);
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    CHECK(holds(outcome.err, place + ": error: "));
    CHECK(holds(outcome.err, message));
    CHECK(holds(outcome.err, hint));
    CHECK(holds(outcome.err, "^\n"));
}

std::set<std::string> keys(const json& object) {
    std::set<std::string> result;
    for (const auto& [key, value] : object.items()) result.insert(key);
    return result;
}

/// Two layers, and a device with data for every compute model.
struct Small : TempDir {
    Small() {
        write("small.yaml",
              "name: small\ninput: [1, 1, 1]\nlayers:\n"
              "  - {name: first, kind: dense, inputs: 1000, outputs: 1000}\n"
              "  - {name: second, kind: dense, inputs: 1000, outputs: 10}\n");
        write("device.yaml", device);
        write("scenario.yaml",
              "platform: {device: device.yaml, fabric: {bandwidth: 8 Gbps, latency: 1 us}}\n"
              "workload: small.yaml\n"
              "training: {ranks: 2, batch_per_rank: 4}\n");
    }

    const std::string device =
        "name: machine\nflops: 1 Tflops\nmemory_bandwidth: 1000 GBps\n"
        "efficiency: {over: batch, points: [{at: 1, part: 0.1}, {at: 10, part: 0.5}], source: chosen}\n"
        "layer_times:\n"
        "  small: {batch: 10, source: chosen, layers: {first: {forward: 1 ms, backward: 2 ms}, second: {forward: 3 ms, "
        "backward: 4 ms}}}\n";
};

}  // namespace

TEST_CASE("workload: JSON is one object with the documented fields", "[memory]") {
    const json table = answered({"alexnet-nogroup", "--device", "p100-sxm2", "--batch", "64", "--compute", "im2col"});
    CHECK(keys(table) == std::set<std::string>{"schema_version", "workload", "device", "compute", "batch", "layers",
                                               "total", "notes"});
    CHECK(table["schema_version"] == 1);
    CHECK(table["workload"] == "alexnet-nogroup");
    CHECK(table["device"] == "p100-sxm2");
    CHECK(table["compute"] == "im2col");
    CHECK(table["batch"] == 64);
    CHECK(table["notes"][0].get<std::string>().find("assume the device's peak") != std::string::npos);
    REQUIRE(table["layers"].size() == 8);
    const std::set<std::string> fields{"parameters",      "macs",           "activation_bytes", "forward_time_s",
                                       "backward_time_s", "memory_stall_s", "host_bound_s",     "bound"};
    CHECK(keys(table["total"]) == fields);
    std::set<std::string> layer_fields = fields;
    layer_fields.insert("layer");
    double forward_s = 0, backward_s = 0, stall_s = 0;
    for (const json& layer : table["layers"]) {
        CHECK(keys(layer) == layer_fields);
        CHECK(std::set<std::string>{"compute", "memory", "latency"}.count(layer["bound"]) == 1);
        forward_s += layer["forward_time_s"].get<double>();
        backward_s += layer["backward_time_s"].get<double>();
        stall_s += layer["memory_stall_s"].get<double>();
    }
    const json& first = table["layers"][0];
    CHECK(first["layer"] == "conv1");
    CHECK(first["parameters"] == 34'944);
    CHECK(first["macs"] == 96 * 363 * 55 * 55);
    CHECK(first["activation_bytes"] == 64 * 96 * 55 * 55 * 4);
    // im2col of 363 × 64·55·55 elements of 4 bytes at 732 GB/s, then 2·96·363·64·55·55 FLOP at 10.6 TFLOP/s.
    const double copy_s = 363.0 * 64 * 55 * 55 * 4 / 732e9, compute_s = 2.0 * 96 * 363 * 64 * 55 * 55 / 10.6e12;
    CHECK(first["forward_time_s"].get<double>() == Approx(copy_s + compute_s).epsilon(1e-12));
    CHECK(first["backward_time_s"].get<double>() == Approx(compute_s).epsilon(1e-12));
    CHECK(first["memory_stall_s"].get<double>() == Approx(copy_s).epsilon(1e-12));
    CHECK(table["total"]["parameters"] == 62'378'344);
    CHECK(table["total"]["forward_time_s"].get<double>() == Approx(forward_s));
    CHECK(table["total"]["backward_time_s"].get<double>() == Approx(backward_s));
    CHECK(table["total"]["memory_stall_s"].get<double>() == Approx(stall_s));
}

TEST_CASE("workload: the default compute model is the calibration", "[memory]") {
    const json total = answered({"resnet-50", "--device", "p100-sxm2", "--batch", "64"})["total"];
    CHECK(total["forward_time_s"].get<double>() + total["backward_time_s"].get<double>() == Approx(64.0 / 219));
    // Without a measurement it is the roofline, and is named so.
    json plain = answered({"resnet-50", "--device", "a100-sxm4", "--batch", "64"});
    CHECK(plain["compute"] == "roofline");
    CHECK(plain == answered({"resnet-50", "--device", "a100-sxm4", "--batch", "64", "--compute", "roofline"}));
}

TEST_CASE("workload: it writes a table, CSV and files", "[memory]") {
    const TempDir directory;
    const std::string folder = (directory / "results").string();
    const Outcome table =
        ask(SYNCLINE_SOURCE_DIR, {"vgg-16", "--device", "a100-sxm4", "--batch", "32", "--out", folder});
    CAPTURE(table.out, table.err);
    REQUIRE(table.status == 0);
    CHECK(holds(table.out, "vgg-16 on a100-sxm4: batch 32, roofline\n"));
    CHECK(holds(table.out, "138,357,544"));
    CHECK(holds(table.out, "\ntotal "));
    CHECK(read_file(directory / "results/workload.txt") == table.out);
    CHECK(json::parse(read_file(directory / "results/workload.json"))["layers"].size() == 16);
    const Outcome csv =
        ask(SYNCLINE_SOURCE_DIR, {"vgg-16", "--device", "a100-sxm4", "--batch", "32", "--format", "csv"});
    CHECK(csv.out == read_file(directory / "results/workload.csv"));
    CHECK(csv.out.rfind("workload,device,compute,batch,layer,parameters,macs,activation_bytes,forward_time_s,", 0) ==
          0);
    CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 17);
}

TEST_CASE("workload: each compute model works on a small network", "[memory]") {
    const Small small;
    const auto layers = [&](const std::string& compute) {
        const Outcome outcome = ask(small.path(), {"small.yaml", "--device", "device.yaml", "--batch", "5", "--compute",
                                                   compute, "--format", "json"});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["layers"];
    };
    // The first layer: 1e7 FLOP at 1 TFLOP/s, 1.01e6 elements of 4 bytes at 1 TB/s.
    CHECK(layers("roofline")[0]["forward_time_s"].get<double>() == Approx(1e-5));
    CHECK(layers("calibrated")[0]["forward_time_s"].get<double>() == Approx(1e-5));
    CHECK(layers("im2col")[0]["forward_time_s"].get<double>() == Approx(1e-5));
    // 5 is lg 5 of the way from 1 to 10 in logarithms: 0.1·5^lg 5.
    const double part = 0.1 * std::pow(5.0, std::log10(5.0));
    CHECK(layers("efficiency")[0]["forward_time_s"].get<double>() == Approx(1e-5 / part));
    const json measured = layers("measured");
    CHECK(measured[0]["forward_time_s"].get<double>() == Approx(0.5e-3));
    CHECK(measured[1]["backward_time_s"].get<double>() == Approx(2e-3));
    CHECK(measured[0]["bound"].is_null());
    CHECK(measured[0]["memory_stall_s"].is_null());
}

TEST_CASE("scenarios choose a compute model by the key `compute`", "[memory]") {
    const Small small;
    const auto check = [&](const std::string& compute) {
        small.write("scenario.yaml",
                    "platform: {device: device.yaml, fabric: {bandwidth: 8 Gbps, latency: 1 us}}\n"
                    "workload: small.yaml\n"
                    "training: {ranks: 2, compute: " +
                        compute + "}\n");
        return run_in(small, {"check", "scenario.yaml"});
    };
    for (const char* compute : {"calibrated", "roofline", "im2col", "efficiency", "measured"}) {
        const Outcome outcome = check(compute);
        CAPTURE(compute, outcome.err);
        CHECK(outcome.status == 0);
    }
    check_refused(check("rooflin"), "scenario.yaml:3:31", "'compute'", "did you mean 'roofline'?");
    small.write("device.yaml", "name: machine\nflops: 1 Tflops\nmemory_bandwidth: 1 GBps\n");
    check_refused(check("measured"), "scenario.yaml:3:31", "device 'machine' has no layer times for 'small'");
    check_refused(check("efficiency"), "scenario.yaml:3:31", "device 'machine' has no 'efficiency'");
}

// A grid of two sizes in which every product reaches 0.5 Tflops: 2·128·128·64 FLOP take 4.194304 us. The device's bytes
// and peak would take less.
TEST_CASE("workload: a device with measured products uses them by default, and errors show their place", "[memory]") {
    const TempDir directory;
    directory.write("small.yaml",
                    "name: small\ninput: [1, 1, 1]\nlayers: [{name: first, kind: dense, inputs: 128, outputs: 128}]\n");
    const auto device = [&](const std::string& kernels) {
        directory.write("devices/device.yaml",
                        "name: machine\nflops: 1 Tflops\nmemory_bandwidth: 1000 GBps\nmultiprocessors: 4\n"
                        "kernels: {product_rate: 0.6 Tflops, memory_bandwidth: 900 GBps, source: chosen" +
                            kernels + "}\n");
    };
    std::string rows = "batch,m,n,k,tflops\n";
    for (const char* m : {"64", "128"})
        for (const char* n : {"64", "128"})
            for (const char* k : {"64", "128"}) rows += std::string("1,") + m + "," + n + "," + k + ",0.5\n";
    directory.write("devices/products.csv", rows);
    device(", products: products.csv");
    const auto asked = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"small.yaml", "--device", "devices/device.yaml", "--batch", "64"});
        return ask(directory.path(), more);
    };
    const Outcome outcome = asked({"--format", "json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json table = json::parse(outcome.out);
    CHECK(table["compute"] == "tables");
    CHECK(holds(table["notes"][0], "table of measured matrix products"));
    CHECK(table["layers"][0]["forward_time_s"].get<double>() == Approx(4.194304e-6).epsilon(1e-9));
    CHECK(table["layers"][0]["backward_time_s"].get<double>() == Approx(4.194304e-6).epsilon(1e-9));
    CHECK(json::parse(asked({"--compute", "tables", "--format", "json"}).out) == table);
    CHECK(json::parse(asked({"--compute", "roofline", "--format", "json"}).out)["compute"] == "roofline");

    directory.write("devices/products.csv", rows.substr(0, rows.rfind("1,128")));
    const std::string incomplete = asked({}).err;
    CHECK(holds(incomplete,
                "devices/products.csv:1:1: error: the product m = 128, n = 128, k = 128, batch 1 is missing"));
    directory.write("devices/products.csv", rows + "1,2,3\n");
    check_refused(asked({}), "devices/products.csv:10:1", "not a row of five numbers");
    device(", products: other.csv");
    check_refused(asked({}), "devices/device.yaml:5:91", "other.csv");
    directory.write("devices/device.yaml", "name: machine\nflops: 1 Tflops\nmemory_bandwidth: 1000 GBps\n");
    check_refused(asked({"--compute", "tables"}), "--compute:1:11", "device 'machine' has no 'kernels'");
}
