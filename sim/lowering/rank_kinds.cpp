#include "sim/lowering/rank_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/lowering/batch_shares.hpp"
#include "sim/lowering/optimizer_step.hpp"

namespace syncline {

namespace {

double input_copy_seconds(const Lowered& training, const Arrangement& arrangement, const Device& device) {
    const Plan& plan = training.plan;
    if (plan.input_copy == InputCopy::none) return 0;
    const PlacedLayer& first = arrangement.layers.front();
    const double elements = static_cast<double>(training.model.sample_elements) * first.share.samples *
                            arrangement.micro_batches / static_cast<double>(first.layout.cells());
    return elements * activation_element(training.model) / device.host_link_Bps;
}

std::vector<StepTime> step_times(const Lowered& training, const Device& device) {
    std::vector<StepTime> steps;
    for (std::uint32_t stage = 0; stage < training.arrangement.stages; ++stage)
        steps.push_back(step_time(training, stage, device));
    return steps;
}

double computation_s(const PlacedLayer& layer) {
    return layer.time.forward_s + layer.time.backward_s() + layer.recompute_s;
}

/// Returns the time for which a rank of a stage computes a microbatch.
double computation_s(const Arrangement& arrangement, std::uint32_t stage) {
    double sum_s = 0;
    for (const PlacedLayer& layer : arrangement.layers)
        if (arrangement.stage_of(layer.virtual_stage) == stage) sum_s += computation_s(layer);
    return sum_s;
}

/// Returns the arrangement in which all ranks have such a device and so many samples, with the same layers on each
/// stage.
Arrangement arrangement_of(const Lowered& training, std::size_t node_kind, std::int64_t samples) {
    Cluster cluster = training.cluster;
    cluster.device = training.cluster.device_of(node_kind);
    Plan plan = training.plan;
    plan.batch_per_rank = samples;
    std::vector<std::int64_t>& layers = plan.parallelism.pipeline.layers;
    const std::vector<std::uint32_t>& first = training.arrangement.first_layer;
    layers.clear();
    for (std::size_t part = 0; part + 1 < first.size(); ++part)
        layers.push_back(std::int64_t{first[part + 1]} - first[part]);
    return arrange(cluster, training.model, plan);
}

/// Returns the samples of each rank.
std::vector<std::int64_t> samples_of(const Lowered& training) {
    const Plan& plan = training.plan;
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    std::vector<std::int64_t> samples(ranks, plan.batch_per_rank);
    if (plan.batch_shares == BatchShares::equal) return samples;
    std::map<std::size_t, double> speed_of;  // by kind of node
    std::vector<double> speeds;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::size_t kind = training.node_kind_of(rank);
        if (!speed_of.contains(kind)) {
            const double equal_s = computation_s(arrangement_of(training, kind, plan.batch_per_rank), 0);
            if (equal_s <= 0) return samples;
            speed_of[kind] = 1 / equal_s;
        }
        speeds.push_back(speed_of[kind]);
    }
    // Each microbatch is divided alike.
    const std::int64_t times = plan.parallelism.pipeline.micro_batches;
    samples = shares_by_speed(speeds, plan.global_batch() / times);
    for (std::int64_t& each : samples) each *= times;
    return samples;
}

/// Takes from an arrangement what depends on the device and on the share of the batch.
void take_times(PlacedLayer& to, const PlacedLayer& from) {
    to.share = from.share;
    to.time = from.time;
    to.recompute_s = from.recompute_s;
    to.chunked = from.chunked;
    to.compressed = from.compressed;
    if (to.experts) to.experts->times = from.experts->times;
}

bool alike(const Lowered& training, const RankKind& a, const RankKind& b) {
    const auto same = [](const PlacedLayer& one, const PlacedLayer& other) {
        const auto times = [](const PlacedLayer& layer) {
            return layer.experts ? layer.experts->times : std::vector<LayerTime>{};
        };
        return one.time == other.time && one.recompute_s == other.recompute_s &&
               one.chunked.inputs_forward_s == other.chunked.inputs_forward_s &&
               one.chunked.outputs_forward_s == other.chunked.outputs_forward_s &&
               one.chunked.outputs_backward_s == other.chunked.outputs_backward_s && times(one) == times(other);
    };
    const auto step = [](const StepTime& one, const StepTime& other) { return one.total_s() == other.total_s(); };
    return std::ranges::equal(a.arrangement.layers, b.arrangement.layers, same) &&
           std::ranges::equal(a.steps, b.steps, step) && a.input_copy_s == b.input_copy_s &&
           training.cluster.device_of(a.node_kind).host_link_Bps ==
               training.cluster.device_of(b.node_kind).host_link_Bps &&
           speed_beside_exchange(training.cluster, a.node_kind) == speed_beside_exchange(training.cluster, b.node_kind);
}

/// Gives each stage the times of its slowest kind.
void take_slowest(Lowered& training) {
    Arrangement& arrangement = training.arrangement;
    for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) {
        const std::set<std::uint32_t> there = training.kinds_of_stage(stage);
        const RankKind& slowest = training.kinds[*std::ranges::max_element(
            there, {}, [&](std::uint32_t kind) { return computation_s(training.kinds[kind].arrangement, stage); })];
        for (std::size_t i = 0; i < arrangement.layers.size(); ++i)
            if (arrangement.stage_of(arrangement.layers[i].virtual_stage) == stage)
                take_times(arrangement.layers[i], slowest.arrangement.layers[i]);
        for (const std::uint32_t kind : there) {
            StepTime& step = training.steps[stage];
            const StepTime& own = training.kinds[kind].steps[stage];
            if (own.total_s() > step.total_s() || kind == *there.begin()) step = own;
        }
        if (stage > 0) continue;
        training.input_copy_s = 0;
        for (const std::uint32_t kind : there)
            training.input_copy_s = std::max(training.input_copy_s, training.kinds[kind].input_copy_s);
    }
}

}  // namespace

