#include "sim/batch/variant_run.hpp"

#include <fmt/format.h>

#include "sim/analysis/trace_experiment.hpp"
#include "sim/jobs/job_estimate.hpp"
#include "sim/jobs/jobs_experiment.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/output/memory_text.hpp"

namespace syncline::batch {

Estimate estimate_of(const config::Variant& variant) {
    if (variant.trace) return estimate(variant.cluster, *variant.trace);
    if (variant.collective) return estimate(variant.cluster, *variant.collective);
    if (variant.jobs) return estimate(variant.cluster, *variant.jobs);
    return estimate(variant.lowered());
}

std::string shortage_of(const config::Variant& variant) {
    if (variant.jobs)
        for (const JobMemory& job : memory_of(variant.cluster, *variant.jobs))
            if (!job.memory.fits())
                return fmt::format("job '{}' {}", job.name, text::shortage(job.memory, variant.cluster.device.name));
    if (!variant.is_training()) return "";
    const Lowered& training = variant.lowered();
    const Memory memory = memory_of(training);
    return memory.fits() ? "" : "it " + text::shortage(memory, training.cluster.device.name);
}

Result simulated(const config::Variant& variant, const Watch& watch) {
    Result result = variant.trace  ? simulate(variant.cluster, *variant.trace, watch)
                    : variant.jobs ? simulate(variant.cluster, *variant.jobs, watch)
                                   : simulate(variant.lowered(), watch);
    result.variant = variant.name;
    return result;
}

}  // namespace syncline::batch
