#include <deque>
#include <map>
#include <vector>

#include "sim/collective/parameter_server.hpp"
#include "sim/collective/ring.hpp"
#include "tests/catch.hpp"

// What every rank must hold in the end. Programs are run here without time: each rank holds, for each block, how often
// each rank's contribution is in it. A schedule with the right timing and the wrong data fails.

using namespace syncline;

namespace {

using Contributions = std::vector<int>;     ///< by rank
using Buffer = std::vector<Contributions>;  ///< by block

class Machine {
public:
    Machine(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes) : ranks_(ranks) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            programs.push_back(algorithm.program(rank, ranks, bytes));
            Buffer own(programs.back().partition.blocks, Contributions(ranks, 0));
            for (Contributions& block : own) block[rank] = 1;
            buffers.push_back(std::move(own));
        }
    }

    /// Runs all programs; false if they get stuck.
    bool run() {
        std::vector<std::vector<const Step*>> unrolled(ranks_);
        std::vector<std::vector<std::uint32_t>> repetitions(ranks_);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            for (const Step& step : programs[rank].steps) {
                for (std::uint32_t r = 0; r < step.repeat; ++r) {
                    unrolled[rank].push_back(&step);
                    repetitions[rank].push_back(r);
                }
            }
        }
        std::vector<std::size_t> at(ranks_, 0);
        std::vector<bool> posted(ranks_, false);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
                if (at[rank] == unrolled[rank].size()) continue;
                const Step& step = *unrolled[rank][at[rank]];
                const std::uint32_t repetition = repetitions[rank][at[rank]];
                if (!posted[rank]) {
                    post(rank, step, repetition);
                    posted[rank] = moved = true;
                }
                if (receive(rank, step, repetition)) {
                    ++at[rank];
                    posted[rank] = false;
                    moved = true;
                }
            }
        }
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            if (at[rank] != unrolled[rank].size()) return false;
        }
        for (const auto& [pair, queue] : wires_) {
            if (!queue.empty()) return false;  // sent, and never received
        }
        return true;
    }

    std::vector<Program> programs;
    std::vector<Buffer> buffers;
    std::uint64_t messages = 0;
    std::uint64_t bytes_sent = 0;

private:
    struct InFlight {
        std::uint32_t block;
        Contributions value;
    };

    void post(std::uint32_t rank, const Step& step, std::uint32_t repetition) {
        const Partition& partition = programs[rank].partition;
        for (const Message& message : step.sends) {
            const std::uint32_t block = shifted(message.block, step, repetition, partition.blocks);
            wires_[{rank, message.peer}].push_back({block, buffers[rank][block]});
            ++messages;
            bytes_sent += partition.size(block);
        }
    }

    bool receive(std::uint32_t rank, const Step& step, std::uint32_t repetition) {
        for (const Message& message : step.receives) {
            if (wires_[{message.peer, rank}].empty()) return false;
        }
        for (const Message& message : step.receives) {
            std::deque<InFlight>& queue = wires_[{message.peer, rank}];
            const InFlight arrived = queue.front();
            queue.pop_front();
            const std::uint32_t block = shifted(message.block, step, repetition, programs[rank].partition.blocks);
            REQUIRE(arrived.block == block);  // both sides mean the same block
            Contributions& held = buffers[rank][block];
            for (std::uint32_t r = 0; r < ranks_; ++r) held[r] = arrived.value[r] + (step.reduce ? held[r] : 0);
        }
        return true;
    }

    std::uint32_t ranks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<InFlight>> wires_;
};

}  // namespace

TEST_CASE("after a ring all-reduce every rank holds every rank's contribution once") {
    const RingAllreduce ring;
    for (std::uint32_t n = 1; n <= 33; ++n) {
        for (const std::uint64_t bytes : {0ull, 1ull, 31ull, 1000ull, 1000003ull}) {
            CAPTURE(n, bytes);
            Machine machine(ring, n, bytes);
            REQUIRE(machine.run());
            for (const Buffer& buffer : machine.buffers) {
                for (const Contributions& block : buffer) CHECK(block == Contributions(n, 1));
            }
            CHECK(machine.messages == std::uint64_t{2} * n * (n - 1));
            CHECK(machine.bytes_sent == std::uint64_t{2} * (n - 1) * bytes);
            std::uint64_t counted = 0;
            for (const Program& program : machine.programs) counted += messages_sent(program);
            CHECK(counted == machine.messages);
        }
    }
}

TEST_CASE(
    "after a push the server holds every worker's contribution once, after a pull the workers hold the server's") {
    for (std::uint32_t members = 2; members <= 20; ++members) {
        CAPTURE(members);
        Machine push(Push{}, members, 1000);
        REQUIRE(push.run());
        CHECK(push.buffers[0][0] == Contributions(members, 1));
        CHECK(push.bytes_sent == 1000u * (members - 1));

        Machine pull(Pull{}, members, 1000);
        pull.buffers[0][0] = Contributions(members, 1);
        REQUIRE(pull.run());
        for (const Buffer& buffer : pull.buffers) CHECK(buffer[0] == Contributions(members, 1));
        CHECK(pull.bytes_sent == 1000u * (members - 1));
    }
}

TEST_CASE("blocks cover the buffer, differ by at most one byte, and do not overflow") {
    for (const std::uint64_t bytes : {0ull, 1ull, 2ull, 1000ull, 1000003ull, 1ull << 40, (1ull << 62) + 12345}) {
        for (const std::uint32_t blocks : {1u, 2u, 3u, 7u, 64u, 1000u, 1048576u}) {
            CAPTURE(bytes, blocks);
            const Partition partition{bytes, blocks};
            CHECK(partition.offset(0) == 0);
            CHECK(partition.offset(blocks) == bytes);
            for (std::uint32_t i = 0; i < blocks; i += 1 + blocks / 97) {
                CHECK(partition.size(i) <= partition.largest());
                CHECK(partition.size(i) + 1 >= partition.largest());
            }
        }
    }
}

TEST_CASE("algorithms are found by name") {
    CHECK(algorithm_names() == std::vector<std::string>{"ring"});
    CHECK_THROWS_AS(allreduce_algorithm("rign"), std::logic_error);
}
