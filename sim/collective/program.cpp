#include "sim/collective/program.hpp"

namespace syncline {

std::uint64_t largest_bytes(const Partition& partition, const Message& message) {
    std::uint64_t bytes = partition.largest(message.count);
    for (const Blocks& blocks : message.more) bytes += partition.largest(blocks.count);
    return bytes;
}

std::uint64_t bytes_of_repetitions(const Partition& partition, const Message& message, std::uint32_t first,
                                   std::uint32_t count) {
    if (partition.even() || message.shift == 0) return count * message_bytes(partition, message, first);
    // Around a ring every block is visited in turn, which forms one piece of the buffer.
    const std::uint64_t all = std::uint64_t{count} * message.count;
    const auto stride = static_cast<std::int64_t>(message.count);
    if (message.more.empty() && all <= partition.blocks && (message.shift == stride || message.shift == -stride)) {
        const std::uint32_t lowest = message.shift > 0 ? first : first + count - 1;
        return partition.size(moved(message.block, message.shift, lowest, partition.blocks),
                              static_cast<std::uint32_t>(all));
    }
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < count; ++i) bytes += message_bytes(partition, message, first + i);
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
