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
    explicit Check(Large answer) : answer_(answer) {}

    void add(const Location& where, const std::string& what, const Estimate& estimate) {
        const std::string reason = excess(estimate, usable_memory_bytes());
        if (reason.empty()) return;
        if (answer_ != Large::refused)
            say("note: {} {}{}\n", what, reason, answer_ == Large::forced ? "" : "; `--force` begins it");
        else
            refused_.push_back({where, fmt::format("{} {}", what, reason), smaller(estimate, "--force")});
    }

    void end() {
        if (!refused_.empty()) throw ConfigError(std::move(refused_));
    }

private:
    const Large answer_;
    std::vector<Diagnostic> refused_;
};

}  // namespace

void check_work(const config::Scenario& scenario, Large answer) {
    Check check(answer);
    for (const config::Variant& variant : scenario.variants)
        check.add(variant.training, fmt::format("variant '{}'", variant.name),
                  variant.collective ? estimate(variant.cluster, *variant.collective) : estimate(variant.lowered()));
    check.end();
}

void check_work(const config::CollectiveQuestion& question, Large answer) {
    Check check(answer);
    check.add({"--ranks", 1, 1, std::to_string(question.plan.ranks)}, "this operation",
              estimate(question.cluster, question.plan));
    check.end();
}

void add_force(CLI::App& verb, bool& force) {
    verb.add_flag("--force", force,
                  "Also simulate what is estimated to be too large: more than 2e9 messages, or 80 % of the memory");
}

}  // namespace syncline::cli
