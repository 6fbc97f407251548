#include <fmt/format.h>

#include <algorithm>

#include "sim/iteration/iteration.hpp"
#include "sim/replay/replay.hpp"
#include "sim/trace/chrome_trace.hpp"
#include "tests/catch.hpp"
#include "tests/chrome_trace.hpp"

// Timelines of replays, as Chrome traces.

using namespace syncline;
using namespace syncline::test;

namespace {

Cluster small_cluster() {
    Cluster cluster;
    cluster.nodes = 16;
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e14;
    cluster.device.host_link_Bps = 1e10;
    cluster.fabric.topology.bandwidth_Bps = {1e9};
    cluster.fabric.topology.latency_s = {1e-6};
    return cluster;
}

Model small_model() {
    Model model;
    model.name = "small";
    model.sample_elements = 1000;
    model.layers.push_back({"first", 100'000, 1'000'000, 1000, 1000});
    model.layers.push_back({"second", 250'001, 3'000'000, 1000, 1000});
    model.layers.push_back({"third", 10'007, 2'000'000, 1000, 1000});
    return model;
}

/// Returns the view that explain() extracts from a replay, from the end of one iteration's last task to that of the
/// next.
TimelineView view_of(const Cluster& cluster, const Plan& plan) {
    TimelineView view;
    view.graph = build_iteration(lower(cluster, small_model(), plan));
    view.iteration = 2;
    ReplayOptions options;
    options.iterations = 4;
    options.measured = view.iteration;
    options.messages = true;
    view.timeline = replay_isolated(cluster, view.graph, options);
    view.window = {view.timeline.iteration_end_s[1], view.timeline.iteration_end_s[2]};
    for (TaskId task = 0; task < view.graph.tasks().size(); ++task) view.names.push_back(fmt::format("task {}", task));
    return view;
}

std::string written(const TimelineView& view) {
    std::string text;
    write_chrome_trace(view, {}, "small", [&text](std::string_view piece) { text += piece; });
    return text;
}

Plan plan_of(std::int64_t ranks) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 8;
    return plan;
}

struct World {
    std::string name;
    Cluster cluster = small_cluster();
    Plan plan = plan_of(4);
};

/// Returns rings, servers, stages, and a transport with all its features.
std::vector<World> worlds() {
    std::vector<World> worlds;
    worlds.push_back({"ring"});
    worlds.push_back({"servers"});
    worlds.back().plan.exchange = ExchangeKind::parameter_server;
    worlds.back().plan.servers.count = 2;
    worlds.push_back({"stages"});
    worlds.back().plan.parallelism.pipeline.stages = 2;
    worlds.back().plan.parallelism.pipeline.micro_batches = 4;
    worlds.push_back({"software"});
    Transport& transport = worlds.back().cluster.transport;
    transport.launch_s = 3e-6;
    transport.window = 2;
    worlds.back().plan.algorithm.name = "direct";
    worlds.push_back({"across iterations"});
    worlds.back().plan.overlap = Overlap::across_iterations;
    worlds.back().plan.schedule = Schedule::priority;
    return worlds;
}

}  // namespace

TEST_CASE("Chrome traces of replays have nested slices in order and paired arrows, for any plan", "[memory]") {
    for (const World& world : worlds()) {
        CAPTURE(world.name);
        const TimelineView view = view_of(world.cluster, world.plan);
        const ChromeFile file = check_chrome_trace(written(view));
        // Without jitter every iteration has the same messages; the file has those that reach into the window.
        CHECK(file.flows.size() >= view.timeline.messages);
        CHECK(file.counters.size() > 0);
        CHECK(std::ranges::count(file.slices, "act", &ChromeSlice::category) > 0);
        CHECK(file.of("rank 3 compute").size() >= 7);  // forward and backward of three layers, and the update
        for (const auto& [id, flow] : file.flows) {
            const ChromeSlice &from = file.slices[flow.from], &to = file.slices[flow.to];
            CAPTURE(id, from.thread, to.thread);
            CHECK(from.thread.substr(0, 6) != to.thread.substr(0, 6));
            CHECK(to.category == "act");
        }
    }
}
