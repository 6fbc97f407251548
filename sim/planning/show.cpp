#include "sim/planning/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/output/memory.hpp"
#include "sim/output/text.hpp"

namespace syncline::planning {

std::string to_text(const std::string& variant, const Found& found) {
    std::string text =
        fmt::format("{}: `parallelism: auto` considered {} plans: {} skipped, {} estimated, {} simulated{}\n", variant,
                    found.considered, found.skipped.total(), found.plans.size(), found.simulated,
                    found.proven ? "; no other plan can be faster" : "");
    for (const Reasons::Reason& reason : found.skipped.all())
        text += fmt::format("  skipped {}: {}{} ({})\n", reason.count, reason.varies ? "for example " : "",
                            reason.example, reason.of.front());
    for (const std::string& remedy : found.remedies) text += fmt::format("  {}\n", remedy);
    if (found.plans.empty()) return text;
    std::vector<text::Row> rows{{"", "estimated", "simulated", "memory", "parallelism"}};
    for (std::size_t i = 0; i < std::min(listed, found.plans.size()); ++i) {
        const FoundPlan& plan = found.plans[i];
        rows.push_back({i == 0 ? "  *" : "", text::seconds(plan.estimated_s), text::seconds(plan.simulated_s),
                        text::memory(plan.memory), plan.text});
    }
    return text + text::aligned(rows, 1, {.width = 0});
}

std::string csv_head() {
    return text::line({"variant", "parallelism", "simulated_s", "estimated_s", "lower_bound_s", "memory_total_bytes"});
}

std::string to_csv(const std::string& variant, const Found& found) {
    std::string text;
    for (const FoundPlan& plan : found.plans)
        text += text::line({text::quoted(variant), text::quoted(plan.text), text::field(plan.simulated_s),
                            text::field(plan.estimated_s), text::field(plan.least_s),
                            text::field(static_cast<std::uint64_t>(plan.memory.total_bytes()))});
    return text;
}

}  // namespace syncline::planning
