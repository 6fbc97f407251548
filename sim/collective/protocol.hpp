#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "sim/collective/program.hpp"

/// Protocol of the messages of one collective, whose launch and latencies replace those of the transport. NCCL's LL
/// sends a flag with every 4 bytes (low latency, half the bandwidth), LL128 8 bytes of 128, and Simple none (high
/// latency). Source: NVIDIA NCCL, src/graph/tuning.cc.
namespace syncline {

/// The protocol of an exchange of a certain size among certain ranks: see ProtocolTerms::of().
struct Protocol {
    std::string name;              ///< empty: none, the transport's launch and latencies apply
    double launch_s = 0;           ///< before the first step, on every rank
    double inside_latency_s = 0;   ///< of every message inside a node ...
    double between_latency_s = 0;  ///< ... and between nodes, in addition to the links'
    /// Data divided by bytes on the wires, inside a node and between nodes: 0 < factor <= 1.
    double inside_factor = 1, between_factor = 1;

    bool replaces_transport() const { return !name.empty(); }
    double factor(bool inside) const { return inside ? inside_factor : between_factor; }
    double latency_s(bool inside) const { return inside ? inside_latency_s : between_latency_s; }

    bool operator==(const Protocol&) const = default;
};

/// Returns the bytes on the wires of a message of `bytes`, of which `factor` is data.
inline std::uint64_t on_wires(std::uint64_t bytes, double factor) {
    if (factor == 1) return bytes;
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / factor));
}

/// Returns the bytes on the wires of `message` in `count` repetitions of its step together, starting with `first`.
std::uint64_t on_wires_in_repetitions(double factor, const Partition& partition, const Message& message,
                                      std::uint32_t first, std::uint32_t count);

}  // namespace syncline
