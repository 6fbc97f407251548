#include <algorithm>
#include <map>
#include <set>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"

// Compares inner-outer gossip with its source's definition, and with the bytes that a group sends out.

using namespace syncline;

namespace {

AlgorithmSpec inner_outer(std::int64_t group) {
    AlgorithmSpec spec{
        .operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}, .peers = Peers::inner_outer};
    spec.overlay->shape = Shape::hierarchical;
    spec.overlay->levels = {{Shape::full_mesh, group}, {Shape::full_mesh, 0}};
    return spec;
}

/// Returns the rank that `rank` sends to by BlueFog's GetInnerOuterExpo2DynamicSendRecvRanks, for several groups of
/// more than two.
std::uint32_t destination(std::uint32_t rank, std::uint32_t ranks, std::uint32_t group, std::uint32_t round) {
    const auto distances = [](std::uint32_t most) {
        std::uint32_t count = 0;
        for (; most > 0; most /= 2) ++count;  // floor(log2(most)) + 1
        return count;
    };
    const std::uint32_t groups = ranks / group, number = rank / group, place = rank % group, out = round % group;
    if (place == out) return (number + (1U << (round % distances(groups - 1)))) % groups * group + place;
    const std::uint32_t to_out = (out + group - place) % group;
    std::uint32_t distance = 1U << (round % distances(group - 2));
    if (distance >= to_out) ++distance;
    return number * group + (place + distance) % group;
}

}  // namespace

TEST_CASE("inner-outer gossip: the peers are those of BlueFog", "[memory]") {
    for (const std::uint32_t group : {3U, 4U, 5U, 8U}) {
        for (std::uint32_t groups = 2; groups <= 9; ++groups) {
            const std::uint32_t n = group * groups;
            const auto algorithm = make_algorithm(inner_outer(group), n);
            for (std::uint32_t round = 0; round < 2 * algorithm->period() + 1; ++round) {
                std::map<std::uint32_t, std::uint32_t> heard;
                std::map<std::uint32_t, int> sent_out;
                for (std::uint32_t rank = 0; rank < n; ++rank) {
                    const Program program = algorithm->program(rank, n, 100, round);
                    REQUIRE(program.steps.size() == 1);
                    const Step& step = program.steps.front();
                    REQUIRE(step.sends.size() == 1);
                    REQUIRE(step.receives.size() == 1);
                    CAPTURE(group, groups, round, rank);
                    CHECK(step.sends.front().peer == destination(rank, n, group, round));
                    heard[rank] = step.receives.front().peer;
                    if (step.sends.front().peer / group != rank / group) ++sent_out[rank / group];
                }
                for (const auto& [rank, from] : heard) CHECK(destination(from, n, group, round) == rank);
                for (std::uint32_t number = 0; number < groups; ++number) CHECK(sent_out[number] == 1);
            }
        }
    }
}

TEST_CASE("inner-outer gossip: programs repeat after a period, and not before", "[memory]") {
    for (const std::uint32_t group : {1U, 2U, 3U, 8U}) {
        for (std::uint32_t groups = 1; groups <= 5; ++groups) {
            const std::uint32_t n = group * groups;
            const auto algorithm = make_algorithm(inner_outer(group), n);
            const auto peers = [&](std::uint32_t round) {
                std::vector<std::int64_t> result;
                for (std::uint32_t rank = 0; rank < n; ++rank) {
                    const Program program = algorithm->program(rank, n, 7, round);
                    result.push_back(program.steps.empty() ? -1 : program.steps.front().sends.front().peer);
                }
                return result;
            };
            const std::uint32_t period = algorithm->period();
            CAPTURE(group, groups, period);
            for (std::uint32_t round = 0; round < period; ++round) CHECK(peers(round) == peers(round + period));
            for (std::uint32_t shorter = 1; shorter < period; ++shorter) {
                if (period % shorter != 0) continue;
                bool same = true;
                for (std::uint32_t round = 0; round < period; ++round)
                    same = same && peers(round) == peers(round + shorter);
                CHECK_FALSE(same);
            }
        }
    }
}

TEST_CASE("inner-outer gossip: one rank sends nothing, ranks must be whole groups, and an overlay is required",
          "[memory]") {
    CHECK(make_algorithm(inner_outer(8), 1)->program(0, 1, 5, 0).steps.empty());
    CHECK_THROWS_AS(make_algorithm(inner_outer(8), 12), AlgorithmError);
    AlgorithmSpec without = inner_outer(8);
    without.overlay.reset();
    CHECK_THROWS_AS(make_algorithm(without, 16), AlgorithmError);
    CHECK(make_algorithm(inner_outer(8), 64)->cost(64, 1000, {1e-6, 1e-9, 1e-10}).value() == Approx(2.1e-6));
}
