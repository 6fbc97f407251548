#pragma once

#include <string>

#include "sim/import/foreign.hpp"

/// Megatron-LM's command line, in a script or alone. Names and defaults of options are those of
/// NVIDIA/Megatron-LM, megatron/training/arguments.py and core/transformer/transformer_config.py at d98e8a6.
namespace syncline::config {

bool is_megatron(const ForeignFile& file);

/// Reads the plan, and the model if the options have its shapes.
void read_megatron(const ForeignFile& file, Imported& imported);

/// Reads a mapping of such options without their dashes, named in messages with `prefix`; `with_model`: also the model.
void read_megatron_options(const Node& options, const Mark& start, const std::string& prefix, bool with_model,
                           Imported& imported);

/// NeMo 1's YAML, whose keys are Megatron-LM's options: examples/nlp/language_modeling/conf/megatron_gpt_config.yaml.
bool is_nemo(const Node& document);
void read_nemo(const Node& document, Imported& imported);

}  // namespace syncline::config
