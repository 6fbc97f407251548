#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "sim/collective/program.hpp"

/// Protocol of the messages of one collective: costs in addition to those of the transport. NCCL's LL sends a flag with
/// every 4 bytes (low latency, half the bandwidth), LL128 8 bytes of 128, and Simple none (high latency). Source:
/// NVIDIA NCCL, src/graph/tuning.cc.
namespace syncline {

struct Protocol {
    std::string name;              ///< empty: no protocol in addition to the transport
    double launch_s = 0;           ///< before the first step, on every rank
    double inside_latency_s = 0;   ///< of every message inside a node ...
    double between_latency_s = 0;  ///< ... and between nodes, in addition to the links' and the transport's
    double bandwidth_factor = 1;   ///< payload divided by bytes on the wire: 0 < factor <= 1

    /// Returns the bytes on the wires of a message of `bytes`.
    std::uint64_t on_wires(std::uint64_t bytes) const {
        if (bandwidth_factor == 1) return bytes;
        return static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / bandwidth_factor));
    }

    bool operator==(const Protocol&) const = default;
};

/// Returns the bytes on the wires of `message` in `count` repetitions of its step together, starting with `first`.
std::uint64_t on_wires_in_repetitions(const Protocol& protocol, const Partition& partition, const Message& message,
                                      std::uint32_t first, std::uint32_t count);

}  // namespace syncline
