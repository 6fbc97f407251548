#include "sim/lowering/offload.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/feasibility.hpp"
#include "sim/lowering/optimizer_step.hpp"
#include "tests/catch.hpp"

// State of the training in the host's memory, against the tables of J. Ren et al., "ZeRO-Offload: democratizing
// billion-scale model training", USENIX ATC 2021 (arXiv 2101.06840).

using namespace syncline;

namespace {

constexpr double link_Bps = 12e9, host_Bps = 1e11;

Cluster cluster_of(std::int64_t nodes) {
    Cluster cluster = star_cluster(nodes, 1e9, 1e-6);
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e12;
    cluster.device.host_link_Bps = link_Bps;
    cluster.host.memory_Bps = host_Bps;
    return cluster;
}

Cluster shipped(const std::string& name) {
    config::Library library;
    config::Node node = library.load_argument(SYNCLINE_SOURCE_DIR "/platforms/" + name + ".yaml");
    library.expand(*node.find("device"));
    Cluster cluster;
    std::vector<Diagnostic> errors;
    config::read(
        node, "platform", [&](config::Fields& fields) { describe(fields, cluster); }, errors);
    REQUIRE(errors.empty());
    return cluster;
}

/// Layers with these parameters, in 16 bits, which keep almost nothing for their backward pass.
Model layers_of(const std::vector<std::int64_t>& parameters) {
    Model model;
    model.name = "layers";
    model.element_bytes = 2;
    for (const std::int64_t one : parameters) model.layers.push_back({"layer", one, 1, 1, 1});
    return model;
}

Plan plan_of(std::int64_t ranks, Offload offload, Sharding sharding = Sharding::none) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.optimizer = Optimizer::adam;
    plan.offload = offload;
    plan.compute = ComputeKind::roofline;
    plan.parallelism.sharding = sharding;
    return plan;
}

Memory memory_with(const Model& model, const Plan& plan) {
    return memory_of(lower(cluster_of(plan.ranks), model, plan));
}

double state_bytes(const Memory& memory) {
    return memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes;
}

/// GPT-2 of ZeRO-Offload's table 3: n layers of width h, sequences of 1024, here with 50,257 tokens and 32 heads, as in
/// DeepSpeed's tutorial of ZeRO-Offload (docs/_tutorials/zero-offload.md) with 50 layers of 4096.
Model gpt2(std::int64_t layers, std::int64_t h) {
    constexpr std::int64_t s = 1024, vocabulary = 50257;
    Model model;
    model.name = "gpt2";
    model.element_bytes = 2;
    model.layers.push_back({"embedding", (vocabulary + s) * h, 0, s, s * h, Embedding{vocabulary, s, h}});
    const Attention attention{.positions = s, .width = h, .heads = 32, .scores = Scores::stored};
    for (std::int64_t i = 0; i < layers; ++i) {
        model.layers.push_back({"attention", 4 * h * h + 6 * h, s * 4 * h * h, s * h, s * h, attention});
        model.layers.push_back(
            {"feed-forward", 8 * h * h + 7 * h, s * 8 * h * h, s * h, s * h, FeedForward{s, h, 4 * h}});
    }
    return model;
}

Complaints complaints_of(const Cluster& cluster, Plan plan) {
    const Complaints alone = settle(plan, {});
    return alone.empty() ? judge(cluster, layers_of({1000, 1000}), plan).complaints : alone;
}

}  // namespace

