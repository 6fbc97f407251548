#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/collective/msccl_schedule.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"

// Schedules in MSCCL's format on a star of 1 GB/s and 1 us per cable: a message takes 2 us and a nanosecond per byte.

using namespace syncline;

namespace {

struct Depends {
    int block = -1, step = -1;
};

class File {
public:
    File(const std::string& operation, int gpus, int chunks, bool in_place) {
        text_ = fmt::format(
            "<algo name=\"test\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
            "inplace=\"{}\" outofplace=\"{}\">\n",
            chunks, gpus, operation, in_place ? 1 : 0, in_place ? 0 : 1);
    }
    void gpu(int input, int output, int scratch) {
        close(1);
        text_ += fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", gpu_++, input, output,
                             scratch);
        open_ = 1;
        block_ = 0;
    }
    void block(int sends_to, int receives_from, int channel = 0) {
        close(2);
        text_ += fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", block_++, sends_to, receives_from,
                             channel);
        open_ = 2;
        step_ = 0;
    }
    void step(const char* type, const std::string& from, const std::string& to, Depends depends = {}) {
        text_ += fmt::format(
            "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" "
            "depid=\"{}\" deps=\"{}\" hasdep=\"0\"/>\n",
            step_++, type, from[0], from.substr(1), to[0], to.substr(1), std::string(type) == "nop" ? 0 : 1,
            depends.block, depends.step);
    }
    AlgorithmSpec spec(const std::string& operation = "allreduce") {
        close(1);
        return {.operation = operation, .name = scheduled, .schedule = read_msccl("test.xml", text_ + "</algo>\n")};
    }

private:
    void close(int depth) {
        if (open_ >= 2 && depth <= 2) text_ += "</tb>\n";
        if (open_ >= 1 && depth <= 1) text_ += "</gpu>\n";
        open_ = depth - 1;
    }

    int gpu_ = 0, block_ = 0, step_ = 0, open_ = 0;
    std::string text_;
};

/// Returns a ring all-reduce of n GPUs, whose chunks are divided among as many channels.
AlgorithmSpec ring(int n, int channels = 1) {
    File file("allreduce", n, n * channels, true);
    for (int gpu = 0; gpu < n; ++gpu) {
        file.gpu(n * channels, 0, 0);
        for (int channel = 0; channel < channels; ++channel) {
            file.block((gpu + 1) % n, (gpu + n - 1) % n, channel);
            const auto chunk = [&](int before) {
                return fmt::format("i{}", (gpu + 2 * n - before) % n * channels + channel);
            };
            file.step("s", chunk(0), chunk(0));
            for (int i = 1; i < n - 1; ++i) file.step("rrs", chunk(i), chunk(i));
            file.step("rrcs", chunk(n - 1), chunk(n - 1));
            for (int i = 0; i < n - 2; ++i) file.step("rcs", chunk(i), chunk(i));
            file.step("r", chunk(n - 2), chunk(n - 2));
        }
    }
    return file.spec();
}

/// Returns the all-pairs all-reduce of n GPUs: each gets its chunk from all others into the scratch buffer, adds them
/// up, and sends the sum to all.
AlgorithmSpec all_pairs(int n) {
    File file("allreduce", n, n, true);
    for (int gpu = 0; gpu < n; ++gpu) {
        file.gpu(n, 0, n - 1);
        const std::string own = fmt::format("i{}", gpu);
        file.block(-1, -1);
        for (int i = 0; i < n - 2; ++i) file.step("nop", "i-1", "o-1", {i + 1, 1});
        for (int i = 0; i < n - 1; ++i) file.step("re", fmt::format("s{}", i), own, {i == 0 ? n - 1 : -1, 1});
        for (int i = 0; i < n - 1; ++i) {
            const int peer = i < gpu ? i : i + 1;
            const std::string theirs = fmt::format("i{}", peer);
            file.block(peer, peer);
            file.step("s", theirs, "s0");
            file.step("r", own, fmt::format("s{}", i));
            file.step("s", own, own, {0, 2 * n - 4});
            file.step("r", theirs, theirs);
        }
    }
    return file.spec();
}

double time_s(const AlgorithmSpec& spec, std::uint32_t ranks, std::uint64_t bytes, Latency latency,
              double reduction_Bps = unlimited) {
    Cluster cluster;
    cluster.nodes = 16;
    cluster.fabric.topology.bandwidth_Bps = {1e9};
    cluster.fabric.topology.latency_s = {1e-6};
    cluster.device.reduction_Bps = reduction_Bps;
    cluster.latency = latency;
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.bytes = bytes;
    plan.algorithm = spec;
    return simulate_collective(cluster, plan).completion_time_s;
}

constexpr Latency latencies[]{Latency::blocking, Latency::travelling};

}  // namespace

