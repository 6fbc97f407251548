#include "sim/explain/window_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/percent.hpp"
#include "sim/base/units.hpp"
#include "sim/iteration/exchange.hpp"

namespace syncline {

namespace {

/// Returns the computation time of a rank in one iteration, without noise and slowdown.
double computation_s(const Recorded& recorded, ProcessId rank) {
    double sum_s = 0;
    for (const Task& task : recorded.graph().tasks()) {
        const Stream& stream = recorded.graph().streams()[task.stream];
        if (stream.process == rank && stream.kind == StreamKind::compute) sum_s += task.seconds;
    }
    return sum_s;
}

/// Returns the number of steps of a member in its longest lane, including repetitions.
std::size_t steps_of(const CollectiveAlgorithm& algorithm, std::uint32_t members, std::uint64_t bytes) {
    std::size_t most = 0;
    for (std::uint32_t lane = 0; lane < algorithm.lanes(); ++lane) {
        const Program program = algorithm.lane_program(lane, 0, members, bytes, 0);
        std::size_t steps = 0;
        for (Walk walk(program); !walk.done(); walk.next()) ++steps;
        most = std::max(most, steps);
    }
    return most;
}

/// Adds the terms of the largest bucket: its bytes, steps, and the time of its exchange by the closed form.
void add_largest(Theory& theory, const Lowered& training) {
    const Plan& plan = training.plan;
    const std::vector<Bucket>& buckets = training.buckets;
    const auto largest =
        static_cast<std::size_t>(std::max_element(buckets.begin(), buckets.end(),
                                                  [](const Bucket& a, const Bucket& b) { return a.bytes < b.bytes; }) -
                                 buckets.begin());
    const std::uint64_t bytes = buckets[largest].bytes;
    theory.terms.push_back(
        {"max S", fmt::format("bytes of the largest bucket, bucket {}", largest), static_cast<double>(bytes), "B"});
    if (training.served()) return;
    const Chosen& chosen = training.reductions[largest].front().chosen;
    const std::uint32_t members = buckets[largest].replicas.size;
    theory.terms.push_back({"steps", "steps of a rank in its exchange",
                            static_cast<double>(steps_of(*chosen.algorithm, members, bytes)), ""});
    if (!plan.parallelism.whole_model()) return;
    theory.terms.push_back({"T(max S)", "time of its exchange alone, by the formula",
                            ExchangeCosts(training.cluster, training.places).of(chosen, bytes), "s"});
}

void add_terms(Theory& theory, const Lowered& training) {
    const Plan& plan = training.plan;
    const std::vector<Bucket>& buckets = training.buckets;
    theory.terms.push_back({"N", "ranks", static_cast<double>(plan.ranks), ""});
    if (buckets.empty()) return;
    double bytes = 0;
    for (const Bucket& bucket : buckets) bytes += static_cast<double>(bucket.bytes + bucket.second_bytes);
    theory.terms.push_back({"ΣS", "bytes of all gradients", bytes, "B"});
    theory.terms.push_back({"B", "buckets, each exchanged separately", static_cast<double>(buckets.size()), ""});
    add_largest(theory, training);
    const bool served = training.served();
    if (served) theory.terms.push_back({"s", "servers", static_cast<double>(plan.servers.count), ""});
    const std::string algorithm = served ? served_allreduce : training.reductions.front().front().chosen.spec.name;
    const std::optional<MessageCost> cost = message_cost(training.cluster, training.places, algorithm);
    if (!cost) return;
    theory.terms.push_back({"α", "latency of a message", cost->alpha_s, "s"});
    theory.terms.push_back({"β", "time per byte on the links", cost->beta_s_per_B, "s/B"});
    theory.terms.push_back({"γ", "reduction time per byte", cost->gamma_s_per_B, "s/B"});
}

void add_lower_bound(Theory& theory, const Recorded& recorded, const Explanation& explanation, bool noisy) {
    // With noise the actual computation time is used.
    theory.lower_bound_s = noisy ? explanation.result.time.compute_s : computation_s(recorded, recorded.last_rank());
    theory.lower_bound = "computation";
    if (explanation.result.links.empty()) return;
    const LinkLoad& busiest = explanation.result.links.front();
    const double bytes_s = busiest.utilisation * explanation.result.time.iteration_s;
    if (bytes_s <= theory.lower_bound_s) return;
    theory.lower_bound_s = bytes_s;
    theory.lower_bound = "bytes over " + busiest.name;
}

std::string in_words(double seconds) {
    return format_quantity(seconds, Dimension::seconds);
}

std::string share(double part_s, double whole_s) {
    return percent(whole_s > 0 ? part_s / whole_s : 0);
}

}  // namespace

Theory theory_beside(const Lowered& training, const Recorded& recorded, const Explanation& explanation, bool again) {
    const Plan& plan = training.plan;
    const Result& result = explanation.result;
    const double simulated_s = result.time.iteration_s;
    Theory theory;
    theory.formula = result.closed_form.formula;
    theory.why_not = result.closed_form.why_not;
    theory.closed_form_s = result.closed_form.iteration_time_s;
    theory.simulated_s = simulated_s;
    add_terms(theory, training);
    add_lower_bound(theory, recorded, explanation, plan.noise.any() || training.documents_vary());

    const auto add = [&](const char* cause, double seconds, std::string text) {
        theory.differences.push_back({cause, seconds, std::move(text)});
    };
    constexpr double nothing = 1e-9;
    if (theory.closed_form_s) {
        const double off_s = simulated_s - *theory.closed_form_s;
        add("difference from the closed form", off_s,
            std::abs(off_s) <= 1e-6 * simulated_s
                ? "the simulation agrees with the closed form"
                : fmt::format("the simulation takes {} {} than the closed form", share(std::abs(off_s), simulated_s),
                              off_s > 0 ? "longer" : "less"));
    }
    if (explanation.uncontended_time_s) {
        const double lost_s = simulated_s - *explanation.uncontended_time_s;
        if (std::abs(lost_s) > nothing * simulated_s)
            add("contention", lost_s,
                fmt::format("if no two messages shared a link, the iteration would take {}: {} of the iteration "
                            "time is lost to sharing",
                            in_words(*explanation.uncontended_time_s), share(lost_s, simulated_s)));
        else
            add("contention", 0, "messages lose no time by sharing links");
    }
    if (plan.noise.any() && again) {
        Plan calm = plan;
        calm.noise = {.seed = plan.noise.seed};  // of the same documents
        const double lost_s =
            simulated_s - replay_representatives(lower(training.cluster, training.model, calm)).time.iteration_s;
        add("stragglers", lost_s,
            fmt::format("without jitter and stragglers the iteration would take {} less", share(lost_s, simulated_s)));
    }
    if (training.documents_vary() && again) {
        Plan even = plan;
        even.documents->evened_out = plan.global_batch();
        const double lost_s =
            simulated_s - replay_representatives(lower(training.cluster, training.model, even)).time.iteration_s;
        add("documents", lost_s,
            fmt::format("if all microbatches had equal work, the iteration would take {} less",
                        share(lost_s, simulated_s)));
    }
    const RankParts& parts = explanation.ranks[recorded.last_rank()];
    const double iterations = explanation.iterations;
    if (parts.hidden_communication_s > 0)
        add("overlap", -parts.hidden_communication_s / iterations,
            fmt::format("{} of the communication time of {} overlaps with computation",
                        share(parts.hidden_communication_s / iterations, result.time.communication_s),
                        in_words(result.time.communication_s)));
    if (result.time.pipeline_bubble)
        add("pipeline fill", *result.time.pipeline_bubble * simulated_s,
            fmt::format("ranks wait for other stages {} of the time on average",
                        percent(*result.time.pipeline_bubble)));
    return theory;
}

}  // namespace syncline
