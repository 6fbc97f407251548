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
///
/// With `filled`, only the first so many blocks share the bytes and all others are empty: a buffer to which fewer ranks
/// contribute than there are blocks.
struct Partition {
    std::uint64_t bytes = 0;
    std::uint32_t blocks = 1;
    std::uint32_t filled = 0;  ///< 0: all of them

    std::uint64_t offset(std::uint32_t block) const {
        const std::uint32_t parts = shared();
        if (block >= parts) return bytes;
        // bytes·block/parts without the product's overflow
        return bytes / parts * block + bytes % parts * block / parts;
    }
    /// Of `count` ≤ blocks that follow each other; block 0 follows the last one.
    std::uint64_t size(std::uint32_t block, std::uint32_t count = 1) const {
        const std::uint32_t end = block + count;
        if (end <= blocks) return offset(end) - offset(block);
        return bytes - offset(block) + offset(end - blocks);
    }
    /// The size of the largest block, or of the largest `count` that follow each other: what closed forms count with.
    /// Any other ones are smaller by at most a byte, unless some are not filled.
    std::uint64_t largest(std::uint32_t count = 1) const {
        const std::uint64_t parts = shared(), some = count < parts ? count : parts;
        return bytes / parts * some + (bytes % parts * some + parts - 1) / parts;
    }

    /// Whether all blocks have the same size.
    bool even() const { return shared() == blocks && bytes % blocks == 0; }

private:
    std::uint32_t shared() const { return filled == 0 ? blocks : filled; }
};

/// Blocks that follow each other, around the end to block 0.
struct Blocks {
    std::uint32_t block = 0;
    std::uint32_t count = 1;
};

/// One block, or several, to or from one peer. In a step that is repeated both may be others every time: `shift` and
/// `turn` say by how much their numbers move, modulo the number of blocks and that of members. A message whose peer
/// turns does so at both its ends.
struct Message {
    std::uint32_t peer = 0;
    std::uint32_t block = 0;
    std::uint32_t count = 1;        ///< of blocks that follow each other, around the end to block 0
    std::int32_t shift = 0;         ///< of all its blocks, with every repetition
    std::int32_t turn = 0;          ///< of its peer, likewise
    std::vector<Blocks> more = {};  ///< further ones in the same message; their order is that of both ends
};

/// Messages that start together; the step ends when all of them are through and what arrived is reduced.
struct Step {
    std::vector<Message> sends;
    std::vector<Message> receives;
    bool reduce = false;       ///< what arrives is added to what is held (γ per byte), else it replaces it
    std::uint32_t repeat = 1;  ///< the step is taken this often
    /// The step and the body-1 behind it are taken in turn, `repeat` times all of them; the `repeat` of those behind is
    /// that of the first.
    std::uint32_t body = 1;
};

struct Program {
    Partition partition;
    std::vector<Step> steps;
};

/// What `number` is in repetition `repetition` of a step if it moves by `by` every time, modulo `size`.
inline std::uint32_t moved(std::uint32_t number, std::int32_t by, std::uint32_t repetition, std::uint32_t size) {
    const std::int64_t sum = (number + std::int64_t{by} * repetition) % size;
    return static_cast<std::uint32_t>(sum < 0 ? sum + size : sum);
}

/// The peer of `message` in repetition `repetition` of its step, in a group of `members`.
inline std::uint32_t peer_of(const Message& message, std::uint32_t repetition, std::uint32_t members) {
    return message.turn == 0 ? message.peer : moved(message.peer, message.turn, repetition, members);
}

/// Bytes of `message` in repetition `repetition` of its step.
std::uint64_t message_bytes(const Partition& partition, const Message& message, std::uint32_t repetition);

/// The same as it would be if all blocks were as large as the largest.
std::uint64_t largest_bytes(const Partition& partition, const Message& message);

/// Bytes of `message` in `count` repetitions of its step together, from the `first` on.
std::uint64_t bytes_of_repetitions(const Partition& partition, const Message& message, std::uint32_t first,
                                   std::uint32_t count);

/// Where a member is in its program: goes through every step as often as it is taken. The program outlives it.
class Walk {
public:
    explicit Walk(const Program& program) : program_(&program) {}

    bool done() const { return step_ == program_->steps.size(); }
    std::uint32_t number() const { return step_; }  ///< of the step, in the program
    std::uint32_t repetition() const { return repetition_; }
    const Step& step() const { return program_->steps[step_]; }
    /// Repetitions of this step that follow each other from here on: more than one where nothing stands between them.
    std::uint32_t in_a_row() const { return step().body == 1 && step_ == head_ ? step().repeat - repetition_ : 1; }
    /// Behind so many of these.
    void skip(std::uint32_t repetitions) {
        if (repetitions > 1) repetition_ += repetitions - 1;
        next();
    }
    void next() {
        const Step& head = program_->steps[head_];
        if (++step_ < head_ + head.body) return;
        if (++repetition_ < head.repeat) {
            step_ = head_;
        } else {
            head_ = step_;
            repetition_ = 0;
        }
    }

private:
    const Program* program_;
    std::uint32_t head_ = 0, step_ = 0, repetition_ = 0;
};

/// Messages that this member sends.
std::uint64_t messages_sent(const Program& program);

}  // namespace syncline
