#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "sim/collective/protocol.hpp"

/// The time that NCCL predicts for a collective before it runs, as the criterion for algorithm and protocol: t =
/// latency + S/bandwidth for N ranks on M nodes and a buffer of S bytes. Ring: latency = launch + (n-i)·inside +
/// i·between, with n = 2(N-1) steps of an all-reduce and N-1 of a reduce-scatter or an allgather, i = 2(M-1) or M-1 of
/// them between nodes; bandwidth = f·B·N/n. Double binary tree (all-reduce): latency = launch + 2((⌊N/M⌋-1)·inside +
/// ⌊lg M⌋·between), bandwidth = f·B/2. B (bytes per second) is the narrowest link's times the number of channels that
/// have such a link each; for trees on two nodes that of the links inside, but at most twice that between. launch,
/// inside, between (seconds) and f are the protocol's. Source: NVIDIA NCCL 2.28, src/graph/tuning.cc, ncclTopoTuneModel
/// and ncclTopoGetAlgoTime.
///
/// Left out: caps of bandwidth by channel and GPU generation, the table that corrects trees of medium size, the plateau
/// of rings, the CPU's overhead of posting, the trees' latency for rings with one rank per node.
namespace syncline {

/// Properties of the machine that a prediction depends on.
struct Terrain {
    std::uint32_t ranks = 1;
    std::uint32_t nodes = 1;  ///< nodes that have a rank
    /// Bandwidth of the narrowest link between ranks of a node, and between nodes, of all channels together.
    double inside_Bps = std::numeric_limits<double>::infinity();
    double between_Bps = std::numeric_limits<double>::infinity();
};

/// Returns true if there is a prediction for this algorithm of this operation.
bool is_predictable(const std::string& operation, const std::string& algorithm);

/// Returns the predicted time in seconds. Throws std::logic_error if there is no prediction.
double predicted_time_s(const std::string& operation, const std::string& algorithm, const Protocol& protocol,
                        std::uint64_t bytes, const Terrain& terrain);

}  // namespace syncline
