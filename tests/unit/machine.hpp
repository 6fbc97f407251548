#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"

/// Runs programs without time: each rank holds, for each block, how often each rank's contribution is in it. A schedule
/// with the right timing and the wrong data fails.
///
/// As in the simulation, a message travels when both its ends have got to it, and a step ends when all its messages are
/// through; what could deadlock there gets stuck here.
namespace syncline {

using Contributions = std::vector<int>;     ///< by rank
using Buffer = std::vector<Contributions>;  ///< by block

class Machine {
public:
    Machine(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round = 0)
        : received(ranks), bytes_received(ranks, 0), bytes_sent_by(ranks, 0), ranks_(ranks) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            programs.push_back(algorithm.program(rank, ranks, bytes, round));
            Buffer own(programs.back().partition.blocks, Contributions(ranks, 0));
            for (Contributions& block : own) block[rank] = 1;
            buffers.push_back(std::move(own));
        }
    }

    /// Runs all programs; false if they get stuck or a message is left over.
    bool run() {
        std::vector<Place> at(ranks_);
        std::vector<bool> posted(ranks_, false);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
                if (at[rank].step == programs[rank].steps.size()) continue;
                const Step& step = programs[rank].steps[at[rank].step];
                if (!posted[rank]) {
                    post(rank, step, at[rank].repetition);
                    posted[rank] = moved = true;
                }
                if (!through(rank, step)) continue;
                finish(rank, step, at[rank].repetition);
                posted[rank] = false;
                moved = true;
                if (++at[rank].repetition == step.repeat) at[rank] = {at[rank].step + 1, 0};
            }
        }
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            if (at[rank].step != programs[rank].steps.size()) return false;
        }
        for (const auto& [pair, wire] : wires_) {
            if (wire.sent.size() != wire.expected) return false;
        }
        return true;
    }

    struct Arrival {
        std::uint32_t peer, block, count;
    };

    std::vector<Program> programs;
    std::vector<Buffer> buffers;
    std::vector<std::vector<Arrival>> received;  ///< by rank, in the order of its program
    std::uint64_t messages = 0;
    std::uint64_t bytes_sent = 0;
    std::vector<std::uint64_t> bytes_received, bytes_sent_by;  ///< by rank

private:
    struct Place {
        std::size_t step = 0;
        std::uint32_t repetition = 0;
    };
    struct InFlight {
        std::uint32_t block, count;
        Buffer value;
    };
    /// Everything that one rank has sent to another, or expected from it, so far.
    struct Wire {
        std::vector<InFlight> sent;
        std::size_t expected = 0, taken = 0;
    };

    std::uint32_t first_block(std::uint32_t rank, const Step& step, const Message& message,
                              std::uint32_t repetition) const {
        const std::uint32_t blocks = programs[rank].partition.blocks;
        const std::uint32_t block = shifted(message.block, step, repetition, blocks);
        if (message.peer >= ranks_ || message.peer == rank) FAIL("no peer " << message.peer << " of " << rank);
        if (block + message.count > blocks) FAIL("blocks from " << block << " on wrap around");
        return block;
    }

    void post(std::uint32_t rank, const Step& step, std::uint32_t repetition) {
        for (const Message& message : step.sends) {
            const std::uint32_t block = first_block(rank, step, message, repetition);
            const auto from = buffers[rank].begin() + block;
            wires_[{rank, message.peer}].sent.push_back({block, message.count, Buffer(from, from + message.count)});
            const std::uint64_t bytes = programs[rank].partition.size(block, message.count);
            ++messages;
            bytes_sent += bytes;
            bytes_sent_by[rank] += bytes;
        }
        for (const Message& message : step.receives) ++wires_[{message.peer, rank}].expected;
    }

    bool through(std::uint32_t rank, const Step& step) {
        for (const Message& message : step.sends) {
            const Wire& wire = wires_[{rank, message.peer}];
            if (wire.sent.size() > wire.expected) return false;
        }
        for (const Message& message : step.receives) {
            const Wire& wire = wires_[{message.peer, rank}];
            if (wire.sent.size() < wire.expected) return false;
        }
        return true;
    }

    void finish(std::uint32_t rank, const Step& step, std::uint32_t repetition) {
        for (const Message& message : step.receives) {
            Wire& wire = wires_[{message.peer, rank}];
            const InFlight& arrived = wire.sent[wire.taken++];
            const std::uint32_t block = first_block(rank, step, message, repetition);
            if (arrived.block != block || arrived.count != message.count) FAIL("two ends mean different blocks");
            received[rank].push_back({message.peer, block, message.count});
            bytes_received[rank] += programs[rank].partition.size(block, message.count);
            for (std::uint32_t i = 0; i < message.count; ++i) {
                Contributions& held = buffers[rank][block + i];
                for (std::uint32_t r = 0; r < ranks_; ++r) held[r] = arrived.value[i][r] + (step.reduce ? held[r] : 0);
            }
        }
    }

    std::uint32_t ranks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Wire> wires_;
};

}  // namespace syncline