std::set<std::uint32_t> Lowered::kinds_of_stage(std::uint32_t stage) const {
    if (kinds.empty()) return {};
    const auto first = kind_of_rank.begin() + std::ptrdiff_t{stage} * arrangement.stage_ranks;
    return {first, first + arrangement.stage_ranks};
}

void forget_unused_kinds(Cluster& cluster, const std::vector<Place>& places) {
    if (cluster.others.empty()) return;
    std::set<std::size_t> used;
    for (const Place& place : places) used.insert(cluster.kind_of(place.node));
    const Device device = cluster.device_of(*used.begin());
    for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
        if (!used.contains(kind)) cluster.device_of(kind) = device;
}

void add_kinds(Lowered& training) {
    training.input_copy_s = input_copy_seconds(training, training.arrangement, training.cluster.device);
    training.steps = step_times(training, training.cluster.device);
    std::set<std::size_t> nodes;
    for (const Place& place : training.places) nodes.insert(training.cluster.kind_of(place.node));
    if (nodes.size() == 1) return;
    const std::vector<std::int64_t> samples = samples_of(training);
    std::map<std::pair<std::size_t, std::int64_t>, std::uint32_t> known;
    for (std::uint32_t rank = 0; rank < samples.size(); ++rank) {
        const std::size_t node_kind = training.node_kind_of(rank);
        const auto [found, added] =
            known.try_emplace({node_kind, samples[rank]}, static_cast<std::uint32_t>(training.kinds.size()));
        if (added) {
            RankKind kind;
            kind.node_kind = node_kind;
            kind.samples = samples[rank];
            kind.arrangement = arrangement_of(training, node_kind, kind.samples);
            const Device& device = training.cluster.device_of(node_kind);
            kind.steps = step_times(training, device);
            kind.input_copy_s = input_copy_seconds(training, kind.arrangement, device);
            training.kinds.push_back(std::move(kind));
        }
        training.kind_of_rank.push_back(found->second);
        ++training.kinds[found->second].ranks;
    }
    training.kinds_differ = !std::ranges::all_of(
        training.kinds, [&](const RankKind& kind) { return alike(training, training.kinds.front(), kind); });
    take_slowest(training);
}

void share_exchanges(Lowered& training) {
    const Arrangement& from = training.arrangement;
    for (RankKind& kind : training.kinds) {
        for (std::size_t i = 0; i < from.layers.size(); ++i)
            kind.arrangement.layers[i].exchanges = from.layers[i].exchanges;
        kind.arrangement.boundaries = from.boundaries;
    }
}

double computation_s(const RankKind& kind, std::uint32_t stage) {
    return kind.arrangement.micro_batches * computation_s(kind.arrangement, stage) + kind.steps[stage].device_s;
}

std::string devices_text(const Lowered& training) {
    std::vector<std::int64_t> ranks(training.cluster.kinds(), 0);
    for (const Place& place : training.places) ++ranks[training.cluster.kind_of(place.node)];
    std::string text;
    for (std::size_t kind = 0; kind < ranks.size(); ++kind)
        if (ranks[kind] > 0)
            text +=
                fmt::format("{}{} × {}", text.empty() ? "" : " + ", ranks[kind], training.cluster.device_of(kind).name);
    return text;
}

}  // namespace syncline
