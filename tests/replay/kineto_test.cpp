#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "sim/analysis/trace_experiment.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/replay/scripted.hpp"

// A profile of PyTorch from its file to its time, worked out by hand on a star of 1 GB/s with a latency of 10 us.

using namespace syncline;

namespace {

constexpr double us = 1e-6;
constexpr double L = 10 * us;

/// Launches of a, an all-reduce r, and b; the processor waits for the device and then launches c. The recorded
/// all-reduce takes 184 us, of which some are waiting.
constexpr const char* profile =
    R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 1000, "dur": 500},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": 1000, "dur": 10, "args": {"correlation": 1}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": 1010, "dur": 10, "args": {"correlation": 2}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": 1020, "dur": 10, "args": {"correlation": 3}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "tid": 1, "ts": 1030, "dur": 370},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": 1450, "dur": 10, "args": {"correlation": 4}},
 {"ph": "X", "cat": "kernel", "name": "a", "ts": 1015, "dur": 100, "args": {"stream": 7, "correlation": 1}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": 1116, "dur": 184, "args": {"stream": 20,
  "correlation": 2, "Collective name": "allreduce", "In msg nelems": 50000, "Out msg nelems": 50000, "dtype": "Float",
  "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}},
 {"ph": "X", "cat": "kernel", "name": "b", "ts": 1117, "dur": 50, "args": {"stream": 7, "correlation": 3}},
 {"ph": "X", "cat": "kernel", "name": "c", "ts": 1470, "dur": 40, "args": {"stream": 7, "correlation": 4}}]})";

}  // namespace

TEST_CASE("a profile's kernels take their times, and its exchanges those of the platform") {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("syncline-kineto-" + std::to_string(getpid()) + ".json");
    std::ofstream(file) << profile;
    TracePlan plan;
    plan.trace = std::make_shared<const ExecutionTrace>(read_trace({file.string()}, {}));
    std::filesystem::remove(file);
    Cluster cluster = star_cluster(2, 1e9, L / 2);
    cluster.latency = Latency::travelling;

    // a; a ring of two steps with 100,000 B each, beside b; c.
    const double ring_s = 2 * (L + 100 * us);
    const Result result = simulate(cluster, plan);
    CHECK(result.time.iteration_s == Approx(100 * us + ring_s + 40 * us));
    CHECK(result.time.compute_s == Approx(190 * us));
    CHECK(result.bytes_sent == 400'000);

    // The first launch takes 10 us. After the ring, which the processor waits for, it is busy for the 60 us from the
    // end of its waiting to that of the launch of c.
    plan.host_time = true;
    CHECK(simulate(cluster, plan).time.iteration_s == Approx(10 * us + 100 * us + ring_s + 60 * us + 40 * us));

    // Kernels twice as fast, the processor not.
    plan.speed = 2;
    CHECK(simulate(cluster, plan).time.iteration_s == Approx(10 * us + 50 * us + ring_s + 60 * us + 20 * us));
}
