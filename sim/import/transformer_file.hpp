#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/document/document.hpp"
#include "sim/import/foreign_keys.hpp"
#include "sim/import/written.hpp"

/// Transformers as foreign files describe them, written as a workload: what `workloads/README.md` calls `attention`,
/// `feed-forward`, `moe`, …. Values have the places of the foreign file, so that errors are found there.
namespace syncline::config {

struct AttentionKeys {
    Given heads;
    std::optional<Given> kv_heads, head_size, window, query_rank, kv_rank, rotary_size;
    bool rotary = false, bias = false;
    std::int64_t extra_parameters = 0;
};

struct ExpertKeys {
    Given experts, top_k;
    std::optional<Given> shared, shared_hidden;
    std::string capacity;  ///< "": as many rows as tokens
    bool fused_permutation = true;
};

struct ForwardKeys {
    Given hidden;
    bool gated = false, merged_gate = false, bias = false;
    std::optional<ExpertKeys> experts = {};
    std::int64_t extra_parameters = 0;
};

/// A transformer's layer.
struct DecoderLayer {
    AttentionKeys attention;
    ForwardKeys forward;
};

/// A stack of layers of few kinds.
struct Stack {
    Given width;
    std::string norm = "rms";
    bool dropout = false;
    std::string parallel = "none";
    std::vector<DecoderLayer> kinds;
    std::vector<std::size_t> order;  ///< for each layer the number of its kind
};

/// Returns entries of a workload's `layers` for a stack: as few as say it, runs and periods as repeated blocks.
std::vector<Node> stack_layers(const Stack& stack, const Mark& mark);

/// A language model with one stack.
struct LanguageModel {
    std::string name;
    Mark mark;
    Given sequence, vocabulary;
    bool causal = true, learned_positions = false, tied = false;
    const char* embedding_norm = "none";
    std::int64_t embedding_extra = 0;  ///< parameters
    Stack stack;
};

/// Returns `name` in the characters of our names, after `prefix` if it does not begin with a letter.
std::string written_name(std::string name, const std::string& prefix);

/// Returns the beginning of a workload: all keys but the layers.
Written workload_head(const std::string& name, const Mark& mark, const Given& sequence, bool causal);
Node with_layers(Written head, std::vector<Node> layers);

/// Returns the workload. The last normalisation is that of the stack's layers.
Node workload_of(const LanguageModel& model);

}  // namespace syncline::config
