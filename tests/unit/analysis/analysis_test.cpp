#include "sim/analysis/breakdown.hpp"
#include "sim/collective/ring.hpp"
#include "sim/workload/compute_model.hpp"
#include "tests/catch.hpp"

using namespace syncline;

TEST_CASE("a breakdown refers to the rank that ends last: computation, communication, and its exposed part",
          "[memory]") {
    const auto ring = std::make_shared<const RingAllreduce>();
    TaskGraph graph;
    Timeline timeline;
    timeline.recorded.resize(3);
    const auto add = [&](StreamId stream, Phase phase, bool exchange, Interval last, Interval before) {
        Task task{stream, phase};
        if (exchange) task.exchange = 0;
        graph.add_task(task);
        timeline.recorded[0].push_back({0, before.end_s - 10});
        timeline.recorded[1].push_back(before);
        timeline.recorded[2].push_back(last);
    };
    for (const double late : {0.0, 1.0}) {  // the second rank ends one second after the first
        const ProcessId rank = graph.add_process({});
        const StreamId compute = graph.add_stream(rank, StreamKind::compute);
        const StreamId push = graph.add_stream(rank, StreamKind::push);
        const StreamId pull = graph.add_stream(rank, StreamKind::pull);
        add(compute, Phase::forward, false, {10 + late, 12 + late}, {});
        add(compute, Phase::backward, false, {12 + late, 15 + late}, {});
        add(push, Phase::push, true, {14 + late, 17 + late}, {});
        add(pull, Phase::pull, true, {16 + late, 18 + late}, {});
        add(pull, Phase::pull, true, {19 + late, 20 + late}, {});
        add(compute, Phase::update, false, {20 + late, 20 + late}, {10 + late, 10 + late});
    }
    graph.add_group({0, 1});
    graph.add_exchange({ring, 0, 0, 1, 0});
    graph.seal();
    const Breakdown result = measure(graph, timeline);
    CHECK(result.iteration_s == 10);
    CHECK(result.compute_s == 5);
    CHECK(result.communication_s == 5);          // 14-18 and 19-20
    CHECK(result.exposed_communication_s == 4);  // without 14-15
    // From 18 to 19 nothing is in flight, and in this graph the update waits for nothing.
    CHECK(result.waiting_s == 0);
    CHECK(result.idle_s == 1);
    CHECK(result.drift == 0);
    for (Interval& interval : timeline.recorded[0]) interval.end_s += 1;  // the iteration before took 9 s
    CHECK(measure(graph, timeline).drift == Approx(0.1));
}

TEST_CASE("a breakdown distinguishes waiting for others from idle time", "[memory]") {
    TaskGraph graph;
    const StreamId compute = graph.add_stream(graph.add_process({}), StreamKind::compute);
    const StreamId server = graph.add_stream(graph.add_process({}), StreamKind::aggregate);
    const TaskId sum = graph.add_task({server, Phase::aggregate});
    const TaskId forward = graph.add_task({compute, Phase::forward});
    const TaskId backward = graph.add_task({compute, Phase::backward});
    const TaskId update = graph.add_task({compute, Phase::update});
    graph.depend(forward, update, 1);
    graph.depend(backward, sum);
    graph.depend(update, backward);
    graph.seal();
    Timeline timeline;
    timeline.recorded = {{{0, 0}, {0, 0}, {0, 0}, {0, 10}}, {{12, 15}, {11, 13}, {16, 18}, {18, 20}}};
    const Breakdown result = measure(graph, timeline);
    CHECK(result.iteration_s == 10);
    CHECK(result.compute_s == 6);
    CHECK(result.exposed_communication_s == 0);
    CHECK(result.waiting_s == 2);  // 13-15, for the sum
    CHECK(result.idle_s == 2);     // 10-11 and 15-16
}

namespace {

Model two_layers() {
    Model model;
    model.name = "two";
    // 2 GFLOP over 9 kB; then 2 kFLOP over 12 MB of weights.
    model.layers = {{"heavy", 250, 1'000'000'000, 1000, 1000}, {"wide", 3'000'000, 1000, 0, 0}};
    return model;
}

Device device_of(double flops_per_s, double memory_Bps) {
    Device device;
    device.flops_per_s = flops_per_s;
    device.memory_Bps = memory_Bps;
    return device;
}

}  // namespace

TEST_CASE("the roofline takes the longer of computing and moving data", "[memory]") {
    const auto times = layer_times(two_layers(), device_of(1e12, 1e9), 1);
    CHECK(times[0].forward_s == Approx(2e-3));
    CHECK(times[0].backward_s() == Approx(2e-3));  // the first layer needs no gradient of its input
    CHECK(times[1].forward_s == Approx(12e-3));
    CHECK(times[1].backward_s() == Approx(24e-3));
    const auto batch = layer_times(two_layers(), device_of(1e12, 1e9), 10);
    CHECK(batch[0].forward_s == Approx(20e-3));
    CHECK(batch[1].forward_s == Approx(12e-3));  // the weights are read once for the batch
}

TEST_CASE("a calibration makes one device reach the measured throughput, and keeps the layers' proportions",
          "[memory]") {
    Device device = device_of(1e12, 1e9);
    const auto plain = layer_times(two_layers(), device, 4);
    device.calibration = {{"another", 4, 1, ""}, {"two", 4, 50, ""}};
    const auto scaled = layer_times(two_layers(), device, 4);
    double total = 0;
    for (const LayerTime& time : scaled) total += time.forward_s + time.backward_s();
    CHECK(4 / total == Approx(50));
    CHECK(scaled[0].forward_s / scaled[1].backward_s() == Approx(plain[0].forward_s / plain[1].backward_s()));
}