TEST_CASE("offload: model states of M parameters on the device, as in ZeRO-Offload's table 1", "[memory]") {
    // Parameters in several layers, of which the largest has 1 % of them.
    const Model model = layers_of(std::vector<std::int64_t>(100, 100'000));
    const double M = 1e7;
    CHECK(state_bytes(memory_with(model, plan_of(1, Offload::none))) == 16 * M);
    CHECK(state_bytes(memory_with(model, plan_of(1, Offload::optimizer))) == 4 * M);
    // 2M, and the gradients of a layer until they are copied.
    CHECK(state_bytes(memory_with(model, plan_of(1, Offload::gradients))) == 2 * M + 2 * M / 100);
    CHECK_FALSE(memory_with(model, plan_of(1, Offload::none)).host_bytes);
    for (const Offload offload : {Offload::optimizer, Offload::gradients})
        // 12M of master weights and moments, and 2M each of gradients and of weights that are copied.
        CHECK(memory_with(model, plan_of(1, offload)).host_bytes == 16 * M);
}

TEST_CASE("offload: each of N ranks keeps its shard in the host's memory", "[memory]") {
    const Model model = layers_of(std::vector<std::int64_t>(10, 60'000));
    const double M = 6e5, largest = 6e4;
    for (const std::int64_t N : {2, 3, 5, 6}) {
        CAPTURE(N);
        const double n = static_cast<double>(N);
        for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients})
            CHECK(memory_with(model, plan_of(N, Offload::optimizer, sharding)).host_bytes == 16 * M / n);
        CHECK(memory_with(model, plan_of(N, Offload::gradients)).host_bytes == 16 * M);
        // ZeRO-2: the gradients of one layer are whole until they are reduced.
        const Memory zero2 = memory_with(model, plan_of(N, Offload::optimizer, Sharding::gradients));
        CHECK(state_bytes(zero2) == Approx(2 * M + 2 * M / n + 2 * largest * (1 - 1 / n)));
        const Memory offloaded = memory_with(model, plan_of(N, Offload::gradients, Sharding::gradients));
        CHECK(state_bytes(offloaded) == 2 * M + 2 * largest);
    }
}

TEST_CASE("offload: uniform weights of 4 bytes are copied, and the host has its own", "[memory]") {
    Model model = layers_of({1000, 3000});
    model.element_bytes = 4;
    const Memory memory = memory_with(model, plan_of(1, Offload::optimizer));
    CHECK(memory.optimizer_bytes == 0);
    CHECK(memory.weights_bytes == 4 * 4000);
    CHECK(memory.host_bytes == (4 + 4 + 4 + 4) * 4000.0);  // weights, two moments, gradients
}

TEST_CASE("offload: ZeRO-Offload's models fit into a V100 of 32 GB, and only with gradients on the host", "[memory]") {
    const Cluster cluster = shipped("dgx2");
    // Layers and microbatches of width 4096: 10 billion parameters (DeepSpeed's tutorial), and 13 billion, the largest
    // that fits (section 6.2.1, table 3). Activations are recomputed.
    for (const auto& [layers, batch] : {std::pair{50, 10}, std::pair{65, 4}}) {
        const auto fits = [&, layers = layers, batch = batch](Offload offload) {
            Plan plan = plan_of(1, offload);
            plan.batch_per_rank = batch;
            plan.recomputation = Recomputation::full;
            Cluster one = cluster;
            one.nodes = 1;
            const Memory memory = memory_of(lower(one, gpt2(layers, 4096), plan));
            CAPTURE(memory.total_bytes());
            return memory.fits();
        };
        CAPTURE(layers);
        CHECK_FALSE(fits(Offload::none));
        CHECK_FALSE(fits(Offload::optimizer));
        CHECK(fits(Offload::gradients));
    }
}

TEST_CASE("offload: bytes of a weight by hand", "[memory]") {
    Model model;
    model.precision = Precision::mixed();  // gradients and weights of 2 B, master and moments of 4 B
    Plan plan;
    plan.optimizer = Optimizer::adam;
    plan.offload = Offload::optimizer;
    const StepBytes optimizer = step_bytes(plan, model);
    CHECK(optimizer.clipping == 6);  // read for the norm, read and written by clipping
    CHECK(optimizer.to_host == 2);
    CHECK(optimizer.host == 2 + 24 + 2);
    CHECK(optimizer.to_device == 2);
    plan.offload = Offload::gradients;
    const StepBytes gradients = step_bytes(plan, model);
    CHECK(gradients.clipping == 0);
    CHECK(gradients.update == 0);
    CHECK(gradients.to_host == 0);
    CHECK(gradients.host == 6 + 2 + 24 + 2);
    CHECK(gradients.to_device == 2);
    plan.offload = Offload::optimizer;
    model.precision.gradients = 4;  // Megatron-LM's main gradients
    CHECK(step_bytes(plan, model).to_host == 4);
    plan.clipping = false;
    CHECK(step_bytes(plan, model).clipping == 0);
}

TEST_CASE("offload: CPU-Adam's times of ZeRO-Offload's table 4", "[memory]") {
    // Billions of parameters and seconds of CPU-Adam on a DGX-2. The platform's memory bandwidth is that of the first
    // row; the others are predicted. None takes less than the bytes that the step moves.
    Cluster cluster = shipped("dgx2");
    cluster.nodes = 1;
    const auto predicted_s = [&](std::int64_t billions) {
        const Model model = layers_of(std::vector<std::int64_t>(static_cast<std::size_t>(billions), 1'000'000'000));
        return lower(cluster, model, plan_of(1, Offload::optimizer)).steps.at(0).host_s;
    };
    CHECK(predicted_s(1) == Approx(0.22).epsilon(0.01));
    for (const auto& [billions, seconds, most] : {std::tuple{2, 0.51, 0.15}, std::tuple{4, 1.03, 0.15},
                                                  std::tuple{8, 2.41, 0.28}, std::tuple{10, 2.57, 0.15}}) {
        CAPTURE(billions);
        CHECK(predicted_s(billions) < seconds);
        CHECK(predicted_s(billions) > seconds * (1 - most));
    }
}

TEST_CASE("offload: the ranks of a node share its memory, and a copy takes no more than its share", "[memory]") {
    const Model model = layers_of({5'000'000, 1'000'000});
    Plan plan = plan_of(4, Offload::optimizer);
    Cluster cluster = cluster_of(4);
    const StepTime apart = lower(cluster, model, plan).steps.at(0);
    CHECK(apart.device_s == 0);  // a roofline has no step
    CHECK(apart.to_host_s == Approx(6e6 * 2 / link_Bps));
    CHECK(apart.host_s == Approx(6e6 * 28 / host_Bps));
    CHECK(apart.to_device_s == Approx(6e6 * 2 / link_Bps));
    cluster.nodes = 1;
    cluster.node.devices = 4;
    cluster.node.link = {1e10, 1e-6};
    const StepTime together = lower(cluster, model, plan).steps.at(0);
    CHECK(together.host_s == Approx(4 * apart.host_s));
    CHECK(together.to_host_s == Approx(apart.to_host_s));
    cluster.host.memory_Bps = 4e9;  // 1 GB/s for each
    CHECK(lower(cluster, model, plan).steps.at(0).to_host_s == Approx(6e6 * 2 / 1e9));
    plan.parallelism.sharding = Sharding::optimizer;
    CHECK(lower(cluster, model, plan).steps.at(0).host_s == Approx(6e6 * 28 / 1e9 / 4));
}

TEST_CASE("offload: layers without parameters are copied by nobody", "[memory]") {
    const Model model = layers_of({0, 0, 0});
    const Lowered training = lower(cluster_of(1), model, plan_of(1, Offload::gradients));
    CHECK(offloaded_gradients(training, 0).empty());
    CHECK(training.steps.at(0).total_s() == 0);
    CHECK(memory_of(training).host_bytes == 0);
}

TEST_CASE("offload: a cluster without the bandwidths of its hosts is refused, with the key to write", "[memory]") {
    Cluster cluster = cluster_of(2);
    CHECK(complaints_of(cluster, plan_of(2, Offload::optimizer)).empty());
    CHECK(complaints_of(cluster, plan_of(2, Offload::gradients)).empty());
    cluster.device.name = "gpu";
    cluster.device.host_link_Bps = unlimited;
    cluster.host.memory_Bps = unlimited;
    const Complaints both = complaints_of(cluster, plan_of(2, Offload::optimizer));
    REQUIRE(both.size() == 2);
    CHECK(both[0].key == "offload");
    CHECK(both[0].message == "device 'gpu' does not give the bandwidth of its link to the host");
    CHECK(both[0].hint.find("platform.device.host_link") != std::string::npos);
    CHECK(both[1].key == "offload");
    CHECK(both[1].message == "platform 'cluster' does not give the bandwidth of the memory of its nodes");
    CHECK(both[1].hint.find("platform.host.memory_bandwidth") != std::string::npos);
    CHECK(complaints_of(cluster, plan_of(2, Offload::none)).empty());
}

TEST_CASE("offload: plans that cannot keep state on the host are refused", "[memory]") {
    const auto only = [](const Plan& plan) {
        const Complaints found = complaints_of(cluster_of(2), plan);
        REQUIRE(found.size() == 1);
        CHECK_FALSE(found[0].hint.empty());
        return std::pair{found[0].key, found[0].message};
    };
    Plan served = plan_of(2, Offload::optimizer);
    served.exchange = ExchangeKind::parameter_server;
    served.servers.location = ServerLocation::spread;
    CHECK(only(served).second.find("servers keep the optimizer's state") == 0);
    Plan across = plan_of(2, Offload::optimizer);
    across.overlap = Overlap::across_iterations;
    CHECK(only(across).first == "overlap");
    Plan batches = plan_of(2, Offload::gradients);
    batches.batch_per_rank = 4;
    batches.parallelism.pipeline.micro_batches = 4;
    CHECK(only(batches).second == "gradients of 4 microbatches are added up on the device before they leave it");
    batches.offload = Offload::optimizer;
    CHECK(complaints_of(cluster_of(2), batches).empty());
    Plan compressed = plan_of(2, Offload::gradients);
    compressed.compression.kind = Compression::Kind::powersgd;
    const Complaints found = complaints_of(cluster_of(2), compressed);
    CHECK(std::ranges::any_of(
        found, [](const Complaint& one) { return one.message.find("are decoded") != std::string::npos; }));
    // Nothing to keep: no master copy and no moments.
    Plan plain = plan_of(2, Offload::optimizer);
    plain.optimizer = Optimizer::sgd;
    CHECK(complaints_of(cluster_of(2), plain).empty());  // weights of 2 bytes have a master copy
    plain.precision.master = 0;
    CHECK(only(plain).second.find("'sgd' without a master copy") == 0);
}
