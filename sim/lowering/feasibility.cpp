#include "sim/lowering/feasibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/counted.hpp"
#include "sim/base/units.hpp"
#include "sim/lowering/feasibility_parts.hpp"
#include "sim/lowering/rules.hpp"
#include "sim/lowering/switches.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline {

namespace {

void judge_placement(const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks,
                     Complaints& complaints) {
    if (placement.order != RankPlacement::Order::listed) return;
    const std::int64_t devices = cluster.nodes * cluster.node.devices;
    std::set<std::int64_t> taken;
    for (const std::int64_t device : placement.devices) {
        if (cluster.nodes > 0 && device >= devices)
            return complaints.push_back(
                {"placement", fmt::format("there is no device {}", device),
                 fmt::format("platform '{}' has {}: 0 to {}", cluster.name, devices, devices - 1)});
        if (!taken.insert(device).second)
            return complaints.push_back({"placement", fmt::format("device {} is listed twice", device), ""});
    }
    if (std::ssize(placement.devices) != ranks)
        complaints.push_back({"placement",
                              fmt::format("'placement' lists {} devices for {} ranks", placement.devices.size(), ranks),
                              ""});
}

bool fabric_has(const Cluster& cluster, std::int64_t nodes) {
    try {
        make_topology(cluster.fabric.topology, Use::fabric, nodes * cluster.node.nics);
        return true;
    } catch (const TopologyError&) {
        return false;
    }
}

/// Says how `nodes` nodes, of which `servers` are for servers, could be had.
std::string hint_for_nodes(const Cluster& cluster, std::int64_t nodes, std::int64_t servers) {
    std::string hint = cluster.native               ? "use fewer ranks; its file has no more hosts"
                       : fabric_has(cluster, nodes) ? fmt::format("`--set platform.nodes={}` makes it larger",
                                                                  nodes - cluster.nodes + cluster.own_nodes())
                                                    : "use fewer ranks; its fabric has no more hosts";
    if (servers > 0) hint += "; `--set training.servers.location=colocated` needs no nodes for servers alone";
    return hint;
}

/// Complains if rails without spines leave some places without a way between them.
void judge_rails(const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks, bool served,
                 Complaints& complaints) {
    if (cluster.native || !has_separate_rails(cluster.fabric.topology)) return;
    if (served)
        complaints.push_back({"servers", "servers use a node's first port, and the rails have no spines that join them",
                              "`--set platform.fabric.spines=1` joins the rails"});
    else if (nodes_needed(cluster, placement, ranks) > 1 && !reaches_all_rails(cluster))
        complaints.push_back(
            {"ranks",
             "some ranks are on different rails, which no spines join, and their messages do not "
             "change rails inside a node",
             "`--set platform.fabric.spines=1` joins the rails; `transport.pxn` needs direct links or a "
             "switch between a node's devices"});
}

/// Complains if the curve of samples to an accuracy does not give the length of the run. A staleness that is measured
/// is only known later.
void judge_curve(const Plan& plan, const OpenPlan& open, Complaints& complaints) {
    if (plan.run.to_accuracy.empty() || plan.independent_updates()) return;
    if (open.automatic() && open.batch == 0) return;
    const double batch = open.automatic() ? static_cast<double>(open.batch) : plan.update_batch();
    const SamplesNeeded needed =
        samples_to_accuracy(plan.run.to_accuracy, batch, static_cast<double>(plan.exchange_delay));
    if (!needed.samples)
        complaints.push_back(
            {"run.samples_to_accuracy", needed.why, "nothing is extrapolated: add a point that is known"});
}

/// Complains unless there is a device for each rank, and after them a node for each of the `servers` with their own
/// nodes.
void judge_nodes(const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks, std::int64_t servers,
                 Complaints& complaints) {
    const std::int64_t each = cluster.node.devices;
    std::int64_t nodes = nodes_needed(cluster, placement, ranks);
    if (cluster.nodes == 0) {
        try {
            make_topology(cluster.fabric.topology, Use::fabric, (nodes + servers) * cluster.node.nics);
        } catch (const TopologyError& error) {
            complaints.push_back({"ranks", error.what(), error.hint});
        }
        return;
    }
    if (nodes <= cluster.nodes) {
        nodes = first_free_node(place_ranks(cluster, placement, static_cast<std::uint32_t>(ranks)));
        if (nodes + servers <= cluster.nodes) return;
    }
    const std::string who =
        servers == 0 ? counted(ranks, "rank") : counted(ranks, "rank") + " and " + counted(servers, "dedicated server");
    const std::string with = each == 1 ? "" : fmt::format(" with {} devices each", each);
    complaints.push_back({"ranks",
                          fmt::format("{} do not fit platform '{}', which has {}{}", who, cluster.name,
                                      counted(cluster.nodes, "node"), with),
                          hint_for_nodes(cluster, nodes + servers, servers)});
}

/// Complains if the bytes of an exchange cannot be counted in 64 bits. `all_pairs`: every rank may send the buffer to
/// every other.
void judge_bytes(const char* key, std::uint64_t bytes, std::int64_t ranks, bool all_pairs, Complaints& complaints) {
    constexpr double most = 9e18;
    const auto members = static_cast<double>(ranks);
    const double sent = static_cast<double>(bytes) * members * (all_pairs ? members : 2 + std::log2(members));
    if (sent > most)
        complaints.push_back(
            {key, fmt::format("{} ranks would exchange up to {}", ranks, format_quantity(sent, Dimension::bytes)),
             fmt::format("the maximum is {}", format_quantity(most, Dimension::bytes))});
}

constexpr std::int64_t most_tasks = 1 << 22;

/// Complains if buffers in pieces, each of which takes `tasks` tasks, make more tasks than can be simulated.
void judge_pieces(const Plan& plan, std::uint64_t buffer_bytes, std::int64_t tasks, Complaints& complaints) {
    if (plan.partition_bytes == 0) return;
    constexpr auto most = static_cast<double>(most_tasks);
    const auto bytes = static_cast<double>(buffer_bytes), each = static_cast<double>(tasks);
    const double pieces = std::ceil(bytes / plan.partition_bytes);
    if (pieces * each > most)
        complaints.push_back({"partition",
                              fmt::format("{:.0f} pieces, each sent {} times, are too many", pieces, tasks),
                              fmt::format("write at least {} per piece",
                                          format_quantity(std::ceil(bytes * each / most), Dimension::bytes))});
}

void judge_connections(std::int64_t ranks, std::int64_t servers, Complaints& complaints) {
    if (ranks * servers > most_tasks)
        complaints.push_back(
            {"servers", fmt::format("{} ranks and {} servers have {} connections", ranks, servers, ranks * servers),
             fmt::format("the maximum is {}", most_tasks)});
}

/// Complains if there are no switches that could carry out an in-network all-reduce. The ranks must fit.
void judge_switches(Cluster cluster, const RankPlacement& placement, std::int64_t ranks, Complaints& complaints) {
    if (ranks == 1) return;
    give_nodes(cluster, placement, ranks, 0);
    const auto obstacle =
        reduction_obstacle(cluster, place_ranks(cluster, placement, static_cast<std::uint32_t>(ranks)));
    if (obstacle)
        complaints.push_back({"algorithm",
                              fmt::format("'{}' is not possible: {}", in_network_allreduce, obstacle->message),
                              obstacle->hint});
}

/// Complains about a round that does not exist. The algorithm must fit.
void judge_round(const CollectivePlan& plan, Complaints& complaints) {
    if (plan.round == CollectivePlan::all_rounds) return;
    if (plan.algorithm.peers == Peers::all)
        return complaints.push_back({"round", "'round' has no effect here: all rounds are the same",
                                     "remove it; peers change with `peers: one`, `inner-outer` and `machine`"});
    const std::uint32_t rounds = make_algorithm(plan.algorithm, static_cast<std::uint32_t>(plan.ranks))->period();
    if (static_cast<std::uint32_t>(plan.round) >= rounds)
        complaints.push_back({"round", fmt::format("there is no round {}", plan.round),
                              fmt::format("peers repeat after {} rounds: write 0 to {}", rounds, rounds - 1)});
}

}  // namespace

