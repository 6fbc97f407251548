#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

/// Reads the text as each kind of log.
void syncline::fuzz::import_log(std::string_view input) {
    const std::string file = file_with("measured.log", input);
    const std::string platform =
        "platform={nodes: 8, device: {name: d, flops: 1 Tflops, memory_bandwidth: 1 TBps}, "
        "fabric: {bandwidth: 1 GBps, latency: 1 us}}";
    const std::string workload =
        "workload={name: w, input: [1, 1, 1], layers: [{name: l, kind: custom, parameters: 10, macs: 10}]}";
    for (const char* const kind : {"", "nccl-tests", "osu"})
        reading([&] {
            config::import_files({.files = {file},
                                  .kind = kind,
                                  .assignments = {platform, "collective.ranks=8", "collective.operation=allreduce"}});
        });
    for (const char* const kind : {"megatron-log", "torchtitan-log", "trainer-log", "deepspeed-log"})
        reading([&] {
            config::import_files({.files = {file},
                                  .kind = kind,
                                  .assignments = {platform, workload, "training.ranks=8", "training.batch=8"}});
        });
}
