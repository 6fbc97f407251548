#include "sim/collective/protocol.hpp"

namespace syncline {

std::uint64_t on_wires_in_repetitions(double factor, const Partition& partition, const Message& message,
                                      std::uint32_t first, std::uint32_t count) {
    if (factor == 1) return bytes_of_repetitions(partition, message, first, count);
    if (message.more.empty() && partition.filled == 0) {
        // Each message has the bytes of the largest or one byte less.
        const std::uint64_t bytes = bytes_of_repetitions(partition, message, first, count);
        const std::uint64_t most = partition.largest(message.count), fewer = most * count - bytes;
        return (count - fewer) * on_wires(most, factor) + (fewer == 0 ? 0 : fewer * on_wires(most - 1, factor));
    }
    std::uint64_t sum = 0;
    for (std::uint32_t i = first; i < first + count; ++i) sum += on_wires(message_bytes(partition, message, i), factor);
    return sum;
}

}  // namespace syncline
