#pragma once

#include "sim/import/foreign.hpp"

/// Megatron-LM's command line, in a script or alone. Names and defaults of options are those of
/// NVIDIA/Megatron-LM, megatron/training/arguments.py and core/transformer/transformer_config.py at d98e8a6.
namespace syncline::config {

bool is_megatron(const ForeignFile& file);

/// Reads the plan, and the model if the options have its shapes.
void read_megatron(const ForeignFile& file, Imported& imported);

}  // namespace syncline::config
