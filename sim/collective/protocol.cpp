#include "sim/collective/protocol.hpp"

namespace syncline {

std::uint64_t on_wires_in_repetitions(const Protocol& protocol, const Partition& partition, const Message& message,
                                      std::uint32_t first, std::uint32_t count) {
    if (protocol.bandwidth_factor == 1) return bytes_of_repetitions(partition, message, first, count);
    if (message.more.empty() && partition.filled == 0) {
        // Each message has the bytes of the largest or one byte less.
        const std::uint64_t bytes = bytes_of_repetitions(partition, message, first, count);
        const std::uint64_t most = partition.largest(message.count), fewer = most * count - bytes;
        return (count - fewer) * protocol.on_wires(most) + (fewer == 0 ? 0 : fewer * protocol.on_wires(most - 1));
    }
    std::uint64_t sum = 0;
    for (std::uint32_t i = first; i < first + count; ++i)
        sum += protocol.on_wires(message_bytes(partition, message, i));
    return sum;
}

}  // namespace syncline
