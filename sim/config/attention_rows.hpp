#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/platform/attention_table.hpp"

namespace syncline::config {

/// Measured rates by the name of the kernel.
using AttentionRows = std::map<std::string, std::vector<AttentionTable::Row>>;

/// Reads rates of fused attention: the header `kernel,pass,mask,head_size,sequence,tflops`, then a line for each, with
/// the pass `forward` or `backward`, and the mask `causal` or `none`; lines that begin with `#` are comments. `path` is
/// shown in errors. Throws ConfigError.
AttentionRows read_attention(const std::string& path, const std::string& text);

}  // namespace syncline::config
