#include "sim/config/exchange.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/config/files.hpp"

namespace syncline::config {

void describe(Fields& fields, RankPlacement& placement) {
    int order = static_cast<int>(placement.order);
    fields.choice(
        {"placement",
         "Rank placement: on devices in order (`packed`), one rank on each node in turn (`round-robin`), in random "
         "order (`random`; see --seed), or a list with the device of each rank, numbered node by node."},
        order, {"packed", "round-robin", "random"}, &placement.devices);
    placement.order = static_cast<RankPlacement::Order>(order);
}

void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm) {
    fields.section(
        {"overlay",
         "Communication pattern (overlay) of pipelined-tree, hierarchical and gossip: a shape, the keys of a "
         "topology, its file, or the name of one in topologies/. Default: a binary tree for pipelined-tree, "
         "a directed exponential graph for gossip.",
         false, true},
        [&](Fields& inner) { describe(inner, algorithm.overlay.emplace()); });
    fields.quantity({"segment",
                     "Maximum size of the segments in which the buffer, or each block of it, is sent: `1 MiB`. Applies "
                     "to pipelined-tree, segmented-ring, ring-broadcast and double-binary-tree. Default: one segment, "
                     "and 512 KiB for double-binary-tree."},
                    algorithm.segment_bytes, Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of(
        {"peers",
         "Peers of a rank in gossip: all neighbours in every iteration (`all`), one neighbour per iteration in turn "
         "(`one`), or groups of which one rank at a time exchanges with another group (`inner-outer`: BlueFog; the "
         "overlay is hierarchical, and its innermost level gives the size of a group)."},
        algorithm.peers, {{"all", Peers::all}, {"one", Peers::one}, {"inner-outer", Peers::inner_outer}});
}

void describe(Fields& fields, Fidelity& fidelity) {
    fields.one_of({"fidelity",
                   "Level of detail: every message is simulated (`message`), repeated steps are simulated once and "
                   "extrapolated (`folded`), or they are folded only above 1,000,000 messages (`auto`)."},
                  fidelity,
                  {{"message", Fidelity::message}, {"folded", Fidelity::folded}, {"auto", Fidelity::automatic}});
}

void check_fidelity(Fields& fields, Fidelity fidelity, const Cluster& cluster) {
    if (fidelity == Fidelity::folded && cluster.native)
        fields.reject("fidelity", "folding is not possible on a platform of 'simgrid_xml'",
                      "its links may change with time, so no step is known to repeat; write `fidelity: message`");
}

void check_placement(Fields& fields, const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks) {
    if (placement.order != RankPlacement::Order::listed) return;
    const std::int64_t devices = cluster.nodes * cluster.node.devices;
    std::set<std::int64_t> taken;
    for (const std::int64_t device : placement.devices) {
        if (cluster.nodes > 0 && device >= devices)
            return fields.reject("placement", fmt::format("there is no device {}", device),
                                 fmt::format("platform '{}' has {}: 0 to {}", cluster.name, devices, devices - 1));
        if (!taken.insert(device).second)
            return fields.reject("placement", fmt::format("device {} is listed twice", device), "");
    }
    if (placement.devices.size() != static_cast<std::size_t>(ranks))
        fields.reject("placement",
                      fmt::format("'placement' lists {} devices for {} ranks", placement.devices.size(), ranks), "");
}

void check_algorithm(Fields& fields, const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes) {
    try {
        const auto members = static_cast<std::uint32_t>(ranks);
        make_algorithm(algorithm, members)->program(0, members, bytes, 0);
    } catch (const AlgorithmError& error) {
        fields.reject(error.key, error.what(), error.hint);
    }
}

void check_no_algorithm(Fields& fields) {
    for (const char* key : {"overlay", "segment", "peers", "round", "contributors", "receivers"})
        if (fields.given(key))
            fields.reject(key, fmt::format("'{}' has no effect with a parameter server", key), "remove it");
}

}  // namespace syncline::config
