#include "sim/config/exchange.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "sim/config/counts.hpp"
#include "sim/config/files.hpp"
#include "sim/config/framework.hpp"
#include "sim/training/channel_orders.hpp"
#include "sim/training/rules.hpp"

namespace syncline::config {

void describe(Fields& fields, RankPlacement& placement) {
    int order = static_cast<int>(placement.order);
    fields.choice(
        {"placement",
         "Rank placement: on devices in order (`packed`), one rank on each node in turn (`round-robin`), in random "
         "order (`random`; see --seed), or a list with the device of each rank, numbered node by node: "
         "`[0, 2, 1, 3]`."},
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
    fields.quantity(
        {"segment",
         "Maximum size of the segments in which the buffer, or each block of it, is sent: `1 MiB`. Applies "
         "to pipelined-tree, segmented-ring, ring-broadcast, hierarchical, double-binary-tree, nccl-tree and "
         "in-network. Default: one segment; 512 KiB for double-binary-tree, 32 to 512 KiB by NCCL's rule for "
         "nccl-tree, and 128 KiB for in-network."},
        algorithm.segment_bytes, Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of(
        {"peers",
         "Peers of a rank in gossip: all neighbours in every iteration (`all`), one neighbour per iteration in turn "
         "(`one`), groups of which one rank at a time exchanges with another group (`inner-outer`: BlueFog; the "
         "overlay is hierarchical, and its innermost level gives the size of a group), or the same groups, which "
         "average, exchange their averages, and broadcast (`machine`: BlueFog's hierarchical neighbour all-reduce)."},
        algorithm.peers,
        {{"all", Peers::all}, {"one", Peers::one}, {"inner-outer", Peers::inner_outer}, {"machine", Peers::machine}});
}

void describe_channels(Fields& fields, std::optional<std::int64_t>& channels) {
    std::int64_t number = automatic_channels;
    fields.integer_or_word(
        {"channels",
         "Number of parts of the buffer that are exchanged side by side, each by its own ring or tree through another "
         "port of a node, or over other links inside it: as many as there are ports and paths, fewer for small buffers "
         "(`auto`: NCCL), or a number. Applies to the all-reduces ring, segmented-ring, double-binary-tree and "
         "nccl-tree, and to the rings of reduce-scatter and allgather. Default: the transport's, or `auto`."},
        number, most_channels, "auto");
    if (fields.given("channels")) channels = number;
}

void describe(Fields& fields, Fidelity& fidelity) {
    fields.one_of({"fidelity",
                   "Level of detail: every message is simulated (`message`), what repeats is simulated once and "
                   "extrapolated (`folded`), or that is done only above 1,000,000 messages (`auto`). `averaged` is "
                   "`folded`, and ranks of a training count as alike whose routes differ in latency alone: their "
                   "messages have the mean latency, thousands of ranks take seconds, and the error has no bound."},
                  fidelity,
                  {{"message", Fidelity::message},
                   {"folded", Fidelity::folded},
                   {"averaged", Fidelity::averaged},
                   {"auto", Fidelity::automatic}});
}

void report(Fields& fields, const Complaints& complaints) {
    for (const Complaint& complaint : complaints) {
        std::string place = complaint.key;
        if (!fields.given(place) && !complaint.otherwise.empty()) place = complaint.otherwise;
        if (!fields.given(place))
            if (std::string inherited = place_in_framework(fields, complaint.key); !inherited.empty())
                place = std::move(inherited);
        fields.reject(place, complaint.message, complaint.hint);
    }
}

std::vector<std::string> written_keys(const Fields& fields) {
    std::vector<std::string> keys = keys_asked();
    std::erase_if(keys, [&](const std::string& key) { return !fields.given(key); });
    return keys;
}

}  // namespace syncline::config