void judge_algorithm(const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes, Complaints& complaints) {
    try {
        const auto members = static_cast<std::uint32_t>(ranks);
        const auto made = make_algorithm(algorithm, members);
        for (std::uint32_t lane = 0; lane < made->lanes(); ++lane) made->lane_program(lane, 0, members, bytes, 0);
    } catch (const AlgorithmError& error) {
        complaints.push_back({error.key, error.what(), error.hint});
    }
}

namespace {

/// Complains about channels of an algorithm that has one.
void judge_channels(const std::optional<std::int64_t>& channels, const AlgorithmSpec& algorithm,
                    Complaints& complaints) {
    if (!channels || *channels <= 1 || takes_channels(algorithm)) return;
    if (algorithm.contributors != 0 || algorithm.receivers != 0)
        complaints.push_back(
            {"channels", "exchanges with contributors or receivers do not run in channels", "remove it"});
    else
        complaints.push_back({"channels", fmt::format("'{}' does not run in channels", algorithm.name),
                              hint_for_channels(algorithm.operation)});
}

}  // namespace

void judge_selection(const Selection& selection, const std::string& operation, const Cluster& cluster,
                     std::int64_t ranks, std::uint64_t bytes, Complaints& complaints) {
    if (!selection.covers(operation))
        complaints.push_back({"selection", fmt::format("'{}' has no row for {}", selection.name, operation), ""});
    const auto members = static_cast<std::uint32_t>(ranks);
    for (std::size_t i = 0; i < selection.rows.size(); ++i) {
        const SelectionRow& row = selection.rows[i];
        if (row.operation() != operation || !row.condition.holds_for_ranks(members)) continue;
        const std::string name = fmt::format("row {} of '{}'", i + 1, selection.name);
        if (row.candidates.size() > 1 && cluster.native)
            complaints.push_back(
                {"selection",
                 name + " predicts times from bandwidths, which a platform in SimGrid's format does not give",
                 "write a row with one algorithm"});
        Complaints found;
        for (const Candidate& candidate : row.candidates)
            judge_algorithm(candidate.algorithm, ranks, row.condition.most_bytes(bytes, members), found);
        for (const Complaint& one : found) complaints.push_back({"selection", name + ": " + one.message, one.hint});
    }
}