TEST_CASE("msccl: a ring takes the time of the ring, in one channel or in several that share its links", "[memory]") {
    for (const Latency latency : latencies) {
        for (const std::uint32_t n : {2u, 3u, 4u, 8u}) {
            for (const std::uint64_t bytes : {0u, 24'000u, 2'400'000u}) {
                CAPTURE(n, bytes, latency == Latency::blocking);
                const double block = static_cast<double>(bytes) / n;
                const double expected_s = 2 * (n - 1) * (2e-6 + block * 1e-9) + (n - 1) * block / 2e9;
                CHECK(time_s({}, n, bytes, latency, 2e9) == Approx(expected_s).epsilon(1e-9));
                CHECK(time_s(ring(static_cast<int>(n)), n, bytes, latency, 2e9) == Approx(expected_s).epsilon(1e-9));
                CHECK(time_s(ring(static_cast<int>(n), 2), n, bytes, latency, 2e9) == Approx(expected_s).epsilon(1e-9));
            }
        }
    }
}

TEST_CASE("msccl: each thread block repeats its steps for each segment", "[memory]") {
    AlgorithmSpec spec = ring(4);
    spec.segment_bytes = 250'000;
    // Four pieces of each chunk of 1 MB: 4·6 messages of 2 us + 0.25 ms.
    CHECK(time_s(spec, 4, 4'000'000, Latency::travelling) == Approx(24 * 252e-6).epsilon(1e-9));
    // Up and down a chain of three GPUs, four hops.
    File file("allreduce", 3, 1, true);
    file.gpu(1, 0, 0);
    file.block(1, -1);
    file.step("s", "i0", "i0");
    file.block(-1, 1);
    file.step("r", "i0", "i0", {0, 0});
    file.gpu(1, 0, 0);
    file.block(2, 0);
    file.step("rrs", "i0", "i0");
    file.block(0, 2);
    file.step("rcs", "i0", "i0", {0, 0});
    file.gpu(1, 0, 0);
    file.block(-1, 1);
    file.step("rrc", "i0", "i0");
    file.block(1, -1);
    file.step("s", "i0", "i0", {0, 0});
    spec = file.spec();
    CHECK(time_s(spec, 3, 1'000'000, Latency::travelling) == Approx(4 * 1.002e-3).epsilon(1e-9));
    // In pieces u (up) and d (down), which GPU 1 gets and passes on as U and D, in quarters of a millisecond: u0 0-1,
    // u1 and U0 1-2; u2 and d0 share its link 2-4, beside U1 2-3; u3 with d1 and U2 with D0 4-6; d2 6-7, U3 with D1
    // 6-8; d3 and D2 8-9, D3 9-10.
    spec.segment_bytes = 250'000;
    CHECK(time_s(spec, 3, 1'000'000, Latency::travelling) == Approx(10 * 250e-6).epsilon(0.01));
}

TEST_CASE("msccl: all pairs add in one thread block what others have received", "[memory]") {
    for (const Latency latency : latencies) {
        // Chunks of 1 MB: 3 MB into each GPU, their sum at 2 GB/s, and 3 MB into each again.
        CHECK(time_s(all_pairs(4), 4, 4'000'000, latency, 2e9) ==
              Approx(2e-6 + 3e-3 + 1.5e-3 + 2e-6 + 3e-3).epsilon(1e-9));
        // 10 bytes in four chunks are 12.
        CHECK(time_s(all_pairs(4), 4, 10, latency) == Approx(2 * (2e-6 + 9e-9)).epsilon(1e-9));
        CHECK(time_s(all_pairs(4), 1, 10, latency) == 0);
    }
}

TEST_CASE("msccl: a step that waits for another receives before, and so does not hold up its sender", "[memory]") {
    // GPU 0 sends its second chunk after the first, on another channel; GPU 1 waits for both before it sends its own.
    File file("allgather", 2, 4, true);
    file.gpu(2, 4, 0);
    file.block(1, 1, 0);
    file.step("s", "i0", "o0");
    file.step("r", "i0", "o2");
    file.block(1, 1, 1);
    file.step("s", "i1", "o1", {0, 0});
    file.step("r", "i1", "o3");
    file.gpu(2, 4, 0);
    file.block(0, 0, 0);
    file.step("r", "i0", "o0", {1, 0});
    file.step("s", "i0", "o2");
    file.block(0, 0, 1);
    file.step("r", "i1", "o1");
    file.step("s", "i1", "o3");
    const AlgorithmSpec spec = file.spec("allgather");
    // The first chunk keeps its sender for the latency, too, if that blocks.
    CHECK(time_s(spec, 2, 1'000'000, Latency::blocking) == Approx(2 * 252e-6 + 502e-6).epsilon(1e-9));
    CHECK(time_s(spec, 2, 1'000'000, Latency::travelling) == Approx(250e-6 + 252e-6 + 502e-6).epsilon(1e-9));
}

TEST_CASE("msccl: allgather, reduce-scatter and all-to-all, in place and not", "[memory]") {
    for (const bool in_place : {false, true}) {
        CAPTURE(in_place);
        for (const std::string operation : {"allgather", "reduce_scatter", "alltoall"}) {
            CAPTURE(operation);
            File file(operation, 2, 2, in_place);
            for (int gpu = 0; gpu < 2; ++gpu) {
                const int other = 1 - gpu;
                const bool gathers = operation == "allgather", scatters = operation == "reduce_scatter";
                const std::string mine = fmt::format("{}", gpu), theirs = fmt::format("{}", other);
                file.gpu(gathers ? 1 : 2, scatters ? 1 : 2, 1);
                file.block(other, other);
                file.step("s", gathers ? "i0" : "i" + theirs, "o0");
                if (scatters)
                    file.step("rrc", "i" + mine, "o0");
                else
                    file.step("r", "i0", "o" + theirs);
                if (!scatters && !in_place) file.step("cpy", gathers ? "i0" : "i" + mine, "o" + mine);
            }
            const std::string name = operation == "alltoall"         ? "all-to-all"
                                     : operation == "reduce_scatter" ? "reduce-scatter"
                                                                     : operation;
            // Half of the buffer to the other.
            CHECK(time_s(file.spec(name), 2, 1'000'000, Latency::travelling) == Approx(502e-6).epsilon(1e-9));
        }
    }
}
