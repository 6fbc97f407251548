#pragma once

#include <cstdint>
#include <vector>

/// What one member of a group does in a collective: a short list of steps.
///
/// A program works on one buffer, cut into blocks. Members of the group are numbered from 0; a peer is such a number.
/// Everything that ranks exchange is written this way and run by one replayer.
namespace syncline {

/// A buffer of `bytes` cut into `blocks` parts of nearly equal size: block i is [bytes·i/blocks, bytes·(i+1)/blocks).
/// Blocks may be empty; an empty block is sent all the same, as in MPI.
struct Partition {
    std::uint64_t bytes = 0;
    std::uint32_t blocks = 1;

    std::uint64_t offset(std::uint32_t block) const {
        // bytes·block/blocks without the product's overflow
        return bytes / blocks * block + bytes % blocks * block / blocks;
    }
    std::uint64_t size(std::uint32_t block, std::uint32_t count = 1) const {
        return offset(block + count) - offset(block);
    }
    /// ⌈bytes/blocks⌉, what closed forms count with.
    std::uint64_t largest() const { return bytes / blocks + (bytes % blocks != 0 ? 1 : 0); }
};

/// One block, or several that follow each other, to or from one peer.
struct Message {
    std::uint32_t peer = 0;
    std::uint32_t block = 0;
    std::uint32_t count = 1;  ///< of blocks; with `shift`, the blocks of one message never wrap around
};

/// Messages that start together; the step ends when all of them are through and what arrived is reduced.
struct Step {
    std::vector<Message> sends;
    std::vector<Message> receives;
    bool reduce = false;       ///< what arrives is added to what is held (γ per byte), else it replaces it
    std::uint32_t repeat = 1;  ///< the step is taken this often ...
    std::int32_t shift = 0;    ///< ... and every time all its block numbers move by this, modulo the number of blocks
};

struct Program {
    Partition partition;
    std::vector<Step> steps;
};

/// The number of block `block` in repetition `repetition` of `step`.
inline std::uint32_t shifted(std::uint32_t block, const Step& step, std::uint32_t repetition, std::uint32_t blocks) {
    const std::int64_t moved = (block + std::int64_t{step.shift} * repetition) % blocks;
    return static_cast<std::uint32_t>(moved < 0 ? moved + blocks : moved);
}

/// Messages that this member sends.
std::uint64_t messages_sent(const Program& program);

}  // namespace syncline
