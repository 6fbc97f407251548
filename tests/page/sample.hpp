#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "sim/report/report.hpp"

/// An invented explanation and recording with every part that a page can show.
namespace syncline::test {

inline constexpr std::uint32_t sample_layers = 54, sample_buckets = 8;

/// Returns a recording with forward passes of 1 ms per layer, backward passes of 2 ms, and buckets of 12 ms, the last
/// of which ends 8 ms after the last pass. Rank r starts r microseconds late.
inline TimelineView sample_view(std::uint32_t ranks) {
    TimelineView view;
    view.timeline.recorded.emplace_back();
    std::vector<Interval>& times = view.timeline.recorded.back();
    const auto add = [&](StreamId stream, Phase phase, std::uint32_t subject, double start_s, double length_s,
                         const std::string& name) {
        view.graph.add_task({.stream = stream, .phase = phase, .subject = subject, .seconds = length_s});
        times.push_back({start_s, start_s + length_s});
        view.names.push_back(name);
    };
    const double start_s = 0.5, backward_s = start_s + 0.001 * sample_layers,
                 end_s = backward_s + 0.002 * sample_layers;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const ProcessId process = view.graph.add_process({.place = {rank, 0}});
        const StreamId compute = view.graph.add_stream(process, StreamKind::compute);
        const StreamId exchange = view.graph.add_stream(process, StreamKind::exchange);
        const double late_s = 1e-6 * rank;
        for (std::uint32_t layer = 0; layer < sample_layers; ++layer)
            add(compute, Phase::forward, layer, start_s + late_s + 0.001 * layer, 0.001,
                fmt::format("forward of layer-{}", layer));
        for (std::uint32_t layer = sample_layers; layer-- > 0;)
            add(compute, Phase::backward, layer, backward_s + late_s + 0.002 * (sample_layers - 1 - layer), 0.002,
                fmt::format("backward of layer-{}", layer));
        for (std::uint32_t bucket = 0; bucket < sample_buckets; ++bucket)
            add(exchange, Phase::exchange, bucket, end_s + 0.008 - 0.0125 * (sample_buckets - bucket), 0.012,
                fmt::format("bucket {}", bucket));
    }
    view.graph.seal();
    view.window = {start_s, end_s + 0.008};
    const double window_s = view.window.end_s - view.window.start_s;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto bytes = static_cast<std::uint64_t>(1e9 * window_s * (rank + 1) / ranks);
        view.timeline.links.push_back({fmt::format("host-{}->switch-0", rank), 1e9, bytes});
        view.timeline.links.push_back({fmt::format("switch-0->host-{}", rank), 1e9, bytes / 2});
    }
    return view;
}

inline Explanation sample_explanation(std::uint32_t ranks, const TimelineView& view) {
    Explanation made;
    const double window_s = view.window.end_s - view.window.start_s;
    Result& result = made.result;
    result.variant = "sample </script><!-- \"ring\" & 'tree'";
    result.workload = "layers";
    result.ranks = ranks;
    result.samples = 32 * std::int64_t{ranks};
    result.fabric = "star";
    result.exchange = "allreduce";
    result.algorithm = "ring";
    result.time = {window_s, window_s - 0.008, 0.1, 0.008};
    result.throughput_samples_per_s = static_cast<double>(result.samples) / window_s;
    result.scaling_efficiency = 0.95;
    result.cost.nodes = ranks;
    result.closed_form = {"2(N-1)(α + n/N·β)", 0.09, 0.165};
    for (std::size_t i = 0; i < 10 && i < ranks; ++i)
        result.links.push_back(
            {fmt::format("host-{}->switch-0", ranks - 1 - i), 1000, static_cast<double>(ranks - i) / ranks});

    made.level = "messages";
    made.window_s = window_s;
    made.last_rank = ranks - 1;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        made.ranks.push_back({window_s - 0.008, 0.09, 0.004, 0.001, 0.0005, 0.0015, 0.001});
    for (std::uint32_t layer = 0; layer < sample_layers; ++layer)
        made.layers.push_back({fmt::format("layer-{}", layer), 0.001, 0.002});
    for (std::uint32_t bucket = 0; bucket < sample_buckets; ++bucket)
        made.buckets.push_back({fmt::format("bucket {}", bucket), 1'000'000, 0.07 + 0.0125 * bucket,
                                0.082 + 0.0125 * bucket, 0.012, bucket + 1 == sample_buckets ? 0.008 : 0});
    made.path = {{PathKind::compute, "forward of layer-0", "rank 3", "", 0, 0.054, "forward"},
                 {PathKind::compute, "backward of layer-0", "rank 3", "", 0.054, window_s - 0.008, "backward"},
                 {PathKind::transfer, "bucket 7", "rank 3 -> rank 4", "host-3->switch-0", window_s - 0.008, window_s,
                  "exchange"}};
    made.shares = {{PathKind::compute, "passes", "", 0, 2, window_s - 0.008, 1 - 0.008 / window_s},
                   {PathKind::transfer, "bucket 7", "host-3->switch-0", 1, 1, 0.008, 0.008 / window_s}};
    made.phases = {{"backward", window_s - 0.062, 1 - 0.062 / window_s},
                   {"forward", 0.054, 0.054 / window_s},
                   {"exchange", 0.008, 0.008 / window_s}};
    for (std::size_t i = 0; i < 10 && i < ranks; ++i) {
        LinkParts link{
            fmt::format("host-{}->switch-0", ranks - 1 - i), 1e9,  1000, 0.1,
            static_cast<double>(ranks - i) / ranks,          0.01, {},   {{"bucket 0", 600}, {"bucket 1", 400}}};
        for (int part = 0; part < 100; ++part) link.profile.push_back(part < 40 ? 0 : 0.5 + 0.004 * (part % 100));
        made.links.push_back(std::move(link));
    }
    made.uncontended_time_s = 0.166;
    made.theory = {.terms = {{"α", "latency of a message", 2e-6, "s"}, {"N", "ranks", ranks, ""}},
                   .formula = "max(T, 2(N-1)(α + n/N·β))",
                   .why_not = "",
                   .closed_form_s = 0.165,
                   .lower_bound_s = window_s - 0.008,
                   .lower_bound = "computation",
                   .simulated_s = window_s,
                   .differences = {{"contention", 0.004, "messages share links"},
                                   {"overlap", 0.001, "exchanges beside computation"}}};
    made.what_if = {{"nic x2", "network ports twice as fast", 0.164, 1000, 1.04, ""},
                    {"latency x0.5", "half the latency", std::nullopt, std::nullopt, 1, "the platform has none"}};
    return made;
}

inline Cluster sample_cluster(std::uint32_t ranks) {
    return star_cluster(ranks, 1e9, 1e-6);
}

inline ReportData sample_report(std::uint32_t ranks) {
    const TimelineView view = sample_view(ranks);
    const Explanation explanation = sample_explanation(ranks, view);
    ReportData data;
    data.report = {"sample <b>page</b>", {explanation.result}};
    data.variants = {
        page_variant(sample_cluster(ranks), nullptr, explanation, &view, "training:\n  ranks: 64\n", page_limits(1))};
    for (std::int64_t n = 1; n <= ranks; n *= 2)
        data.scaling.resize(1), data.scaling[0].points.push_back({n, 0.17, 190.0 * static_cast<double>(n), 0.99});
    data.scaling[0].variant = explanation.result.variant;
    return data;
}

}  // namespace syncline::test
