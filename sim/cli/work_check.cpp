#include "sim/cli/work_check.hpp"

#include <fmt/format.h>

#include "sim/analysis/estimate.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/output/files.hpp"
#include "sim/process/memory.hpp"

namespace syncline::cli {

namespace {

class Check {
public:
    explicit Check(bool forced) : forced_(forced) {}

    void add(const Location& where, const std::string& what, const Estimate& estimate) {
        const std::string reason = excess(estimate, usable_memory_bytes());
        if (reason.empty()) return;
        if (forced_)
            say("note: {} {}\n", what, reason);
        else
            refused_.push_back({where, fmt::format("{} {}", what, reason), smaller(estimate)});
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
        check.add(variant.training, fmt::format("variant '{}'", variant.name),
                  variant.collective ? estimate(variant.cluster, *variant.collective) : estimate(variant.lowered()));
    check.end();
}

void check_work(const config::CollectiveQuestion& question, bool forced) {
    Check check(forced);
    check.add({"--ranks", 1, 1, std::to_string(question.plan.ranks)}, "this operation",
              estimate(question.cluster, question.plan));
    check.end();
}

void add_force(CLI::App& verb, bool& force) {
    verb.add_flag("--force", force,
                  "Also simulate what is estimated to be too large: more than 2e9 messages, or 80 % of the memory");
}

}  // namespace syncline::cli
