#include "sim/cli/report_option.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostics.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/config/scenario.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

namespace {

ScalingPoint point_of(const Result& result) {
    return {result.ranks, result.time.iteration_s, result.throughput_samples_per_s, result.scaling_efficiency};
}

/// Returns nothing if the scenario is not valid with that number of ranks.
std::optional<config::Scenario> with_ranks(const std::string& path, std::vector<std::string> assignments,
                                           std::int64_t ranks, std::uint64_t seed,
                                           const std::vector<std::string>& only) {
    assignments.push_back(fmt::format("training.ranks={}", ranks));
    try {
        return config::load_scenario(path, assignments, inspect, seed, only);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

}  // namespace

CLI::Option* add_report(CLI::App& verb, std::string& file, const std::string& description) {
    return verb.add_option("--report", file, description)->option_text("FILE.html")->check(not_empty);
}

std::vector<ScalingCurve> scaling_curves(const std::string& path, const std::vector<std::string>& assignments,
                                         std::uint64_t seed, const std::vector<std::string>& only,
                                         const Report& results, std::string& note) {
    std::vector<ScalingCurve> curves;
    std::int64_t most = 1;
    for (const Result& result : results.results) {
        curves.push_back({result.variant, {}});
        most = std::max(most, result.ranks);
    }
    std::vector<std::int64_t> left_out;
    for (std::int64_t ranks = 1; ranks < most; ranks *= 2) {
        std::optional<config::Scenario> scenario = with_ranks(path, assignments, ranks, seed, only);
        if (!scenario) {
            left_out.push_back(ranks);
            continue;
        }
        for (const config::Variant& variant : scenario->variants) {
            const auto curve = std::find_if(curves.begin(), curves.end(),
                                            [&](const ScalingCurve& one) { return one.variant == variant.name; });
            if (curve == curves.end()) continue;
            const Result& own = results.results[static_cast<std::size_t>(curve - curves.begin())];
            if (ranks >= own.ranks) continue;
            ProgressLine progress(fmt::format("{} with {} ranks", variant.name, ranks));
            curve->points.push_back(point_of(simulate(variant.lowered(), progress.watch())));
        }
    }
    for (std::size_t i = 0; i < curves.size(); ++i) curves[i].points.push_back(point_of(results.results[i]));
    if (!left_out.empty())
        note = fmt::format("Not simulated: the scenario is not valid with {} ranks.", fmt::join(left_out, ", "));
    return curves;
}

}  // namespace syncline::cli
