#pragma once

#include <string_view>

#include "tests/cli/program.hpp"

/// Small files that tests of the command line share. A message between nodes takes 2 us plus a nanosecond per byte, and
/// a device computes one flop per picosecond.
namespace syncline::test {

inline constexpr std::string_view tiny_platform = R"(name: tiny
nodes: 16
device:
  name: tiny
  flops: 1 Tflops
  memory_bandwidth: 100 TBps
  reduction_rate: unlimited
host: {reduction_rate: unlimited}
fabric: {bandwidth: 1 GBps, latency: 1 us}
)";

inline constexpr std::string_view tiny_workload = R"(name: two-layers
input: [1, 1, 1]
layers:
  - {name: first, kind: custom, parameters: 1000, macs: 1000000}
  - {name: second, kind: custom, parameters: 250001, macs: 3000000}
)";

inline constexpr std::string_view tiny_scenario = R"(name: tiny-run
platform: platform.yaml
workload: workload.yaml
training:
  ranks: 4
  batch_per_rank: 8
  input_copy: none
  servers: {count: 2}
variants:
  ring: {}
  later: {training.overlap: none}
  servers: {training: {exchange: parameter-server}}
)";

/// Returns a platform in SimGrid's format.
inline std::string simgrid(const std::string& content) {
    return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
           "<platform version=\"4.1\">\n" +
           content + "</platform>\n";
}

/// The small scenario and its files.
struct TinyFiles : TempDir {
    TinyFiles() {
        write("platform.yaml", tiny_platform);
        write("workload.yaml", tiny_workload);
        write("scenario.yaml", tiny_scenario);
    }
};

/// Many gradients for many ranks: a run takes more than a minute.
inline constexpr std::string_view long_scenario = R"(platform: @/platforms/p100-25g.yaml
workload: @/workloads/resnet-50.yaml
training: {ranks: 512, iterations: 50}
)";

}  // namespace syncline::test
