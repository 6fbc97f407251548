#pragma once

#include <string>

#include "sim/config/import_question.hpp"
#include "tests/fuzz/reading.hpp"

namespace syncline::fuzz {

/// Imports a foreign file with this name and content, alone, and with what a node or a plan needs besides. `kind`: see
/// ImportQuestion.
inline void import_as(const std::string& name, std::string_view content, const std::string& kind = "") {
    const std::string file = file_with(name, content);
    reading([&] { config::import_files({.files = {file}, .kind = kind}); });
    const std::string platform =
        "platform={nodes: 8, device: {name: h100, flops: 1 Tflops, memory_bandwidth: 1 TBps}, "
        "fabric: {bandwidth: 1 GBps, latency: 1 us}}";
    const std::string device = "platform.device={name: h100, flops: 1 Tflops, memory_bandwidth: 1 TBps}";
    reading([&] { config::import_files({.files = {file}, .kind = kind, .assignments = {device}}); });
    const std::string workload =
        "workload={name: w, input: [1, 1, 1], layers: [{name: l, kind: custom, parameters: 10, macs: 10}]}";
    reading([&] {
        config::import_files({.files = {file},
                              .kind = kind,
                              .assignments = {platform, workload, "training.ranks=8", "training.batch=8"}});
    });
}

}  // namespace syncline::fuzz
