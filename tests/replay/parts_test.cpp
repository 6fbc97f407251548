#include <algorithm>
#include <filesystem>

#include "sim/analysis/experiment.hpp"
#include "sim/config/scenario.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/native.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/training_worlds.hpp"
#include "tests/sanitized.hpp"

// The parts of an iteration on the rank that finishes last: computing, exposed communication, waiting, idle.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Checks that the parts add up: in every moment without computation or exchange the rank waits for some task.
void check_parts(const Breakdown& time) {
    CHECK(time.compute_s + time.exposed_communication_s + time.waiting_s + time.idle_s ==
          Approx(time.iteration_s).epsilon(1e-9));
    for (const double part : {time.compute_s, time.exposed_communication_s, time.waiting_s}) CHECK(part >= 0);
    CHECK(time.idle_s == 0);
}

/// Draws a cluster with up to four devices per node, and with copies and reductions that take time.
Cluster drawn_cluster(Chance& chance) {
    const double bandwidth_Bps = chance.of<double>({1e8, 1e9, 1e10});
    Cluster cluster = plain_star(bandwidth_Bps, chance.of<double>({0, 2e-6, 1e-4}));
    cluster.node.devices = chance.of<std::int64_t>({1, 1, 2, 4});
    cluster.node.link = {chance.of<double>({4e9, 5e10}), 1e-6};
    cluster.device.host_link_Bps = chance.of<double>({1e6, 1e9, 1e10});
    cluster.device.reduction_Bps = cluster.host.reduction_Bps = chance.of<double>({1e9, 5e10, unlimited});
    cluster.device.speed_beside_exchange = chance.of<double>({1, 1, 0.5});
    return cluster;
}

Model drawn_model(Chance& chance) {
    Model model;
    model.name = "drawn";
    model.sample_elements = chance.of<std::int64_t>({0, 1000, 100'000});
    for (std::uint32_t i = 0, layers = 6 + chance.below(6); i < layers; ++i)
        model.layers.push_back({"layer", chance.below(4) == 0 ? 0 : 4 * (1 + std::int64_t{chance.below(100'000)}),
                                1000 * (1 + std::int64_t{chance.below(1'000'000)}), 12 * 16, 12 * 16});
    return model;
}

/// Draws a plan in which every rank has the whole model.
Plan drawn_replicas(Chance& chance) {
    Plan plan;
    plan.ranks = 1 + chance.below(9);
    plan.exchange = chance.of<ExchangeKind>({ExchangeKind::allreduce, ExchangeKind::parameter_server,
                                             ExchangeKind::parameter_server, ExchangeKind::gossip});
    plan.algorithm.name = chance.of<std::string>({"ring", "reduce-scatter-allgather", "binomial-tree"});
    if (plan.exchange == ExchangeKind::gossip) {
        plan.algorithm = {.operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}};
        plan.algorithm.overlay->shape = Shape::exponential;
        plan.algorithm.overlay->directed = true;
    }
    plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free, Overlap::across_iterations});
    plan.schedule = chance.of<Schedule>({Schedule::fifo, Schedule::priority, Schedule::random});
    plan.fusion.threshold_bytes = chance.of<double>({0, 3e5, 1e6});
    plan.fusion.cycle_s = chance.of<double>({0, 0, 1e-3, 2e-2});
    plan.partition_bytes = chance.of<double>({0, 0, 1e5});
    plan.servers.count = 1 + chance.below(3);
    plan.servers.assignment = chance.of<ServerAssignment>(
        {ServerAssignment::round_robin, ServerAssignment::greedy_bytes, ServerAssignment::sliced});
    plan.servers.pull = chance.of<PullStart>({PullStart::together, PullStart::each});
    plan.servers.local_reduction = chance.below(3) == 0;
    if (plan.ranks >= plan.servers.count)
        plan.servers.location =
            chance.of<ServerLocation>({ServerLocation::dedicated, ServerLocation::spread, ServerLocation::packed});
    return plan;
}

/// Draws a plan in which the model is split.
Plan drawn_split(Chance& chance) {
    Plan plan;
    Parallelism& parallelism = plan.parallelism;
    Pipeline& pipeline = parallelism.pipeline;
    pipeline.stages = 1 + chance.below(3);
    pipeline.schedule = chance.of<PipelineSchedule>(
        {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved});
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    pipeline.virtual_stages = interleaved ? 2 : 1;
    pipeline.micro_batches = interleaved ? pipeline.stages * (1 + chance.below(2)) : 1 + chance.below(4);
    parallelism.layout.rows = chance.of<std::int64_t>({1, 1, 2, 3, 4});
    parallelism.sharding =
        chance.of<Sharding>({Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
    plan.ranks = pipeline.stages * parallelism.layout.rows * (1 + chance.below(3));
    plan.batch_per_rank = pipeline.micro_batches;
    plan.algorithm.name = "ring";
    plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free});
    return plan;
}

struct Messages {
    std::uint64_t least = 0, most = 0;
};

/// Checks all trainings of scenarios/ whose iterations, times their number of replays, have this many messages; returns
/// the number of trainings.
int check_shipped(const Messages& messages) {
    int checked = 0;
    std::vector<std::string> files;
    for (const char* directory : {"", "/lessons", "/published"})
        for (const auto& file :
             std::filesystem::directory_iterator(std::string(SYNCLINE_SOURCE_DIR "/scenarios") + directory))
            if (file.path().extension() == ".yaml") files.push_back(file.path());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
        const config::Scenario scenario = config::load_scenario(file, {}, inspect);
        for (const config::Variant& variant : scenario.variants) {
            if (!variant.is_training()) continue;
            const std::uint32_t iterations = std::max(static_cast<std::uint32_t>(variant.plan.iterations),
                                                      2 * lower(variant.cluster, variant.model, variant.plan).averaged);
            const std::uint64_t count =
                count_messages(build_iteration(lower(variant.cluster, variant.model, variant.plan)), iterations);
            if (count < messages.least || count >= messages.most) continue;
            CAPTURE(file, variant.name, count);
            check_parts(replay_iteration(lower(variant.cluster, variant.model, variant.plan)).time);
            ++checked;
        }
    }
    return checked;
}

// Under sanitizers a simulation takes ten times as long.
#if defined(SYNCLINE_SANITIZED)
constexpr std::uint64_t few_messages = 500, random_plans = 40;
constexpr int few_scenarios = 3;
#else
constexpr std::uint64_t few_messages = 5'000, random_plans = 300;
constexpr int few_scenarios = 10;
#endif

}  // namespace

