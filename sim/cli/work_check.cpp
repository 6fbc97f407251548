#include "sim/cli/work_check.hpp"

#include <fmt/format.h>

#include "sim/analysis/estimate.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/output/written_files.hpp"
#include "sim/process/memory_limit.hpp"

namespace syncline::cli {

namespace {

/// Returns the name of a simulation; of a single operation, if no variant is named.
std::string name_of(const std::string& variant) {
    return variant.empty() ? "this operation" : fmt::format("variant '{}'", variant);
}

class Check {
public:
    explicit Check(bool forced) : forced_(forced) {}

    void add(const Location& where, const std::string& what, const Estimate& estimate) {
        const std::string reason = excess(estimate, usable_memory_bytes());
        if (reason.empty()) return;
        if (forced_)
            say("note: {} {}\n", what, reason);
        else
            refused_.push_back({where, fmt::format("{} {}", what, reason), smaller(estimate, "--force")});
    }

    void end() {
        if (!refused_.empty()) throw ConfigError(std::move(refused_));
    }

private:
    const bool forced_;
    std::vector<Diagnostic> refused_;
};

}  // namespace

void check_work(const config::Scenario& scenario, bool forced) {
    Check check(forced);
    for (const config::Variant& variant : scenario.variants)
        check.add(variant.training, name_of(variant.name),
                  variant.collective ? estimate(variant.cluster, *variant.collective) : estimate(variant.lowered()));
    check.end();
}

void check_work(const config::CollectiveQuestion& question, bool forced) {
    Check check(forced);
    check.add({"--ranks", 1, 1, std::to_string(question.plan.ranks)}, name_of(""),
              estimate(question.cluster, question.plan));
    check.end();
}

void announce_work(const DryRunReport& report) {
    for (const DryRun& run : report.results)
        if (const std::string reason = excess(run.estimate, usable_memory_bytes()); !reason.empty())
            say("note: {} {}; `--force` begins it\n", name_of(run.variant), reason);
}

void add_force(CLI::App& verb, bool& force) {
    verb.add_flag("--force", force,
                  "Also simulate what is estimated to be too large: more than 2e9 messages, or 80 % of the memory");
}

}  // namespace syncline::cli
