#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "sim/collective/protocol.hpp"

/// The time of a collective as its library predicts it before it runs, which is the criterion for algorithm and
/// protocol: latency + S/bandwidth for a buffer of S bytes, N ranks, M nodes and h = N/M ranks of a node.
///
///   ring                  launch + (n - i)·inside + i·between + S·n/N/B, with n = 2(N-1) steps of an all-reduce and
///                         N-1 of a reduce-scatter or an allgather, i = 2(M-1) or M-1 of them between nodes
///   nccl-tree             launch + 2((⌊h⌋-1)·inside + ⌊lg M⌋·between) + S/(B/2)
///   pat                   launch + ⌊lg M⌋·between + S/B, for h = 1
///   in-network            in a node: launch + inside + S(1 + 1/N)/B_in; among nodes see nvls.hpp
///   direct (all-to-all)   launch + latency + max(S(h-1)/N/B_in, S(N-h)/N·h/B_out)
///
/// B_in and B_out (bytes per second) are the narrowest link's inside a node and between nodes, times the number of
/// channels that have such a link each; B is the lesser of the two. For trees on two nodes B is the lesser of B_in and
/// 2·B_out, since each tree sends up in one direction. launch, inside, between and the data's shares of the bandwidths
/// are the protocol's. Source: NVIDIA NCCL 2.28, src/graph/tuning.cc, ncclTopoTuneModel and ncclTopoGetAlgoTime.
///
/// Left out: the table that corrects trees of medium size, the plateau of rings, the CPU's overhead of posting, the
/// trees' latency for rings with one rank per node, which is a row's.
namespace syncline {

/// Properties of the machine that a prediction depends on.
struct Terrain {
    std::uint32_t ranks = 1;
    std::uint32_t nodes = 1;  ///< nodes that have a rank
    /// Bandwidth of the narrowest link between ranks of a node, and between nodes, of all channels together: of data,
    /// without packets' headers.
    double inside_Bps = std::numeric_limits<double>::infinity();
    double between_Bps = std::numeric_limits<double>::infinity();
};

/// Costs of a protocol, of which follow those of an exchange of a certain size.
struct ProtocolTerms {
    std::string name;              ///< empty: no protocol, the transport's own costs
    double launch_s = 0;           ///< before the first step, on every rank
    double inside_latency_s = 0;   ///< of every message inside a node ...
    double between_latency_s = 0;  ///< ... and between nodes, in addition to the links'
    double bandwidth_factor = 1;   ///< data divided by what is sent, flags included: 0 < factor <= 1
    /// Maximum rate of data on a rank's links inside its node, and of a node, of all channels together.
    double inside_Bps = std::numeric_limits<double>::infinity();
    double between_Bps = std::numeric_limits<double>::infinity();
    /// Rate of the copy of one N-th of the buffer, which ends the exchange.
    double copy_Bps = std::numeric_limits<double>::infinity();
    /// In-network reductions inside a node take this time for each round of chunks, one per channel and rank, whose
    /// size is nvls_chunk_bytes(); 0: no such rounds.
    double chunk_latency_s = 0;
    std::uint32_t channels = 1;
    double launch_per_rank_s = 0;  ///< for each rank of the group, in addition to launch_s

    /// Returns the protocol of an exchange of `bytes`. Each factor is the share of the links' time in which they carry
    /// data: that of bandwidth_factor, or less where a maximum rate or chunks limit it.
    Protocol of(const std::string& operation, const std::string& algorithm, std::uint64_t bytes,
                const Terrain& terrain) const;
};

/// Returns true if there is a prediction for this algorithm of this operation.
bool is_predictable(const std::string& operation, const std::string& algorithm);

/// Returns the predicted time in seconds. Throws std::logic_error if there is no prediction.
double predicted_time_s(const std::string& operation, const std::string& algorithm, const Protocol& protocol,
                        std::uint64_t bytes, const Terrain& terrain);

}  // namespace syncline
