#include "sim/planning/search_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/memory_text.hpp"

namespace syncline::planning {

namespace {

/// Returns the number of plans that are listed.
std::ptrdiff_t shown(const Found& found) {
    return static_cast<std::ptrdiff_t>(std::min(listed, found.plans.size()));
}

/// Returns the number of plans that were considered: "76360 plans", "4100 of more than 200000 plans".
std::string plans(const Considered& considered) {
    if (considered.all()) return counted(considered.choices, "plan");
    const bool more = considered.of >= static_cast<std::int64_t>(Effort::most_counted);
    return fmt::format("{} of {}{} plans", considered.choices, more ? "more than " : "", considered.of);
}

/// Says how many plans were not simulated for their size, and whether one of them may be better.
std::string passed_over(const Found& found) {
    std::string text = fmt::format("  passed over {}: too large to simulate", found.passed_over);
    if (found.simulated == 0) text += "; the estimates decide";
    if (const auto& plan = found.shorter)
        text += fmt::format(
            ", of which the first may be faster: {} by the estimate, `parallelism: {}`{}; {}",
            text::seconds(plan->estimated_s), plan->text,
            plan->recomputation.empty() ? "" : fmt::format(" with `recomputation: {}`", plan->recomputation),
            plan->passed_over);
    return text + "\n";
}

}  // namespace

std::string to_text(const std::string& variant, const Found& found) {
    std::string text = fmt::format("{}: `parallelism: auto` considered {}: {} skipped, {} estimated, {} simulated{}\n",
                                   variant, plans(found.considered), found.skipped.total(), found.plans.size(),
                                   found.simulated, found.proven ? "; no other plan can be faster" : "");
    for (const Reasons::Reason& reason : found.skipped.all())
        text += fmt::format("  skipped {}: {}{} ({})\n", reason.count, reason.varies ? "for example " : "",
                            reason.example, reason.of.front());
    if (!found.considered.all())
        text +=
            "  not considered: the rest, since the work is bounded; these plans split the model in every way, were "
            "drawn, or are near the best of them\n";
    for (const std::string& remedy : found.remedies) text += fmt::format("  {}\n", remedy);
    if (found.plans.empty()) return text;
    if (found.passed_over > 0) text += passed_over(found);
    const bool recomputes = std::any_of(found.plans.begin(), found.plans.begin() + shown(found),
                                        [](const FoundPlan& plan) { return !plan.recomputation.empty(); });
    std::vector<text::Row> rows{{"", "estimated", "simulated", "memory", "parallelism"}};
    if (recomputes) rows.front().insert(rows.front().end() - 1, "recomputation");
    for (std::ptrdiff_t i = 0; i < shown(found); ++i) {
        const FoundPlan& plan = found.plans[static_cast<std::size_t>(i)];
        rows.push_back({i == 0 ? "  *" : "", text::seconds(plan.estimated_s), text::seconds(plan.simulated_s),
                        text::memory(plan.memory), plan.text});
        if (recomputes)
            rows.back().insert(rows.back().end() - 1, plan.recomputation.empty() ? "-" : plan.recomputation);
    }
    return text + text::aligned(rows, 1, {.width = 0});
}

std::string csv_head() {
    return text::line({"variant", "parallelism", "simulated_s", "estimated_s", "lower_bound_s", "memory_total_bytes",
                       "recomputation"});
}

std::string to_csv(const std::string& variant, const Found& found) {
    std::string text;
    for (const FoundPlan& plan : found.plans)
        text += text::line({text::quoted(variant), text::quoted(plan.text), text::field(plan.simulated_s),
                            text::field(plan.estimated_s), text::field(plan.least_s),
                            text::field(static_cast<std::uint64_t>(plan.memory.total_bytes())), plan.recomputation});
    return text;
}

}  // namespace syncline::planning
