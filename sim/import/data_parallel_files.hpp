#pragma once

#include "sim/import/foreign.hpp"

/// Files of frameworks that are data parallel first: their plans become `training` with a `framework`.
namespace syncline::config {

/// torchtitan's TOML, as until February 2026: torchtitan/config/job_config.py at 29624e37f. Its built-in models are our
/// presets.
bool is_torchtitan(const Node& document);
void read_torchtitan(const Node& document, Imported& imported);

/// DeepSpeed's JSON: deepspeed/runtime/config.py and zero/config.py at edaa72212.
bool is_deepspeed(const Node& document);
void read_deepspeed(const Node& document, Imported& imported);

/// What `accelerate config` writes: accelerate/utils/dataclasses.py.
bool is_accelerate(const Node& document);
void read_accelerate(const Node& document, Imported& imported);

}  // namespace syncline::config
