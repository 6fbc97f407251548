#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"

/// Runs programs without time: each rank holds, for each block, how often each rank's contribution is in it. A schedule
/// with the right timing and the wrong data fails. Every rank starts with its own contribution in every block; the
/// initial data can be changed before `run`, for operations that begin differently (promises.hpp).
///
/// An algorithm's lanes run side by side: programs are numbered rank by rank, and buffers rank by rank and part.
///
/// As in the simulation, a message is sent when both its ends have reached it, and a step ends when all its messages
/// are delivered; a program that could deadlock there gets stuck here.
namespace syncline {

using Contributions = std::vector<int>;     ///< by rank
using Buffer = std::vector<Contributions>;  ///< by block

class Machine {
public:
    Machine(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round = 0)
        : heard(ranks, std::vector<bool>(ranks, false)),
          received(ranks),
          bytes_received(ranks, 0),
          bytes_sent_by(ranks, 0),
          ranks_(ranks),
          lanes_(algorithm.lanes()),
          parts_(algorithm.slices()) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            buffers.resize(buffers.size() + parts_);
            for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
                programs.push_back(algorithm.lane_program(lane, rank, ranks, bytes, round));
                const Program& program = programs.back();
                if (program.slice >= parts_ || program.channel >= lanes_) FAIL("no such part or channel");
                Buffer own(program.partition.blocks, Contributions(ranks, 0));
                for (Contributions& block : own) block[rank] = 1;
                Buffer& buffer = buffers[rank * parts_ + program.slice];
                if (buffer.size() < own.size()) buffer = std::move(own);
            }
            heard[rank][rank] = true;
        }
    }

    /// Runs all programs; false if they get stuck or a message is left over.
    bool run() {
        std::vector<Walk> at(programs.begin(), programs.end());
        std::vector<bool> posted(programs.size(), false);
        std::vector<std::uint64_t> done(programs.size(), 0);  // steps, by lane
        for (bool moved = true; moved;) {
            moved = false;
            for (std::uint32_t lane = 0; lane < programs.size(); ++lane) {
                if (at[lane].done()) continue;
                const Step& step = at[lane].step();
                if (!posted[lane]) {
                    if (step.after_lane != Step::no_lane &&
                        done[rank_of(lane) * lanes_ + step.after_lane] < step.after_steps)
                        continue;
                    post(lane, step, at[lane].repetition());
                    posted[lane] = moved = true;
                }
                if (!through(lane, step, at[lane].repetition())) continue;
                finish(lane, step, at[lane].repetition());
                posted[lane] = false;
                moved = true;
                ++done[lane];
                at[lane].next();
            }
        }
        for (const Walk& walk : at) {
            if (!walk.done()) return false;
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
    std::vector<std::vector<bool>> heard;  ///< by rank and rank: heard of, directly or through others
    std::function<void(std::uint32_t rank, const Contributions& block)> watch;  ///< called for each received block
    std::vector<std::vector<Arrival>> received;  ///< by rank, in the order of its program
    std::uint64_t messages = 0;
    std::uint64_t bytes_sent = 0;
    std::vector<std::uint64_t> bytes_received, bytes_sent_by;  ///< by rank

private:
    struct InFlight {
        std::vector<std::uint32_t> blocks;
        Buffer value;
        std::vector<bool> heard;
        bool turns = false;  ///< its peer turns, according to its sender
    };
    /// Returns all messages that one rank has sent to another, or expected from it, so far.
    struct Wire {
        std::vector<InFlight> sent;
        std::size_t expected = 0, taken = 0;
    };

    std::uint32_t rank_of(std::uint32_t lane) const { return lane / lanes_; }
    Buffer& buffer_of(std::uint32_t lane) { return buffers[rank_of(lane) * parts_ + programs[lane].slice]; }
    Wire& wire_to(std::uint32_t lane, const Message& message, std::uint32_t repetition) {
        return wires_[{programs[lane].channel, rank_of(lane), peer_of(message, repetition, ranks_)}];
    }
    Wire& wire_from(std::uint32_t lane, const Message& message, std::uint32_t repetition) {
        return wires_[{programs[lane].channel, peer_of(message, repetition, ranks_), rank_of(lane)}];
    }

    /// Returns the numbers of a message's blocks, in its order.
    std::vector<std::uint32_t> blocks_of(std::uint32_t lane, const Message& message, std::uint32_t repetition) const {
        const std::uint32_t blocks = programs[lane].partition.blocks;
        const std::uint32_t peer = peer_of(message, repetition, ranks_);
        if (peer >= ranks_ || peer == rank_of(lane)) FAIL("no peer " << peer << " of " << rank_of(lane));
        std::vector<std::uint32_t> numbers;
        const auto add = [&](const Blocks& some) {
            if (some.block >= blocks || some.count > blocks) FAIL("no blocks " << some.block << ", " << some.count);
            for (std::uint32_t i = 0; i < some.count; ++i)
                numbers.push_back((moved(some.block, message.shift, repetition, blocks) + i) % blocks);
        };
        add({message.block, message.count});
        for (const Blocks& some : message.more) add(some);
        return numbers;
    }

    void post(std::uint32_t lane, const Step& step, std::uint32_t repetition) {
        const std::uint32_t rank = rank_of(lane);
        for (const Message& message : step.sends) {
            InFlight sent{blocks_of(lane, message, repetition), {}, heard[rank], message.turn != 0};
            for (const std::uint32_t block : sent.blocks) sent.value.push_back(buffer_of(lane)[block]);
            wire_to(lane, message, repetition).sent.push_back(std::move(sent));
            const std::uint64_t bytes = message_bytes(programs[lane].partition, message, repetition);
            ++messages;
            bytes_sent += bytes;
            bytes_sent_by[rank] += bytes;
        }
        for (const Message& message : step.receives) ++wire_from(lane, message, repetition).expected;
    }

    bool through(std::uint32_t lane, const Step& step, std::uint32_t repetition) {
        for (const Message& message : step.sends) {
            const Wire& wire = wire_to(lane, message, repetition);
            if (wire.sent.size() > wire.expected) return false;
        }
        for (const Message& message : step.receives) {
            const Wire& wire = wire_from(lane, message, repetition);
            if (wire.sent.size() < wire.expected) return false;
        }
        return true;
    }

    void finish(std::uint32_t lane, const Step& step, std::uint32_t repetition) {
        const std::uint32_t rank = rank_of(lane);
        for (const Message& message : step.receives) {
            Wire& wire = wire_from(lane, message, repetition);
            const InFlight& arrived = wire.sent[wire.taken++];
            const std::vector<std::uint32_t> blocks = blocks_of(lane, message, repetition);
            if (arrived.blocks != blocks) FAIL("two ends mean different blocks");
            if (arrived.turns != (message.turn != 0)) FAIL("the peer turns at one end only");
            received[rank].push_back(
                {peer_of(message, repetition, ranks_), blocks.front(), static_cast<std::uint32_t>(blocks.size())});
            bytes_received[rank] += message_bytes(programs[lane].partition, message, repetition);
            for (std::uint32_t r = 0; r < ranks_; ++r) heard[rank][r] = heard[rank][r] || arrived.heard[r];
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                Contributions& held = buffer_of(lane)[blocks[i]];
                if (watch) watch(rank, arrived.value[i]);
                for (std::size_t r = 0; r < held.size(); ++r)
                    held[r] = arrived.value[i][r] + (step.reduce ? held[r] : 0);
            }
        }
    }

    std::uint32_t ranks_, lanes_, parts_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Wire> wires_;  ///< by channel and ranks
};

}  // namespace syncline
