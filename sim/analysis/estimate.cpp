#include "sim/analysis/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/analysis/micro_batches.hpp"
#include "sim/base/units.hpp"
#include "sim/iteration/sweep.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/placement.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

/// Numbers of links that messages pass.
struct Roads {
    double hops = 2;   ///< links of a route, on average
    double links = 0;  ///< of a fabric that is larger than the ranks need
};

/// Returns those of routes between ranks that are spread evenly over all.
Roads roads_of(const Cluster& cluster, const std::vector<Place>& places) {
    constexpr std::size_t pairs = 64, apart = 7919;  // a prime
    Roads roads;
    if (cluster.native || places.size() < 2 || cluster.fabric.topology.shape == Shape::star) return roads;
    Wiring wiring(cluster, first_free_node(places));
    std::vector<Wiring::Link> links;
    for (std::size_t i = 0; i < pairs; ++i)
        wiring.route(places[i * places.size() / pairs], places[(i * places.size() / pairs + i * apart) % places.size()],
                     links);
    roads.hops = static_cast<double>(links.size()) / pairs;
    roads.links = wiring.links();
    return roads;
}

/// Counts of the graphs that are replayed, one after the other.
struct Replays {
    std::vector<Work> all;
    Work largest;              ///< of the graphs that are built
    std::uint32_t images = 1;  ///< number of ranks for which each simulated one stands
};

/// Leaves the work of one of several images.
void divide(Work& work, double images) {
    for (double Work::*const count :
         {&Work::tasks, &Work::messages, &Work::unfolded, &Work::single, &Work::together, &Work::listed})
        work.*count /= images;
}

Estimate estimate(const Cluster& cluster, FidelityChoice fidelity, const Work& whole, Replays replays,
                  std::uint32_t iterations, std::uint32_t window, const std::vector<Place>& places) {
    constexpr double base_B = 45e6, process_B = 7000, graph_B = 110, interval_B = 35, steady_B = 100, message_B = 250;
    constexpr double base_s = 40e-3, process_s = 20e-6, task_s = 0.6e-6, repeated_s = 0.3e-6, hop_s = 0.9e-6,
                     link_s = 2.5e-6, simgrid_s = 5e-6;
    Estimate result;
    result.work = whole;
    result.iterations = iterations;
    result.fidelity = std::move(fidelity);
    const bool folds = result.fidelity.folds;
    const std::uint32_t recorded = iterations == 1 ? 1 : std::min(iterations - 2, 2 * window) + 1;
    const double task_B = graph_B + interval_B * recorded + (folds && iterations > 1 ? steady_B : 0);
    const Roads roads = roads_of(cluster, places);
    const bool ours = !cluster.native && cluster.network == NetworkModel::exact;
    result.time_s = base_s;
    for (Work& work : replays.all) {
        divide(work, replays.images);
        const double messages = folds ? work.unfolded : work.messages;
        const double messages_s =
            ours ? repeated_s * messages + hop_s * roads.hops * std::min(work.single, messages) : simgrid_s * messages;
        result.messages += iterations * messages;
        result.time_s +=
            link_s * roads.links + process_s * work.processes + iterations * (task_s * work.tasks + messages_s);
    }
    divide(replays.largest, replays.images);
    const Work& built = replays.largest;
    result.memory_bytes =
        base_B + process_B * built.processes + task_B * built.tasks + message_B * (built.listed + built.together);
    return result;
}

std::uint64_t counted_messages(const Work& work) {
    return static_cast<std::uint64_t>(std::min(work.messages, 1e18));
}

/// Returns a count with three significant digits: "870", "2.2 million".
std::string counted(double count) {
    constexpr double thousand = 1e3, million = 1e6, billion = 1e9, trillion = 1e12;
    if (count < thousand) return fmt::format("{:.0f}", count);
    if (count < million) return fmt::format("{:.3g} thousand", count / thousand);
    if (count < billion) return fmt::format("{:.3g} million", count / million);
    if (count < trillion) return fmt::format("{:.3g} billion", count / billion);
    return fmt::format("{:.3g} trillion", count / trillion);
}

}  // namespace

