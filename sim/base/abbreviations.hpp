#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// What the field calls keys and results: one table for suggestions, columns and queries.
namespace syncline {

struct Abbreviation {
    std::string_view name;   ///< "tp"
    std::string_view key;    ///< of a scenario; empty if it is a result alone
    std::string_view field;  ///< of a training's result; empty if it is a key alone
    std::string_view text;   ///< "tensor parallelism"
};

constexpr std::array abbreviations{
    Abbreviation{"tp", "training.parallelism.model", "parallelism.rows", "tensor parallelism"},
    Abbreviation{"tensor", "training.parallelism.model", "", "tensor parallelism"},
    Abbreviation{"pp", "training.parallelism.pipeline.stages", "parallelism.stages", "pipeline parallelism"},
    Abbreviation{"dp", "training.parallelism.data", "parallelism.columns", "data parallelism"},
    Abbreviation{"cp", "training.parallelism.context", "parallelism.context", "context parallelism"},
    Abbreviation{"ep", "training.parallelism.experts", "parallelism.experts", "expert parallelism"},
    Abbreviation{"sp", "training.parallelism.sequence", "parallelism.sequence", "sequence parallelism"},
    Abbreviation{"vpp", "training.parallelism.pipeline.virtual_stages", "parallelism.chunks",
                 "virtual stages on each stage"},
    Abbreviation{"mbs", "training.parallelism.pipeline.micro_batch_size", "", "samples of a microbatch"},
    Abbreviation{"gbs", "training.batch", "samples", "samples of all ranks"},
    Abbreviation{"zero", "training.parallelism.sharding", "parallelism.sharding",
                 "ZeRO-1 is `optimizer`, ZeRO-2 `gradients`, ZeRO-3 `parameters`"},
    Abbreviation{"fsdp", "training.parallelism.sharding", "parallelism.sharding", "FSDP is `parameters`"},
    Abbreviation{"mfu", "", "model_flops_utilisation", "model FLOP utilisation"},
    Abbreviation{"hfu", "", "hardware_flops_utilisation", "hardware FLOP utilisation"},
    Abbreviation{"days", "", "run_time_s", "time of the whole training"},
};

/// Returns the abbreviation with this name in lower case; null if there is none.
constexpr const Abbreviation* find_abbreviation(std::string_view name) {
    const auto found = std::ranges::find(abbreviations, name, &Abbreviation::name);
    return found == abbreviations.end() ? nullptr : &*found;
}

}  // namespace syncline
