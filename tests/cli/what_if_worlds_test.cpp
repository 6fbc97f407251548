#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// What `explain` says about a change is what `run` gives if the keys are changed: on fabrics with several ways, with
// protocols, and for experts whose tokens are exchanged in every way.

using namespace syncline::test;
using nlohmann::json;

namespace {

constexpr const char* workload = R"(workload:
  name: blocks
  sequence: 64
  layers:
    - name: block
      kind: block
      repeat: 4
      layers:
        - {name: attention, kind: attention, width: 64, heads: 4}
        - {name: moe, kind: moe, width: 64, hidden: 128, experts: 16, top_k: 4}
)";

/// A fabric of cables of 1 GB/s and 1 us, and the bandwidths if the nodes' cables, or those above, are twice as fast.
struct World {
    std::string name, fabric, routing, transport, nic, above;
    int nics = 1;
};

const std::vector<World> worlds{
    {"one switch", "topology: star", "{}", "", "[2 GBps]", ""},
    {"rails, PXN", "topology: rails, rails: 2, nodes_per_group: 2, spines: 2", "{}", "pxn: true", "[2 GBps, 1 GBps]",
     "[1 GBps, 2 GBps]", 2},
    {"rails without PXN", "topology: rails, rails: 2, nodes_per_group: 2, spines: 2", "{}", "pxn: false",
     "[2 GBps, 1 GBps]", "[1 GBps, 2 GBps]", 2},
    {"fat tree, spray", "topology: fat-tree, down: [4, 4], up: [1, 2]", "{policy: spray}", "", "[2 GBps, 1 GBps]",
     "[1 GBps, 2 GBps]"},
    {"dragonfly, valiant", "topology: dragonfly, groups: 4, routers: 2, hosts_per_router: 1, global_links: 2",
     "{policy: valiant}", "", "[2 GBps, 1 GBps]", "[1 GBps, 2 GBps]"},
    {"protocols", "topology: rails, rails: 2, nodes_per_group: 2, spines: 2", "{}",
     "selection: nccl-h100, payload: 0.9", "[2 GBps, 1 GBps]", "[1 GBps, 2 GBps]", 2},
};

std::string scenario(const World& world, const std::string& parallelism) {
    return fmt::format(
        "platform:\n"
        "  device: {{name: d, flops: 100 Gflops, memory_bandwidth: 100 GBps}}\n"
        "  per_node: {{devices: 2, nics: {}, links: {{pattern: switch, bandwidth: 4 GBps, latency: 1 us, reduces: "
        "true}}}}\n"
        "  fabric: {{{}, bandwidth: 1 GBps, latency: 1 us}}\n"
        "  routing: {}\n"
        "  transport: {{name: t, send_overhead: 1 us, latency: 2 us, launch: 3 us{}}}\n"
        "{}"
        "training: {{ranks: 16, batch: 64, iterations: 1, overlap: wait-free, input_copy: none, parallelism: {}}}\n",
        world.nics, world.fabric, world.routing, world.transport.empty() ? "" : ", " + world.transport, workload,
        parallelism);
}

json run_json(const TempDir& here, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, {"scenario.yaml", "--format", "json"});
    const Outcome outcome = run_in(here, std::move(arguments));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out);
}

}  // namespace

TEST_CASE("what if: a change has the time that the changed keys have") {
    for (const World& world : worlds)
        for (const char* parallelism :
             {"{experts: 8, sharding: optimizer}",
              "{experts: {ranks: 8, exchange: deduplicated, token_nodes: 2, dispatch: fp8, overlap: micro-batches}, "
              "pipeline: {micro_batch_size: 1}}",
              "{experts: {ranks: 4, exchange: deduplicated, dispatch: fp8}, "
              "pipeline: {stages: 2, virtual_stages: 2, schedule: dualpipe-v, micro_batch_size: 1}}",
              "{model: 2, sequence: true, experts: {ranks: 4, model: 1, imbalance: 30 %}}"}) {
            CAPTURE(world.name, parallelism);
            const TempDir here;
            here.write("scenario.yaml", scenario(world, parallelism));
            struct Real {
                std::string change;
                std::vector<std::string> set;
            };
            std::vector<Real> changes{
                {"link:nic x2", {"platform.fabric.bandwidth=" + world.nic}},
                {"link:node x2", {"platform.per_node.links.bandwidth=8 GBps"}},
                {"latency x0.5",
                 {"platform.fabric.latency=0.5 us", "platform.per_node.links.latency=0.5 us",
                  "platform.transport.latency=1 us"}},
                {"transport x0.5", {"platform.transport.send_overhead=0.5 us", "platform.transport.launch=1.5 us"}},
                {"device x2", {"platform.device.flops=200 Gflops"}},
                {"memory x2", {"platform.device.memory_bandwidth=200 GBps"}},
                {"batch x2", {"training.batch=128"}},
            };
            if (!world.above.empty())
                changes.push_back({"link:fabric x2", {"platform.fabric.bandwidth=" + world.above}});
            std::vector<std::string> asked{"explain"};
            for (const Real& real : changes) asked.insert(asked.end(), {"--what-if", real.change});
            const json e = run_json(here, asked)["explanations"][0];
            for (const Real& real : changes) {
                CAPTURE(real.change);
                std::vector<std::string> arguments{"run"};
                for (const std::string& set : real.set) arguments.insert(arguments.end(), {"--set", set});
                const json result = run_json(here, arguments)["results"][0];
                const json& answers = e["what_if"];
                const auto answer = std::find_if(answers.begin(), answers.end(),
                                                 [&](const json& one) { return one["change"] == real.change; });
                REQUIRE(answer != answers.end());
                CAPTURE(answer->dump());
                REQUIRE((*answer)["iteration_time_s"].is_number());
                CHECK((*answer)["iteration_time_s"].get<double>() ==
                      Approx(result["iteration_time_s"].get<double>()).epsilon(1e-9));
            }
        }
}
