#include "sim/collective/nvls.hpp"

#include <map>

#include "tests/catch.hpp"

// All-reduces by switches inside nodes: what crosses each rank's links and ports.

using namespace syncline;

namespace {

/// Bytes that a rank sends and receives, inside its node and between nodes.
struct Load {
    std::uint64_t out = 0, in = 0, sent_out = 0, sent_in = 0;
};

std::vector<Load> loads(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint32_t each,
                        std::uint64_t bytes) {
    std::vector<Load> all(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (std::uint32_t lane = 0; lane < algorithm.lanes(); ++lane) {
            const Program program = algorithm.lane_program(lane, rank, ranks, bytes, 0);
            for (const Step& step : program.steps)
                for (const Message& message : step.sends) {
                    const std::uint64_t sent = bytes_of_repetitions(program.partition, message, 0, step.repeat);
                    const bool inside = message.peer / each == rank / each;
                    (inside ? all[rank].out : all[rank].sent_out) += sent;
                    (inside ? all[message.peer].in : all[message.peer].sent_in) += sent;
                    if (!inside) CHECK(message.peer % each == rank % each);
                }
        }
    return all;
}

}  // namespace

TEST_CASE("nvls: in a node every link carries the buffer and one part more, in each direction", "[memory]") {
    for (const std::uint32_t ranks : {2u, 3u, 5u, 8u, 72u})
        for (const std::uint64_t bytes : {0ull, 1ull, 7ull, 1000ull, 123'456'789ull}) {
            CAPTURE(ranks, bytes);
            const std::uint64_t parts = std::min(ranks, 32u);  // NCCL has at most 32 heads
            const auto algorithm = nvls({ranks});
            CHECK(algorithm->lanes() == 1);
            for (const Load& load : loads(*algorithm, ranks, ranks, bytes)) {
                CHECK(load.out == bytes + (bytes + parts - 1) / parts);
                CHECK(load.in == load.out);
                CHECK(load.sent_out == 0);
            }
        }
    CHECK(nvls({1})->program(0, 1, 1000, 0).steps.empty());
}

TEST_CASE("nvls: among nodes a part goes through a tree of the ranks of its number", "[memory]") {
    for (const std::uint32_t nodes : {2u, 3u, 4u, 7u})
        for (const std::uint32_t each : {2u, 3u, 8u}) {
            CAPTURE(nodes, each);
            const std::uint64_t bytes = 1'000'003;
            const auto algorithm = nvls(std::vector<std::uint32_t>(nodes, each));
            std::map<std::uint32_t, std::uint64_t> of_part;
            const std::vector<Load> all = loads(*algorithm, nodes * each, each, bytes);
            for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
                CHECK(all[rank].out == bytes + (bytes + each - 1) / each);
                of_part[rank % each] += all[rank].sent_out;
                // Inner node of one tree at most, and leaf of the other: no port carries more than twice its part.
                CHECK(all[rank].sent_out <= 2 * (bytes / each + 2));
                CHECK(all[rank].sent_in <= 2 * (bytes / each + 2));
                if (nodes == 2) CHECK(all[rank].sent_out <= bytes / each + 1);
            }
            // Each edge of a tree carries its half once up and once down.
            for (const auto& [part, sent] : of_part) CHECK(sent == 2 * (nodes - 1) * Partition{bytes, each}.size(part));
        }
}

TEST_CASE("nvls: closed form and chunks", "[memory]") {
    const MessageCost cost{2e-6, 1 / 4e9, 0};
    CHECK(*nvls({4})->cost(4, 4'000'000, cost) == Approx(2e-6 + 5e6 / 4e9).epsilon(1e-12));
    CHECK(*nvls({1})->cost(1, 4'000'000, cost) == 0);
    CHECK_FALSE(nvls({4, 4})->cost(8, 4'000'000, cost));
    CHECK(nvls_load(8e6, 8) == Approx(9e6));
    // Rounds of 16 channels of 8 heads of 128 KiB are 16 MiB.
    const std::uint64_t round = 16 << 20;
    CHECK(nvls_chunk_bytes(2 * round - 1, 8, 16) == 16 * 1024);
    CHECK(nvls_chunk_bytes(2 * round, 8, 16) == 32 * 1024);
    CHECK(nvls_chunk_bytes(8 * round, 8, 16) == 64 * 1024);
    CHECK(nvls_chunk_bytes(64 * round, 8, 16) == 128 * 1024);
}
