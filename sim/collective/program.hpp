#pragma once

#include <cstdint>
#include <vector>

/// Program of one member of a group in a collective: a short list of steps on one buffer, cut into blocks. Members of
/// the group are numbered from 0; a peer is such a number.
namespace syncline {

/// A buffer of `bytes` cut into `blocks` parts: block i is [bytes·i/blocks, bytes·(i+1)/blocks). Empty blocks are still
/// sent, as in MPI. With `filled`, only this number of first blocks share the bytes.
struct Partition {
    std::uint64_t bytes = 0;
    std::uint32_t blocks = 1;
    std::uint32_t filled = 0;  ///< 0: all

    std::uint64_t offset(std::uint32_t block) const {
        const std::uint32_t parts = shared();
        if (block >= parts) return bytes;
        // bytes·block/parts without the product's overflow
        return bytes / parts * block + bytes % parts * block / parts;
    }
    /// Returns the size of `count` ≤ blocks consecutive blocks; block 0 follows the last one.
    std::uint64_t size(std::uint32_t block, std::uint32_t count = 1) const {
        const std::uint32_t end = block + count;
        if (end <= blocks) return offset(end) - offset(block);
        return bytes - offset(block) + offset(end - blocks);
    }
    /// Returns the size of the largest block, or of the largest `count` consecutive blocks, as used in closed forms.
    /// All others are smaller by at most a byte, unless some are not filled.
    std::uint64_t largest(std::uint32_t count = 1) const {
        const std::uint64_t parts = shared(), some = count < parts ? count : parts;
        return bytes / parts * some + (bytes % parts * some + parts - 1) / parts;
    }

    /// Returns true if all blocks have the same size.
    bool even() const { return shared() == blocks && bytes % blocks == 0; }

private:
    std::uint32_t shared() const { return filled == 0 ? blocks : filled; }
};

/// Consecutive blocks; block 0 follows the last one.
struct Blocks {
    std::uint32_t block = 0;
    std::uint32_t count = 1;
};

/// One or several blocks, to or from one peer. In a step that is repeated both may change each time: `shift` and `turn`
/// say by how much their numbers move, modulo the number of blocks and of members. If a message's peer turns, it turns
/// at both ends.
struct Message {
    std::uint32_t peer = 0;
    std::uint32_t block = 0;
    std::uint32_t count = 1;        ///< of consecutive blocks; block 0 follows the last one
    std::int32_t shift = 0;         ///< of all its blocks, per repetition
    std::int32_t turn = 0;          ///< of its peer, per repetition
    std::vector<Blocks> more = {};  ///< further blocks in the same message, in the same order at both ends
};

/// Messages that start together. The step ends when those sent have left (or, if latency blocks, are delivered), and
/// those received are there and reduced.
struct Step {
    static constexpr std::uint32_t no_lane = ~std::uint32_t{0};

    std::vector<Message> sends;
    std::vector<Message> receives;
    bool reduce = false;       ///< received data is added to the buffer (γ per byte), otherwise it replaces it
    std::uint32_t repeat = 1;  ///< number of times that the step is executed
    /// This step and the following body-1 steps form a loop body that is executed `repeat` times; the `repeat` of the
    /// following ones equals that of the first.
    std::uint32_t body = 1;
    /// The step begins when this lane of the same member has done so many steps, repetitions included.
    std::uint32_t after_lane = no_lane, after_steps = 0;
    std::uint32_t adds = 0;  ///< blocks of the largest size that the member adds to others of its own (γ per byte)
};

struct Program {
    Partition partition;
    std::vector<Step> steps;
    std::uint64_t offset = 0;   ///< of the partition in the buffer, in bytes
    std::uint32_t slice = 0;    ///< number of this slice of the buffer, and channel of the messages: see
    std::uint32_t channel = 0;  ///< CollectiveAlgorithm::lanes()
};

/// Returns the value of `number` in repetition `repetition` of a step if it moves by `by` each time, modulo `size`.
inline std::uint32_t moved(std::uint32_t number, std::int32_t by, std::uint32_t repetition, std::uint32_t size) {
    const std::int64_t sum = (number + std::int64_t{by} * repetition) % size;
    return static_cast<std::uint32_t>(sum < 0 ? sum + size : sum);
}

/// Returns the peer of `message` in repetition `repetition` of its step, in a group of `members`.
inline std::uint32_t peer_of(const Message& message, std::uint32_t repetition, std::uint32_t members) {
    return message.turn == 0 ? message.peer : moved(message.peer, message.turn, repetition, members);
}

/// Returns the bytes of `message` in repetition `repetition` of its step.
inline std::uint64_t message_bytes(const Partition& partition, const Message& message, std::uint32_t repetition) {
    const auto size = [&](std::uint32_t block, std::uint32_t count) {
        return partition.size(moved(block, message.shift, repetition, partition.blocks), count);
    };
    std::uint64_t bytes = size(message.block, message.count);
    for (const Blocks& blocks : message.more) bytes += size(blocks.block, blocks.count);
    return bytes;
}

/// Returns the bytes that `message` would have if all blocks were as large as the largest.
std::uint64_t largest_bytes(const Partition& partition, const Message& message);

/// Returns the bytes of `message` in `count` repetitions of its step together, starting with `first`.
std::uint64_t bytes_of_repetitions(const Partition& partition, const Message& message, std::uint32_t first,
                                   std::uint32_t count);

/// Position of a member in its program: visits every step as often as it is executed. The program must outlive it.
class Walk {
public:
    explicit Walk(const Program& program) : program_(&program) {}
    bool operator==(const Walk&) const = default;

    bool done() const { return step_ == program_->steps.size(); }
    std::uint32_t number() const { return step_; }  ///< of the step, in the program
    std::uint32_t repetition() const { return repetition_; }
    const Step& step() const { return program_->steps[step_]; }
    /// Returns the number of repetitions of this step that follow from here without another step in between.
    std::uint32_t in_a_row() const { return step().body == 1 && step_ == head_ ? step().repeat - repetition_ : 1; }
    /// Skips this number of them.
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

/// Counts the messages that this member sends.
std::uint64_t messages_sent(const Program& program);

}  // namespace syncline
