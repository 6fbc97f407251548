#include "sim/config/keys.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "sim/collective/msccl_schedule.hpp"
#include "sim/config/counts.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/framework_keys.hpp"
#include "sim/lowering/channel_orders.hpp"
#include "sim/lowering/rules.hpp"

namespace syncline::config {

void describe(Fields& fields, RankPlacement& placement) {
    int order = static_cast<int>(placement.order);
    fields.choice({"placement",
                   "Rank placement on devices: in order (`packed`), one per node in turn (`round-robin`), `random` "
                   "(see --seed), or a list of devices, numbered node by node: `[0, 2, 1, 3]`."},
                  order, {"packed", "round-robin", "random"}, &placement.devices);
    placement.order = static_cast<RankPlacement::Order>(order);
}

void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm) {
    fields.section({"overlay",
                    "Overlay of pipelined-tree, hierarchical and gossip: a shape, a topology's keys, file or name in "
                    "topologies/. Default: a binary tree; in gossip a directed exponential graph.",
                    false, true},
                   [&](Fields& inner) { describe(inner, algorithm.overlay.emplace()); });
    fields.quantity({"segment",
                     "Maximum segment size in trees, segmented-ring, ring-broadcast, hierarchical, in-network, msccl: "
                     "`1 MiB`. Default: one; double-binary-tree 512, nccl-tree 32 to 512, in-network 128 KiB."},
                    algorithm.segment_bytes, Dimension::bytes, {.word = "none", .least = 1});
    fields.one_of(
        {"peers",
         "Peers of a rank in gossip: `all` neighbours, `one` per iteration in turn, or, with the innermost level of a "
         "hierarchical overlay as groups, `inner-outer` or `machine` (BlueFog)."},
        algorithm.peers,
        {{"all", Peers::all}, {"one", Peers::one}, {"inner-outer", Peers::inner_outer}, {"machine", Peers::machine}});
}

void describe_schedule(Fields& fields, AlgorithmSpec& algorithm) {
    fields.file({"msccl",
                 "Schedule of the exchange in the XML of Microsoft's MSCCL, `<algo ...>`, in place of `algorithm`: the "
                 "name of its file."},
                [&](const std::string& path, const std::string& text, const Fields::Beside&) {
                    algorithm.schedule = read_msccl(path, text);
                    algorithm.name = scheduled;
                    algorithm.named = true;
                });
    if (!algorithm.schedule) return;
    if (fields.given("algorithm"))
        fields.reject("algorithm", "'algorithm' and 'msccl' exclude each other", "remove one of the two");
    if (algorithm.schedule->operation != algorithm.operation)
        fields.reject(
            "msccl",
            fmt::format("the file has steps of {}, not of {}", algorithm.schedule->operation, algorithm.operation), "");
}

void describe_channels(Fields& fields, std::optional<std::int64_t>& channels) {
    std::int64_t number = automatic_channels;
    fields.integer_or_word(
        {"channels",
         "Number of NCCL-style channels (parallel rings or trees), or `auto`: one per port and path. Applies to rings, "
         "double-binary-tree, nccl-tree and pat. Default: the transport's, or `auto`."},
        number, most_channels, "auto");
    if (fields.given("channels")) channels = number;
}

void describe(Fields& fields, Fidelity& fidelity) {
    fields.one_of({"fidelity",
                   "Level of detail: every message (`message`), repetition simulated once (`folded`), folded above "
                   "1,000,000 messages (`auto`), or folded with averaged latencies (`averaged`)."},
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