namespace {

/// Judges the devices of other kinds of nodes with ranks.
void judge_kinds(const Cluster& cluster, const Model& model, const Plan& plan, const OpenPlan& open,
                 Complaints& complaints) {
    if (cluster.others.empty()) return;
    std::set<std::size_t> kinds;
    for (const Place& place : place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks)))
        kinds.insert(cluster.kind_of(place.node));
    const Device& first = cluster.device_of(*kinds.begin());
    for (const std::size_t kind : kinds) {
        Cluster alone = cluster;
        alone.device = cluster.device_of(kind);
        alone.others.clear();
        Complaints found = broken_rules(plan, open, model, alone);
        if (plan.compute == ComputeKind::measured) judge_layer_times(model, alone.device, found);
        complaints.insert(complaints.end(), found.begin(), found.end());
        if (!complaints.empty()) return;
        // Otherwise one would reach its measured speed, and the other one its nominal peak.
        constexpr const char* names[] = {
            "its throughput of this model", "its peak", "its peak", "its efficiency", "layer times",
            "rates of its kernels"};
        const ComputeKind one = kind_used(plan.compute, model.name, first);
        const ComputeKind other = kind_used(plan.compute, model.name, alone.device);
        if (one == other) continue;
        return complaints.push_back({"compute",
                                     fmt::format("device '{}' computes by {}, and '{}' by {}, which are not comparable",
                                                 first.name, names[static_cast<std::size_t>(one)], alone.device.name,
                                                 names[static_cast<std::size_t>(other)]),
                                     "write `compute: roofline`, or give both devices the same measurements"});
    }
}

}  // namespace

