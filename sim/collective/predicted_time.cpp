#include "sim/collective/predicted_time.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace syncline {

namespace {

bool is_tree(const std::string& operation, const std::string& algorithm) {
    return operation == "allreduce" && (algorithm == "nccl-tree" || algorithm == "double-binary-tree");
}

double narrowest_Bps(const Terrain& terrain) {
    if (terrain.nodes == 1) return terrain.inside_Bps;
    if (terrain.nodes == terrain.ranks) return terrain.between_Bps;
    return std::min(terrain.inside_Bps, terrain.between_Bps);
}

}  // namespace

bool is_predictable(const std::string& operation, const std::string& algorithm) {
    const bool ringed = operation == "allreduce" || operation == "reduce-scatter" || operation == "allgather";
    return (ringed && algorithm == "ring") || is_tree(operation, algorithm);
}

double predicted_time_s(const std::string& operation, const std::string& algorithm, const Protocol& protocol,
                        std::uint64_t bytes, const Terrain& terrain) {
    if (!is_predictable(operation, algorithm)) throw std::logic_error("no prediction for " + algorithm);
    if (terrain.ranks <= 1) return protocol.launch_s;
    const double ranks = terrain.ranks, nodes = terrain.nodes;
    double bus_Bps = protocol.bandwidth_factor * narrowest_Bps(terrain);
    const auto size = static_cast<double>(bytes);
    if (is_tree(operation, algorithm)) {
        // Between two nodes each tree sends up in one direction and down in the other.
        if (nodes == 2 && terrain.ranks > 2)
            bus_Bps = protocol.bandwidth_factor * std::min(terrain.inside_Bps, 2 * terrain.between_Bps);
        const double down = terrain.ranks / terrain.nodes - 1;  // integer division, as in NCCL
        const double levels = std::bit_width(terrain.nodes) - 1;
        return protocol.launch_s + 2 * (down * protocol.inside_latency_s + levels * protocol.between_latency_s) +
               size / (bus_Bps / 2);
    }
    const double rounds = operation == "allreduce" ? 2 : 1;
    const double steps = rounds * (ranks - 1), between = rounds * (nodes - 1);
    return protocol.launch_s + (steps - between) * protocol.inside_latency_s + between * protocol.between_latency_s +
           size / (bus_Bps * ranks / steps);
}

}  // namespace syncline
