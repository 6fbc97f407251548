#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>

#include <array>

#include "sim/analysis/energy.hpp"
#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// Energy of devices, hosts, switches and ports: by hand, and by SimGrid's plugin for the energy of hosts.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Returns what SimGrid's plugin says of a host that works for each of these times on one of its cores, and then does
/// nothing for the rest of `seconds`.
double simgrid_host_J(const char* watts, int cores, double seconds, const std::vector<double>& works_s) {
    namespace sg4 = simgrid::s4u;
    std::array<char, 9> name{"syncline"};
    std::array<char*, 2> arguments{name.data(), nullptr};
    int count = 1;
    sg4::Engine engine(&count, arguments.data());
    sg_host_energy_plugin_init();
    auto* const zone = sg4::create_full_zone("zone");
    sg4::Host* const host = zone->create_host("host", 1e9)->set_core_count(cores);
    host->set_property("wattage_per_state", watts);
    zone->seal();
    sg4::Actor::create("worker", host, [&] {
        for (const double work_s : works_s) sg4::this_actor::execute(1e9 * work_s);
        sg4::this_actor::sleep_until(seconds);
    });
    engine.run();
    return sg_host_get_consumed_energy(host);
}

Model two_layers() {
    Model model;
    model.layers = {layer_of(2'000'000, 1000), layer_of(1'000'000, 1000)};
    return model;
}

Plan plan_of(std::int64_t ranks) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    return plan;
}

Cluster metered_star() {
    Cluster cluster = plain_star(1e9, 2e-6);
    cluster.host.reduction_Bps = 2e10;
    cluster.device.power = DevicePower{{100, 300}, 150};
    cluster.host.power = Power{50, 80};
    cluster.fabric.switch_power = FabricPower{{10, 40}, {}};
    cluster.fabric.port_power = FabricPower{{1, 3}, {}};
    return cluster;
}

}  // namespace

TEST_CASE("energy: ten seconds of idling and ten of work on one of four cores, as in SimGrid") {
    // Idle 100 W; one core of four: 120 W and a quarter of the 80 W to 200 W. 1,000 J and 1,400 J.
    CHECK(Power{100, 140}.energy_J(20, 10) == 2400);
    CHECK(simgrid_host_J("100:120:200", 4, 20, {10}) == Approx(2400).epsilon(1e-9));
}

TEST_CASE("energy: a parameter server's host takes what SimGrid's plugin says") {
    Plan plan = plan_of(2);
    plan.exchange = ExchangeKind::parameter_server;
    plan.servers.count = 1;
    plan.servers.pull = PullStart::together;
    const Result result = simulate(lower(metered_star(), two_layers(), plan));
    REQUIRE(result.energy);
    // Two ranks' 1 MB and 2 MB are added at 20 GB/s, two operands each: 0.1 and 0.2 ms.
    REQUIRE(result.time.activity);
    CHECK(result.time.activity->host_s == Approx(0.3e-3).epsilon(1e-9));
    const double time_s = result.time.iteration_s;
    // The hosts of both ranks, and the server's own.
    const double working_J = simgrid_host_J("50:80", 1, time_s, {0.1e-3, 0.2e-3});
    CHECK(*result.energy->hosts_J == Approx(2 * 50 * time_s + working_J).epsilon(1e-9));
}

TEST_CASE("energy: a device takes what SimGrid's plugin says of a host that works as long", "[memory]") {
    Cluster cluster = metered_star();
    cluster.device.power->communicating_W = 100;
    const Result result = simulate(lower(cluster, two_layers(), plan_of(2)));
    REQUIRE(result.energy);
    // Forward 2 ms; of the first layer's gradients only that of its weights: 3 ms.
    CHECK(result.time.activity->compute_s == Approx(2 * 5e-3).epsilon(1e-9));
    const double one_J = simgrid_host_J("100:300", 1, result.time.iteration_s, {5e-3});
    CHECK(*result.energy->devices_J == Approx(2 * one_J).epsilon(1e-9));
}

