#include "sim/collective/predicted_time.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/nvls.hpp"

namespace syncline {

namespace {

bool is_tree(const std::string& operation, const std::string& algorithm) {
    return operation == "allreduce" && (algorithm == "nccl-tree" || algorithm == "double-binary-tree");
}

bool is_pat(const std::string& operation, const std::string& algorithm) {
    return (operation == "reduce-scatter" || operation == "allgather") && algorithm == "pat";
}

bool is_direct(const std::string& operation, const std::string& algorithm) {
    return operation == "all-to-all" && algorithm == "direct";
}

/// Returns the rate of the narrowest link of a chain of all ranks, and of the fewest bytes at most twice those between
/// nodes if `twice`.
double narrowest_Bps(const Terrain& terrain, const Protocol& protocol, bool twice) {
    const double inside_Bps = terrain.inside_Bps * protocol.inside_factor;
    const double between_Bps = terrain.between_Bps * protocol.between_factor * (twice ? 2 : 1);
    if (terrain.nodes == 1) return inside_Bps;
    if (terrain.nodes == terrain.ranks && !twice) return between_Bps;
    return std::min(inside_Bps, between_Bps);
}

/// Returns the share of data if the rate of data may be at most `most_Bps`.
double share(double factor, double link_Bps, double most_Bps) {
    return std::isinf(link_Bps) || factor * link_Bps <= most_Bps ? factor : most_Bps / link_Bps;
}

}  // namespace

Protocol ProtocolTerms::of(const std::string& operation, const std::string& algorithm, std::uint64_t bytes,
                           const Terrain& terrain) const {
    Protocol protocol{name, launch_s, inside_latency_s, between_latency_s, bandwidth_factor, bandwidth_factor};
    protocol.inside_factor = share(bandwidth_factor, terrain.inside_Bps, inside_Bps);
    protocol.between_factor = share(bandwidth_factor, terrain.between_Bps, between_Bps);
    protocol.launch_s += terrain.ranks * launch_per_rank_s;
    protocol.launch_s += static_cast<double>(bytes) / terrain.ranks / copy_Bps;
    const std::uint32_t heads = terrain.ranks / terrain.nodes;
    if (operation == "allreduce" && algorithm == in_network_allreduce && chunk_latency_s > 0 && heads > 1 &&
        !std::isinf(terrain.inside_Bps) && bytes > 0) {
        const auto size = static_cast<double>(bytes);
        const double rounds = size / (channels * static_cast<double>(heads) * nvls_chunk_bytes(bytes, heads, channels));
        const double data_s = static_cast<double>(nvls_load(bytes, heads)) / terrain.inside_Bps;
        protocol.inside_factor = data_s / (data_s / protocol.inside_factor + rounds * chunk_latency_s);
    }
    return protocol;
}

bool is_predictable(const std::string& operation, const std::string& algorithm) {
    const bool ringed = operation == "allreduce" || operation == "reduce-scatter" || operation == "allgather";
    return (ringed && algorithm == "ring") || is_pat(operation, algorithm) || is_tree(operation, algorithm) ||
           is_direct(operation, algorithm) || (operation == "allreduce" && algorithm == in_network_allreduce);
}

double predicted_time_s(const std::string& operation, const std::string& algorithm, const Protocol& protocol,
                        std::uint64_t bytes, const Terrain& terrain) {
    if (!is_predictable(operation, algorithm)) throw std::logic_error("no prediction for " + algorithm);
    if (terrain.ranks <= 1) return protocol.launch_s;
    const double ranks = terrain.ranks, nodes = terrain.nodes;
    const double inside_Bps = terrain.inside_Bps * protocol.inside_factor,
                 between_Bps = terrain.between_Bps * protocol.between_factor;
    const double levels = std::bit_width(terrain.nodes) - 1;
    const auto size = static_cast<double>(bytes);
    if (is_tree(operation, algorithm)) {
        // Between two nodes each tree sends up in one direction and down in the other.
        const double bus_Bps = narrowest_Bps(terrain, protocol, nodes == 2 && terrain.ranks > 2);
        const double down = terrain.ranks / terrain.nodes - 1;  // integer division, as in NCCL
        return protocol.launch_s + 2 * (down * protocol.inside_latency_s + levels * protocol.between_latency_s) +
               size / (bus_Bps / 2);
    }
    if (operation == "allreduce" && algorithm == in_network_allreduce) {
        const double heads = terrain.ranks / terrain.nodes, times = nodes == 2 ? 1 : 2;
        const double inside_s = heads > 1 ? protocol.inside_latency_s : 0;
        const double data_s =
            heads > 1 ? static_cast<double>(nvls_load(bytes, terrain.ranks / terrain.nodes)) / inside_Bps : 0;
        if (nodes == 1) return protocol.launch_s + inside_s + data_s;
        return protocol.launch_s + inside_s + 2 * levels * protocol.between_latency_s +
               std::max(data_s, times * size / between_Bps);
    }
    if (is_pat(operation, algorithm))
        return protocol.launch_s + levels * protocol.between_latency_s + size / narrowest_Bps(terrain, protocol, false);
    if (is_direct(operation, algorithm)) {
        const double here = ranks / nodes;
        const double inside_s = here > 1 ? size * (here - 1) / ranks / inside_Bps : 0;
        const double between_s = nodes > 1 ? size * (ranks - here) / ranks * here / between_Bps : 0;
        return protocol.launch_s + (nodes > 1 ? protocol.between_latency_s : protocol.inside_latency_s) +
               std::max(inside_s, between_s);
    }
    const double rounds = operation == "allreduce" ? 2 : 1;
    const double steps = rounds * (ranks - 1), between = rounds * (nodes - 1);
    return protocol.launch_s + (steps - between) * protocol.inside_latency_s + between * protocol.between_latency_s +
           size / (narrowest_Bps(terrain, protocol, false) * ranks / steps);
}

}  // namespace syncline
