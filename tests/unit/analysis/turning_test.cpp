#include "sim/analysis/carried_cost.hpp"
#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"

// Steps whose messages have another peer in every repetition.

using namespace syncline;

TEST_CASE("a pairwise all-to-all is one loop, whose step k sends to the rank k after and receives from k before",
          "[memory]") {
    for (std::uint32_t n = 2; n <= 17; ++n) {
        const auto pairwise = make_algorithm({.operation = "all-to-all", .name = "pairwise"}, n);
        for (std::uint32_t rank = 0; rank < n; ++rank) {
            CAPTURE(n, rank);
            const Program program = pairwise->program(rank, n, 1001, 0);
            CHECK(program.steps.size() == 1);
            CHECK(messages_sent(program) == n - 1);
            Walk walk(program);
            for (std::uint32_t distance = 1; distance < n; ++distance, walk.next()) {
                REQUIRE(!walk.done());
                REQUIRE(walk.step().sends.size() == 1);
                REQUIRE(walk.step().receives.size() == 1);
                const Message &send = walk.step().sends[0], &receive = walk.step().receives[0];
                const std::uint32_t to = (rank + distance) % n, from = (rank + n - distance) % n;
                CHECK(peer_of(send, walk.repetition(), n) == to);
                CHECK(moved(send.block, send.shift, walk.repetition(), n) == to);
                CHECK(message_bytes(program.partition, send, walk.repetition()) == program.partition.size(to));
                CHECK(peer_of(receive, walk.repetition(), n) == from);
                CHECK(moved(receive.block, receive.shift, walk.repetition(), n) == rank);
                CHECK(message_bytes(program.partition, receive, walk.repetition()) == program.partition.size(rank));
            }
            CHECK(walk.done());
        }
    }
}

namespace {

/// Rank r sends to r + apart, or if mirrored to apart - r, and receives from the rank that sends to it; then both turn.
class Turned : public CollectiveAlgorithm {
public:
    Turned(std::uint32_t apart, bool mirrored, std::int32_t send, std::int32_t receive)
        : apart_(apart), mirrored_(mirrored), send_(send), receive_(receive) {}

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        const std::uint32_t to = (mirrored_ ? apart_ + ranks - rank : apart_ + rank) % ranks;
        const std::uint32_t from = mirrored_ ? to : (rank + ranks - apart_) % ranks;
        const Step step{{{.peer = to, .turn = send_}}, {{.peer = from, .turn = receive_}}, false, ranks};
        return {{bytes, 1}, {step}};
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
    std::string formula(bool) const override { return "none"; }

private:
    std::uint32_t apart_;
    bool mirrored_;
    std::int32_t send_, receive_;
};

/// Returns true if every receiver of a message waits for it, in every repetition.
bool always_paired(const CollectiveAlgorithm& algorithm, std::uint32_t ranks) {
    for (std::uint32_t repetition = 0; repetition < ranks; ++repetition) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const Message send = algorithm.program(rank, ranks, 1, 0).steps[0].sends[0];
            const std::uint32_t to = peer_of(send, repetition, ranks);
            const Message receive = algorithm.program(to, ranks, 1, 0).steps[0].receives[0];
            if (peer_of(receive, repetition, ranks) != rank) return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("ranks with turning peers are in step if these find each other in every repetition", "[memory]") {
    std::uint32_t paired = 0, unpaired = 0;
    for (std::uint32_t ranks = 2; ranks <= 8; ++ranks) {
        for (std::uint32_t apart = 0; apart < ranks; ++apart) {
            for (const bool mirrored : {false, true}) {
                for (const std::int32_t send : {-3, -1, 0, 1, 2}) {
                    for (const std::int32_t receive : {-2, -1, 0, 1, 3}) {
                        CAPTURE(ranks, apart, mirrored, send, receive);
                        const Turned turned(apart, mirrored, send, receive);
                        const bool expected = always_paired(turned, ranks);
                        ++(expected ? paired : unpaired);
                        CHECK(in_step(turned, ranks, 1) == expected);
                    }
                }
            }
        }
    }
    CHECK(paired > 0);
    CHECK(unpaired > 0);
    const auto pairwise = make_algorithm({.operation = "all-to-all", .name = "pairwise"}, 12);
    CHECK(in_step(*pairwise, 12, 1200));
}
