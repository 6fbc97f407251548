#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/document/document.hpp"
#include "sim/import/foreign_keys.hpp"

/// Transformers as foreign files describe them, written as a workload: what `workloads/README.md` calls `attention`,
/// `feed-forward`, `moe`, …. Values have the places of the foreign file, so that errors are found there.
namespace syncline::config {

/// Builds a mapping key by key. Values without a place get that of the mapping.
class Written {
public:
    explicit Written(const Mark& mark) : node_(mapping_at(mark)) {}
    /// Begins an entry of a workload's `layers`.
    Written(const Mark& mark, const std::string& name, const char* kind) : Written(mark) {
        set("name", name).set("kind", kind);
    }

    Written& set(const char* key, Node value) {
        node_.entries.push_back({key, value.mark, std::move(value)});
        return *this;
    }
    Written& set(const char* key, const std::string& text) { return set(key, scalar_at(node_.mark, text)); }
    Written& set(const char* key, const char* text) { return set(key, std::string(text)); }
    Written& set(const char* key, bool value) { return set(key, value ? "true" : "false"); }
    Written& set(const char* key, std::int64_t value) { return set(key, std::to_string(value)); }
    Written& set(const char* key, const Given& number) {
        return set(key, scalar_at(number.mark, std::to_string(number.value)));
    }
    /// Sets nothing without a number.
    Written& set(const char* key, const std::optional<Given>& number) { return number ? set(key, *number) : *this; }

    const Mark& mark() const { return node_.mark; }
    Node take() { return std::move(node_); }

private:
    Node node_;
};

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
