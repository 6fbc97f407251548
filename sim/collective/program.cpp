#include "sim/collective/program.hpp"

namespace syncline {

std::uint64_t message_bytes(const Partition& partition, const Message& message, std::uint32_t repetition) {
    const auto size = [&](std::uint32_t block, std::uint32_t count) {
        return partition.size(moved(block, message.shift, repetition, partition.blocks), count);
    };
    std::uint64_t bytes = size(message.block, message.count);
    for (const Blocks& blocks : message.more) bytes += size(blocks.block, blocks.count);
    return bytes;
}

std::uint64_t messages_sent(const Program& program) {
    std::uint64_t messages = 0;
    for (std::size_t first = 0; first < program.steps.size();) {
        const Step& head = program.steps[first];
        for (std::size_t i = first; i < first + head.body; ++i)
            messages += program.steps[i].sends.size() * std::uint64_t{head.repeat};
        first += head.body;
    }
    return messages;
}

}  // namespace syncline