TEST_CASE("parts: a rank on the servers' node waits for the pushes and pulls of other ranks", "[memory]") {
    // Two nodes of four devices, both servers on the first. The other node's four ranks push 100 MB each over 1 GB/s,
    // then pull the same amount: 400 ms each way. A rank on the servers' node exchanges with them in no time.
    Cluster cluster = plain_star(1e9, 0);
    cluster.nodes = 2;
    cluster.node.devices = 4;
    cluster.node.link = {unlimited, 0};
    Model model;
    model.layers = {layer_of(100'000'000, 100)};
    Plan plan;
    plan.ranks = 8;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.exchange = ExchangeKind::parameter_server;
    plan.servers.assignment = ServerAssignment::sliced;
    plan.servers.count = 2;
    plan.servers.location = ServerLocation::packed;
    const Breakdown time = simulate(lower(cluster, model, plan)).time;
    CHECK(time.iteration_s == Approx(0.8002).epsilon(1e-9));
    CHECK(time.compute_s == Approx(200e-6).epsilon(1e-9));
    CHECK(time.exposed_communication_s == 0);
    CHECK(time.waiting_s == Approx(0.8).epsilon(1e-9));
    check_parts(time);
}

TEST_CASE("parts: waiting has the expected causes: a cycle, a copy, a server's reduction, another stage", "[memory]") {
    Model model;
    model.layers = {layer_of(1'000'000, 1000)};
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    Cluster cluster = plain_star(1e9, 0);
    cluster.nodes = 8;

    // The gradient is ready after 2 ms, and leaves at 5.
    Plan cycled = plan;
    cycled.fusion = {.threshold_bytes = 1e9, .cycle_s = 5e-3};
    CHECK(simulate(lower(cluster, model, cycled)).time.waiting_s == Approx(3e-3));

    // 1 MB is copied at 1 GB/s before each iteration.
    Plan copied = plan;
    copied.input_copy = InputCopy::blocking;
    model.sample_elements = 250'000;
    cluster.device.host_link_Bps = 1e9;
    CHECK(simulate(lower(cluster, model, copied)).time.waiting_s == Approx(1e-3));

    // A server adds up 1 MB from both at 0.5 GB/s.
    Plan served = plan;
    served.exchange = ExchangeKind::parameter_server;
    cluster.host.reduction_Bps = 5e8;
    CHECK(simulate(lower(cluster, model, served)).time.waiting_s == Approx(4e-3));

    // Two stages of a layer each, one microbatch: a stage waits while the other one computes, 2 ms (the first stage
    // has no gradient of its inputs) or 3. Very little is sent.
    Plan staged = plan;
    staged.parallelism.pipeline.stages = 2;
    model.layers.push_back(layer_of(1'000'000, 1000));
    const Breakdown time = simulate(lower(cluster, model, staged)).time;
    CHECK(time.iteration_s == Approx(5e-3));
    CHECK(time.waiting_s + time.compute_s == Approx(5e-3));
    CHECK(time.waiting_s / time.iteration_s == Approx(time.compute_s < 2.5e-3 ? 0.6 : 0.4));
}

TEST_CASE("parts: they add up to the iteration in 300 random plans") {
    int waiting = 0;
    for (std::uint64_t round = 0; round < random_plans; ++round) {
        Chance chance(round);
        Plan plan = round % 2 == 0 ? drawn_replicas(chance) : drawn_split(chance);
        if (round % 2 == 0) plan.batch_per_rank = 1 + chance.below(2);
        plan.iterations = 1 + chance.below(3);
        plan.input_copy = chance.of<InputCopy>({InputCopy::none, InputCopy::overlapped, InputCopy::blocking});
        plan.noise.jitter = chance.of<double>({0, 0, 0.2});
        plan.noise.stragglers = {.count = chance.below(2), .ranks = {}, .slowdown = 1.5};
        plan.fidelity = chance.of<Fidelity>({Fidelity::message, Fidelity::folded});
        const Cluster cluster = drawn_cluster(chance);
        const Model model = drawn_model(chance);
        CAPTURE(round, plan.ranks, static_cast<int>(plan.exchange), static_cast<int>(plan.overlap));
        const Breakdown time = replay_iteration(lower(cluster, model, plan)).time;
        check_parts(time);
        waiting += time.waiting_s > 0.01 * time.iteration_s;
    }
    CHECK(waiting > static_cast<int>(random_plans / 5));
}

TEST_CASE("parts: they add up to the iteration in shipped scenarios with few messages") {
    CHECK(check_shipped({0, few_messages}) > few_scenarios);
}

TEST_CASE("parts: they add up to the iteration in all other shipped scenarios", "[.][slow]") {
    CHECK(check_shipped({few_messages, ~std::uint64_t{0}}) > 10);
}