Estimate estimate(const Lowered& training) {
    const Work whole = work_of(training);
    // See choose_fidelity(): messages of varying latency are not folded.
    const Fidelity asked = training.plan.noise.lateness().varies() ? Fidelity::message : training.plan.fidelity;
    FidelityChoice fidelity = choose_fidelity(asked, training.cluster, 0, counted_messages(whole));
    Replays replays;
    if (fidelity.folds) {
        replays.images = rotations_of(training).images();
        for (const std::int64_t micro_batches : replayed_micro_batches(training))
            replays.all.push_back(work_of(with_micro_batches(training, micro_batches)));
    }
    if (replays.all.empty()) replays.all.push_back(whole);
    // Fidelity::automatic builds all microbatches to count their messages.
    replays.largest = asked == Fidelity::automatic ? whole : replays.all.back();
    return estimate(training.cluster, std::move(fidelity), whole, std::move(replays), iterations_of(training),
                    training.averaged, training.places);
}

Estimate estimate(const Cluster& cluster, const CollectivePlan& plan) {
    return estimate(cluster, plan, choose_exchanges(cluster, plan));
}

Estimate estimate(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen) {
    const Work whole = work_of(plan, chosen);
    FidelityChoice fidelity = choose_fidelity(plan.fidelity, cluster, 0, counted_messages(whole));
    const std::uint32_t images = fidelity.folds ? rotations_of(cluster, plan, chosen).images() : 1;
    return estimate(cluster, std::move(fidelity), whole, {{whole}, whole, images}, rounds_of(chosen), 1,
                    place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks)));
}

Estimate estimate(const Cluster& cluster, const TracePlan& plan) {
    constexpr double node_B = 500;
    const Work whole = work_of(cluster, plan);
    Estimate result =
        estimate(cluster, choose_fidelity(plan.fidelity, cluster, 0, counted_messages(whole)), whole, {{whole}, whole},
                 1, 1, place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks())));
    result.memory_bytes += node_B * static_cast<double>(plan.trace->size());
    return result;
}

std::string words_of(const Estimate& estimate) {
    return fmt::format("about {} messages in {} iteration{}, {} of memory, {}", counted(estimate.messages),
                       estimate.iterations, estimate.iterations == 1 ? "" : "s",
                       format_roughly(estimate.memory_bytes, Dimension::bytes),
                       format_roughly(estimate.time_s, Dimension::seconds));
}

std::string excess(const Estimate& estimate, double machine_memory_bytes) {
    constexpr double share = 0.8;
    std::string reasons;
    if (estimate.messages > most_messages)
        reasons = fmt::format("simulates about {} messages, more than {}", counted(estimate.messages),
                              counted(most_messages));
    if (estimate.memory_bytes > share * machine_memory_bytes)
        reasons += fmt::format("{}needs about {} of memory, more than 80 % of the {} of this machine",
                               reasons.empty() ? "" : ", and ", format_roughly(estimate.memory_bytes, Dimension::bytes),
                               format_roughly(machine_memory_bytes, Dimension::bytes));
    if (reasons.empty()) return reasons;
    return fmt::format("{}; it would take about {}", reasons, format_roughly(estimate.time_s, Dimension::seconds));
}

std::string smaller(const Estimate& estimate, const std::string& options) {
    const bool folding_helps = !estimate.fidelity.folds && estimate.messages > most_messages &&
                               estimate.iterations * estimate.work.unfolded <= most_messages &&
                               estimate.fidelity.asked == Fidelity::message;
    return fmt::format("use {}fewer ranks; `{}` simulates it anyway", folding_helps ? "`fidelity: folded` or " : "",
                       options);
}

}  // namespace syncline