TEST_CASE("energy: an iteration by hand", "[memory]") {
    const Result result = simulate(lower(metered_star(), two_layers(), plan_of(2)));
    REQUIRE(result.energy);
    const Energy& energy = *result.energy;
    const double time_s = result.time.iteration_s;
    CHECK(result.time.activity->exposed_communication_s ==
          Approx(2 * result.time.exposed_communication_s).epsilon(1e-9));
    CHECK(result.time.exposed_communication_s == Approx(time_s - 5e-3).epsilon(1e-9));
    // 200 W more for 5 ms of computation, 50 W more for the rest.
    CHECK(*energy.devices_J == Approx(2 * (100 * time_s + 200 * 5e-3 + 50 * (time_s - 5e-3))).epsilon(1e-9));
    CHECK(*energy.hosts_J == Approx(2 * 50 * time_s).epsilon(1e-9));
    // A ring of two: each rank sends 3 MB, 3 ms at 1 GB/s, by two links. The switch sends on both of its ports, the
    // mean of which counts; of the four ports two are at nodes.
    CHECK(*energy.switches_J == Approx(10 * time_s + 30 * 3e-3).epsilon(1e-9));
    CHECK(*energy.ports_J == Approx(4 * (1 * time_s + 2 * 3e-3)).epsilon(1e-9));
    CHECK(energy.total_J() ==
          Approx(*energy.devices_J + *energy.hosts_J + *energy.switches_J + *energy.ports_J).epsilon(1e-12));
    CHECK(*energy.mean_W() == Approx(energy.total_J() / time_s).epsilon(1e-12));
    CHECK(*energy.per_million_samples_J(result.samples) == Approx(energy.total_J() * 1e6 / 2).epsilon(1e-12));
}

TEST_CASE("energy: idle devices of a node count, and of a larger fabric the nodes' share") {
    Cluster cluster = metered_star();
    cluster.node.devices = 4;
    cluster.node.link = {4e9, 1e-6};
    const Working idle{2, 1, 1, {}, {}};
    cluster.fabric.topology.shape = Shape::ring;
    cluster.fabric.topology.hosts = 8;
    cluster.nodes = 8;
    // A ring of eight hosts has eight cables and no switches: sixteen ports, of which an eighth counts.
    const auto energy = energy_of(cluster, idle);
    REQUIRE(energy);
    CHECK(*energy->devices_J == Approx(4 * 100 * 2));
    CHECK(*energy->ports_J == Approx(16.0 / 8 * 1 * 2));
    CHECK(*energy->switches_J == 0);
    // A cable of 1 GB/s stands for four ports of 250 MB/s.
    cluster.fabric.port_power->bandwidth_Bps = 2.5e8;
    CHECK(*energy_of(cluster, idle)->ports_J == Approx(4 * 16.0 / 8 * 1 * 2));
}

TEST_CASE("energy: folding changes nothing", "[memory]") {
    Cluster cluster = metered_star();
    Model model = two_layers();
    Plan plan = plan_of(8);
    plan.batch_per_rank = 24;
    plan.parallelism.pipeline.stages = 2;
    plan.parallelism.pipeline.micro_batches = 24;
    plan.fidelity = Fidelity::message;
    const Result message = simulate(lower(cluster, model, plan));
    plan.fidelity = Fidelity::folded;
    const Result folded = simulate(lower(cluster, model, plan));
    CHECK(folded.folded.micro_batches_folded > 0);
    CHECK(folded.folded.images == 4);  // the replicas of a stage
    REQUIRE(message.energy);
    REQUIRE(folded.energy);
    CHECK(*folded.energy->devices_J == Approx(*message.energy->devices_J).epsilon(1e-9));
    CHECK(*folded.energy->hosts_J == Approx(*message.energy->hosts_J).epsilon(1e-9));
    CHECK(*folded.energy->switches_J == Approx(*message.energy->switches_J).epsilon(1e-9));
    CHECK(*folded.energy->ports_J == Approx(*message.energy->ports_J).epsilon(1e-9));
}
