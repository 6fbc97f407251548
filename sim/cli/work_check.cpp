#include "sim/cli/work_check.hpp"

#include <fmt/format.h>

#include "sim/analysis/estimate.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/batch/variant_run.hpp"
#include "sim/jobs/job_estimate.hpp"
#include "sim/output/memory_text.hpp"
#include "sim/output/reasons.hpp"
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

/// Returns ways out for a plan that does not fit.
std::string hint(const Memory& memory) {
    // Fewer samples help only if the model itself fits.
    const bool fewer = 2 * memory.activations_bytes > memory.total_bytes() &&
                       memory.total_bytes() - memory.activations_bytes <= memory.device_bytes;
    return fmt::format("{}; `--allow-oom` simulates it anyway",
                       fewer ? "reduce the samples in flight: a smaller batch, or smaller microbatches without gpipe"
                             : "put less of the model on each device: more `model` ranks, more stages, or `sharding`");
}

}  // namespace

void check_work(const config::Scenario& scenario, bool forced) {
    Check check(forced);
    for (const config::Variant& variant : scenario.variants) {
        check.add(variant.training, name_of(variant.name), batch::estimate_of(variant));
    }
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

void check_memory(const config::Scenario& scenario, bool allowed) {
    std::vector<Diagnostic> refused;
    for (const config::Variant& variant : scenario.variants) {
        if (variant.trace) continue;  // says nothing of memory
        if (variant.jobs) {
            for (const JobMemory& job : memory_of(variant.cluster, *variant.jobs)) {
                if (job.memory.fits()) continue;
                const std::string what =
                    fmt::format("job '{}' {}", job.name, text::shortage(job.memory, variant.cluster.device.name));
                if (allowed)
                    say("note: {}: {}\n", variant.name, what);
                else
                    refused.push_back({variant.job_places[job.written], what, hint(job.memory)});
            }
            continue;
        }
        const Memory memory = memory_of(variant.lowered());
        if (memory.fits()) continue;
        const std::string what = text::shortage(memory, variant.lowered().cluster.device.name);
        if (allowed)
            say("note: {}: {}\n", variant.name, what);
        else
            refused.push_back({variant.training, fmt::format("variant '{}' {}", variant.name, what), hint(memory)});
    }
    if (!refused.empty()) throw ConfigError(std::move(refused));
}

void say_left_out(const std::vector<std::string>& left_out) {
    constexpr std::size_t most = 5;
    Reasons reasons;
    for (const std::string& why : left_out) {
        reasons.add(why);
        if (left_out.size() <= most) say("note: skipped {}\n", why);
    }
    if (left_out.size() <= most) return;
    for (const Reasons::Reason& reason : reasons.all())
        if (reason.count == 1)
            say("note: skipped {}\n", reason.example);
        else
            say("note: skipped {} choices, for example {}\n", reason.count, reason.example);
}

void add_force(CLI::App& verb, bool& force) {
    verb.add_flag("--force", force,
                  "Also simulate what is estimated to be too large: more than 2e9 messages, or 80 % of the memory");
}

}  // namespace syncline::cli
