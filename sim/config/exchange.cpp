#include "sim/config/exchange.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/config/files.hpp"

namespace syncline::config {

void describe(Fields& fields, RankPlacement& placement) {
    int order = static_cast<int>(placement.order);
    fields.choice({"placement",
                   "Which device each rank runs on: one after the other, one on each node and then the next, in random "
                   "order (see --seed), or a list with each rank's device, numbered node by node."},
                  order, {"packed", "round-robin", "random"}, &placement.devices);
    placement.order = static_cast<RankPlacement::Order>(order);
}

void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm) {
    fields.section({"overlay",
                    "Who exchanges with whom, in pipelined-tree, hierarchical and gossip: a topology, its name, or the "
                    "name of a file that holds it.",
                    false, true},
                   [&](Fields& inner) { describe(inner, algorithm.overlay.emplace()); });
    fields.quantity({"segment",
                     "Of pipelined-tree, segmented-ring, ring-broadcast (default: in one) and double-binary-tree "
                     "(default: 512 KiB): the buffer, or each block of it, travels in pieces of at most so many bytes: "
                     "`1 MiB`."},
                    algorithm.segment_bytes, Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of(
        {"peers",
         "Of gossip: with all neighbours in every iteration, or with one, the next one each time, or in groups "
         "of which one rank at a time speaks to another group (`inner-outer`: BlueFog; the overlay is "
         "hierarchical, and its innermost level says how large a group is)."},
        algorithm.peers, {{"all", Peers::all}, {"one", Peers::one}, {"inner-outer", Peers::inner_outer}});
}

void describe(Fields& fields, Fidelity& fidelity) {
    fields.one_of({"fidelity",
                   "Every message is simulated (`message`), or what repeats is simulated once and stands for the rest "
                   "(`folded`), or that only above 1,000,000 messages (`auto`)."},
                  fidelity,
                  {{"message", Fidelity::message}, {"folded", Fidelity::folded}, {"auto", Fidelity::automatic}});
}

void check_fidelity(Fields& fields, Fidelity fidelity, const Cluster& cluster) {
    if (fidelity == Fidelity::folded && cluster.native)
        fields.reject("fidelity", "nothing can be folded on a platform of 'simgrid_xml'",
                      "its links may change with time, so nothing is known to repeat: `fidelity: message`");
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
            return fields.reject("placement", fmt::format("device {} stands twice", device), "");
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
        if (fields.given(key)) fields.reject(key, fmt::format("'{}' is of no use to a parameter server", key), "");
}

}  // namespace syncline::config
