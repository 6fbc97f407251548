#pragma once

#include "sim/document/document.hpp"
#include "sim/import/findings.hpp"

/// Hugging Face's `config.json`. Keys, spellings and defaults are those of `configuration_*.py` in
/// huggingface/transformers/src/transformers/models; a key's absence is not its null.
namespace syncline::config {

bool is_huggingface(const Node& document);

/// Returns the workload of such a file, whose parameters are those of the PyTorch model; a null after errors.
Node read_huggingface(const Node& document, Findings& findings);

}  // namespace syncline::config
