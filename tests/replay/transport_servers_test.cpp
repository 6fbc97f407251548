#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// Costs that a transport adds to pushes and pulls, by hand: receivers of pulls are busy too, and devices make one copy
// at a time.

using namespace syncline;
using namespace syncline::test;

namespace {

constexpr double alpha_s = 2e-6;

/// Links of 1 GB/s; servers reduce 20 GB/s.
Cluster star() {
    Cluster cluster = plain_star(1e9, alpha_s);
    cluster.host.reduction_Bps = 2e10;
    return cluster;
}

/// Returns the time of 1 ms forward, 1 ms backward, two pushes and two pulls of 1 MB over the server's link, and its
/// reduction of 2 MB.
double iteration_s(const Transport& transport) {
    Cluster cluster = star();
    cluster.transport = transport;
    Model model;
    model.layers = {layer_of(1'000'000, 1000)};
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.exchange = ExchangeKind::parameter_server;
    return simulate(lower(cluster, model, plan)).time.iteration_s;
}

constexpr double way_s = alpha_s + 2e6 / 1e9;
constexpr double on_wires_s = 2e-3 + way_s + 2e6 / 2e10 + way_s;

double completion_s(const std::string& operation, std::int64_t servers) {
    Cluster cluster = star();
    cluster.transport.staging = {Staging::Unit::message, 1e8, 11e-6};
    CollectivePlan plan;
    plan.ranks = 2;
    plan.algorithm = {.operation = operation, .name = served_allreduce};
    plan.servers = servers;
    plan.bytes = 4'000'000;
    return simulate_collective(cluster, plan).completion_time_s;
}

Approx about(double seconds) {
    return Approx(seconds).epsilon(1e-9);
}

}  // namespace

TEST_CASE("servers: an iteration has the receive overheads of the server's pushes and of each worker's own pull",
          "[memory]") {
    CHECK(iteration_s({}) == about(on_wires_s));
    for (const double overhead_s : {1e-6, 100e-6, 10e-3}) {
        CAPTURE(overhead_s);
        Transport transport;
        transport.between.receive_overhead_s = overhead_s;
        CHECK(iteration_s(transport) == about(on_wires_s + 2 * overhead_s + overhead_s));
    }
}

TEST_CASE("servers: an iteration has a copy out of the device at the push and one into it at the pull", "[memory]") {
    Transport transport;
    transport.staging = {Staging::Unit::message, 4e9, 11e-6};
    const double copy_s = 11e-6 + 1e6 / 4e9;  // copies of the two workers are concurrent; the server makes none
    CHECK(iteration_s(transport) == about(on_wires_s + copy_s + copy_s));
    transport.between.receive_overhead_s = 100e-6;
    CHECK(iteration_s(transport) == about(on_wires_s + copy_s + 200e-6 + 100e-6 + copy_s));
}

TEST_CASE("servers: more of them do not speed up the copies of one device", "[memory]") {
    // 4 MB are copied in 40 ms and take 8 ms over the link of one server, which reduces for 0.4 ms.
    CHECK(completion_s("push", 1) == about(11e-6 + 40e-3 + alpha_s + 8e-3 + 0.4e-3));
    CHECK(completion_s("pull", 1) == about(alpha_s + 8e-3 + 11e-6 + 40e-3));
    // Quarters leave the device 10 ms apart, each in 2 ms over its own server's link: the last copy and its transfer
    // count.
    CHECK(completion_s("push", 4) == about(4 * 11e-6 + 40e-3 + alpha_s + 2e-3 + 0.1e-3));
    // Four servers saturate the links of both ranks for 4 ms, and all quarters arrive together.
    CHECK(completion_s("pull", 4) == about(alpha_s + 4e-3 + 4 * 11e-6 + 40e-3));
}
