#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/analysis/trace_experiment.hpp"
#include "sim/execution/trace_files.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/replay/scripted.hpp"
#include "tests/smpi/smpi.hpp"

// Time-independent traces: SMPI's replay, and ours of the same files.

using namespace syncline;
using namespace syncline::test;

namespace {

const SmpiStar star{1e9, 5e-6};

double our_seconds(const std::vector<std::string>& actions) {
    const TempDir directory;
    std::vector<std::string> files;
    for (std::size_t rank = 0; rank < actions.size(); ++rank)
        files.push_back(directory.write(fmt::format("actions.{}", rank), actions[rank]));
    Cluster cluster = star_cluster(static_cast<std::uint32_t>(actions.size()), star.bandwidth_Bps, star.latency_s);
    cluster.latency = Latency::blocking;
    cluster.device.flops_per_s = 1e9;
    TracePlan plan;
    plan.trace = std::make_shared<const ExecutionTrace>(read_trace(files, {.format = "simgrid-ti"}));
    plan.eager_bytes = 0;
    return simulate(cluster, plan).time.iteration_s;
}

/// An iteration of ranks that compute, send to others, and add up: some of each, at random.
std::vector<std::string> random_actions(std::mt19937& random) {
    const auto draw = [&](std::uint64_t least, std::uint64_t most) { return least + random() % (most - least + 1); };
    const auto ranks = static_cast<std::uint32_t>(draw(2, 6));
    std::vector<std::string> actions;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) actions.push_back(fmt::format("{} init\n", rank));
    const std::uint64_t parts = draw(1, 4);
    for (std::uint64_t part = 0; part < parts; ++part) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            actions[rank] += fmt::format("{} compute {}\n", rank, draw(0, 20) * 500'000);
        const std::uint64_t shift = draw(1, ranks - 1), bytes = draw(10, 2000) * 1000;
        switch (draw(0, 2)) {
            case 0:  // to a rank further on, without waiting for one another
                for (std::uint32_t rank = 0; rank < ranks; ++rank)
                    actions[rank] += fmt::format("{0} irecv {1} 0 {3}\n{0} isend {2} 0 {3}\n{0} waitall\n", rank,
                                                 (rank + ranks - shift) % ranks, (rank + shift) % ranks, bytes);
                break;
            case 1:  // from rank 0 to each of the others in turn
                for (std::uint32_t rank = 1; rank < ranks; ++rank) {
                    actions[0] += fmt::format("0 send {} 0 {}\n", rank, bytes);
                    actions[rank] += fmt::format("{} recv 0 0 {}\n", rank, bytes);
                }
                break;
            default:
                for (std::uint32_t rank = 0; rank < ranks; ++rank)
                    actions[rank] += fmt::format("{} allreduce {} 0\n", rank, bytes / ranks * ranks);
        }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) actions[rank] += fmt::format("{} finalize\n", rank);
    return actions;
}

}  // namespace

TEST_CASE("SMPI's replay of time-independent traces takes as long as ours") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::mt19937 random(seed);
        const std::vector<std::string> actions = random_actions(random);
        CAPTURE(seed, actions);
        // SMPI adds an envelope to each message, and prints microseconds.
        CHECK(our_seconds(actions) == Approx(smpi_replay_seconds(star, actions, "allreduce:lr")).epsilon(0.002));
    }
}
