#include "sim/analysis/fidelity_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

/// Returns whether routes depend on the load: the policy is adaptive, and some route has an alternative.
bool adapts(const Cluster& cluster, std::uint32_t nodes) {
    if (!depends_on_load(policy_of(cluster.fabric))) return false;
    return Wiring(cluster, std::max(nodes, static_cast<std::uint32_t>(cluster.fabric_nodes()))).adapts();
}

bool reduces_in_network(const TaskGraph& graph) {
    return std::any_of(graph.processes().begin(), graph.processes().end(),
                       [](const Process& process) { return process.place.in_fabric(); });
}

}  // namespace

FidelityChoice choose_fidelity(Fidelity asked, const Cluster& cluster, std::uint32_t nodes, std::uint64_t messages,
                               bool recorded) {
    if (asked == Fidelity::message) return {asked, false, ""};
    if (recorded) return {asked, false, "every message is recorded"};
    if (cluster.native) return {asked, false, "links of a SimGrid platform file may change with time"};
    if (!cluster.faults.empty()) return {asked, false, "parts of the platform have faults for a time"};
    if (cluster.transport.has_protocols()) return {asked, false, "messages are eager or wait for a handshake"};
    if (adapts(cluster, nodes)) return {asked, false, "routes depend on the other messages in flight"};
    if (always_folds(asked)) return {asked, true, ""};
    const bool many = messages > many_messages;
    return {asked, many,
            fmt::format("{} messages are {} than {}", messages, many ? "more" : "not more", many_messages)};
}

FidelityChoice choose_fidelity(Fidelity asked, const Cluster& cluster, const TaskGraph& graph, bool recorded) {
    if (asked != Fidelity::message && graph.lateness().varies()) return {asked, false, "latencies of messages vary"};
    if (asked != Fidelity::message && reduces_in_network(graph))
        return {asked, false, "switches take part, whose steps are not those of ranks"};
    std::uint32_t nodes = 0;
    for (const Process& process : graph.processes()) nodes = std::max(nodes, process.place.node + 1);
    return choose_fidelity(asked, cluster, nodes, asked == Fidelity::automatic ? count_messages(graph) : 0, recorded);
}

Folded folded_of(FidelityChoice choice, const Timeline& timeline) {
    return {std::move(choice),          timeline.messages - timeline.messages_folded,
            timeline.messages_folded,   timeline.folding_error_s,
            timeline.iterations_folded, timeline.images,
            timeline.uneven_s};
}

}  // namespace syncline
