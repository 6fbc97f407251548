#include "sim/cli/memory_check.hpp"

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/output/memory_text.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

std::string hint(const Memory& memory) {
    // Fewer samples help only if the model itself fits.
    const bool fewer = 2 * memory.activations_bytes > memory.total_bytes() &&
                       memory.total_bytes() - memory.activations_bytes <= memory.device_bytes;
    return fmt::format("{}; `--allow-oom` simulates it anyway",
                       fewer ? "reduce the samples in flight: a smaller batch, or smaller micro-batches without gpipe"
                             : "put less of the model on each device: more `model` ranks, more stages, or `sharding`");
}

}  // namespace

void check_memory(const config::Scenario& scenario, bool allowed) {
    std::vector<Diagnostic> refused;
    for (const config::Variant& variant : scenario.variants) {
        const Memory memory = memory_of(variant.lowered());
        if (memory.fits()) continue;
        const std::string what = text::shortage(memory, variant.cluster.device.name);
        if (allowed)
            say("note: {}: {}\n", variant.name, what);
        else
            refused.push_back({variant.training, fmt::format("variant '{}' {}", variant.name, what), hint(memory)});
    }
    if (!refused.empty()) throw ConfigError(std::move(refused));
}

}  // namespace syncline::cli