Feasibility judge(const Cluster& cluster, const Model& uniform, const Plan& plan, const OpenPlan& open) {
    Feasibility found;
    Complaints& complaints = found.complaints;
    const Model model = with_precision(uniform, plan);
    const bool all_pairs = plan.exchange == ExchangeKind::gossip || plan.compression.kind == Compression::Kind::top_k;
    const std::uint64_t bytes = model.gradient_bytes();
    const bool served = plan.exchange == ExchangeKind::parameter_server;
    // With other parallelism, the arrangement determines which ranks exchange gradients: see judge_split().
    const bool whole = plan.parallelism.whole_model() && !open.automatic();
    complaints = broken_rules(plan, open, model, cluster);
    if (plan.compute == ComputeKind::measured) judge_layer_times(model, cluster.device, complaints);
    judge_placement(cluster, plan.placement, plan.ranks, complaints);
    const bool selects = plan.selection && plan.exchange == ExchangeKind::allreduce;
    const bool reduces = plan.parallelism.sharding == Sharding::none;
    if (selects && reduces && (whole || !plan.selection->covers("allreduce")))
        judge_selection(*plan.selection, "allreduce", cluster, plan.ranks, bytes, complaints);
    else if (whole && !served && !selects)
        judge_algorithm(plan.algorithm, plan.ranks, bytes, complaints);
    if (whole && !served && !selects) judge_channels(plan.channels, plan.algorithm, complaints);
    if (!complaints.empty()) return found;

    const bool sliced = served && plan.servers.assignment == ServerAssignment::sliced;
    const std::int64_t servers = served ? plan.servers.count : 0;
    judge_nodes(cluster, plan.placement, plan.ranks, plan.server_nodes(), complaints);
    judge_rails(cluster, plan.placement, plan.ranks, served, complaints);
    judge_bytes("ranks", bytes, plan.ranks, all_pairs, complaints);
    judge_pieces(plan, bytes, plan.ranks * (sliced ? servers : 1), complaints);
    judge_connections(plan.ranks, servers, complaints);
    const bool switched = plan.exchange == ExchangeKind::allreduce && !plan.selection;
    if (complaints.empty() && switched && plan.algorithm.name == in_network_allreduce)
        judge_switches(cluster, plan.placement, plan.ranks, complaints);
    if (complaints.empty()) judge_kinds(cluster, model, plan, open, complaints);
    if (!complaints.empty()) return found;

    judge_curve(plan, open, complaints);
    if (open.everything || !complaints.empty()) return found;  // a search judges each of its plans

    Cluster filled = cluster;
    give_nodes(filled, plan.placement, plan.ranks, plan.server_nodes());
    judge_split(filled, model, plan, open, found);
    return found;
}

Complaints judge(ComputeKind kind, const Model& model, const Device& device) {
    Plan plan;
    plan.compute = kind;
    Cluster cluster;
    cluster.device = device;
    Complaints complaints = broken_rules(plan, {}, model, cluster);
    if (kind == ComputeKind::measured) judge_layer_times(model, device, complaints);
    return complaints;
}

Complaints judge(const Cluster& cluster, const CollectivePlan& plan) {
    Complaints complaints = broken_rules(plan, cluster);
    const AlgorithmSpec& algorithm = plan.algorithm;
    const bool sweep = !plan.sweep.empty();
    const std::uint64_t largest = sweep ? *std::max_element(plan.sweep.begin(), plan.sweep.end()) : plan.bytes;
    judge_placement(cluster, plan.placement, plan.ranks, complaints);
    if (plan.served())
        judge_connections(plan.ranks, plan.servers * std::max<std::int64_t>(1, std::ssize(plan.sweep)), complaints);
    else if (plan.selection)
        judge_selection(*plan.selection, algorithm.operation, cluster, plan.ranks, largest, complaints);
    else
        judge_algorithm(algorithm, plan.ranks, largest, complaints);
    if (!plan.served() && !plan.selection) judge_channels(plan.channels, algorithm, complaints);
    if (complaints.empty() && !plan.served() && !plan.selection) judge_round(plan, complaints);
    if (!complaints.empty()) return complaints;
    judge_nodes(cluster, plan.placement, plan.ranks, plan.server_nodes(), complaints);
    judge_rails(cluster, plan.placement, plan.ranks, plan.served(), complaints);
    judge_bytes(sweep ? "sweep" : "bytes", largest, plan.ranks, algorithm.operation == "neighbour-exchange",
                complaints);
    if (complaints.empty() && !plan.selection && algorithm.name == in_network_allreduce)
        judge_switches(cluster, plan.placement, plan.ranks, complaints);
    return complaints;
}

}  // namespace syncline
