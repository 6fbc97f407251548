#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/import/architectures.hpp"

namespace syncline::config {

namespace {

/// What distinguishes the decoders whose layers are Llama's, with RMSNorm, a gate and rotated positions.
struct LlamaLike {
    std::string_view type;
    std::int64_t kv_heads;   ///< if the file has no number of them; 0: as many as heads
    std::int64_t head_size;  ///< if the file has none; 0: width / heads
    bool tied = false, qkv_bias = false, qk_norm = false, output_norms = false, merged_gate = false;
    enum class Windows { none, all, upper, even, five_of_six } windows = Windows::none;
    std::int64_t window = 0;  ///< if the file has no `sliding_window`
    enum class Kind { dense, mixtral, qwen, deepseek, llama4 } kind = Kind::dense;
    bool latent = false;  ///< attention
    bool biases = false;  ///< of all matrices, the router's too; and a sink for each head
};

using Windows = LlamaLike::Windows;
using Kind = LlamaLike::Kind;

constexpr std::array llama_likes{
    LlamaLike{.type = "llama", .kv_heads = 0, .head_size = 0},
    LlamaLike{.type = "mistral", .kv_heads = 8, .head_size = 0, .windows = Windows::all, .window = 4096},
    LlamaLike{.type = "mixtral", .kv_heads = 8, .head_size = 0, .windows = Windows::all, .kind = Kind::mixtral},
    LlamaLike{.type = "qwen2", .kv_heads = 32, .head_size = 0, .qkv_bias = true, .windows = Windows::upper},
    LlamaLike{.type = "qwen2_moe",
              .kv_heads = 16,
              .head_size = 0,
              .qkv_bias = true,
              .windows = Windows::upper,
              .kind = Kind::qwen},
    LlamaLike{.type = "qwen3", .kv_heads = 32, .head_size = 128, .qk_norm = true, .windows = Windows::upper},
    LlamaLike{.type = "qwen3_moe",
              .kv_heads = 4,
              .head_size = 0,
              .qk_norm = true,
              .windows = Windows::upper,
              .kind = Kind::qwen},
    LlamaLike{.type = "gemma", .kv_heads = 16, .head_size = 256, .tied = true},
    LlamaLike{.type = "gemma2",
              .kv_heads = 4,
              .head_size = 256,
              .tied = true,
              .output_norms = true,
              .windows = Windows::even,
              .window = 4096},
    LlamaLike{.type = "gemma3_text",
              .kv_heads = 4,
              .head_size = 256,
              .tied = true,
              .qk_norm = true,
              .output_norms = true,
              .windows = Windows::five_of_six,
              .window = 4096},
    LlamaLike{.type = "phi3", .kv_heads = 0, .head_size = 0, .merged_gate = true, .windows = Windows::all},
    LlamaLike{.type = "deepseek_v2", .kv_heads = 0, .head_size = 0, .kind = Kind::deepseek, .latent = true},
    LlamaLike{.type = "deepseek_v3", .kv_heads = 0, .head_size = 0, .kind = Kind::deepseek, .latent = true},
    LlamaLike{.type = "kimi_k2", .kv_heads = 0, .head_size = 0, .kind = Kind::deepseek, .latent = true},
    LlamaLike{.type = "glm4_moe", .kv_heads = 8, .head_size = 0, .kind = Kind::deepseek},
    LlamaLike{.type = "gpt_oss",
              .kv_heads = 8,
              .head_size = 64,
              .windows = Windows::even,
              .window = 128,
              .kind = Kind::mixtral,
              .biases = true},
    LlamaLike{.type = "llama4_text", .kv_heads = 8, .head_size = 128, .kind = Kind::llama4},
};

/// Returns for each layer whether a window limits its attention.
std::vector<bool> windowed(ForeignKeys& keys, const LlamaLike& family, std::size_t layers) {
    std::vector<bool> limited(layers, false);
    if (const Node* const types = keys.find({"layer_types"}); types && types->kind == Node::Kind::sequence) {
        if (types->items.size() != layers)
            keys.findings().fail(
                types->mark, fmt::format("'layer_types' has {} entries for {} layers", types->items.size(), layers));
        for (std::size_t i = 0; i < std::min(layers, types->items.size()); ++i) {
            const std::string& type = types->items[i].scalar;
            limited[i] = type == "sliding_attention";
            const bool whole = type == "full_attention" || (type == "chunked_attention" && family.kind == Kind::llama4);
            if (!limited[i] && !whole)
                keys.findings().fail(types->items[i].mark, fmt::format("'{}' is no kind of layer that is read", type),
                                     "sliding_attention, full_attention");
        }
        return limited;
    }
    const auto pattern = keys.whole({"sliding_window_pattern", "_sliding_window_pattern"});
    const auto upper = keys.whole({"max_window_layers"}, most_layers_given, 0);
    const bool used = keys.flag({"use_sliding_window"}).value_or(false);
    for (std::size_t i = 0; i < layers; ++i) switch (family.windows) {
            case Windows::none:
                break;
            case Windows::all:
                limited[i] = true;
                break;
            case Windows::upper:
                limited[i] = used && i >= static_cast<std::size_t>(upper ? upper->value : 28);
                break;
            case Windows::even:
                limited[i] = i % 2 == 0;
                break;
            case Windows::five_of_six:
                limited[i] = (i + 1) % static_cast<std::size_t>(pattern ? pattern->value : 6) != 0;
                break;
        }
    return limited;
}

/// Reads latent attention; returns nothing in `kv_heads`, which the files have all the same.
AttentionKeys latent_attention(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    AttentionKeys attention;
    attention.heads = keys.needed({"num_attention_heads"});
    if (!keys.is_null("q_lora_rank")) attention.query_rank = keys.whole({"q_lora_rank"}).value_or(Given{1536, mark});
    attention.kv_rank = keys.whole({"kv_lora_rank"}).value_or(Given{512, mark});
    attention.head_size = keys.whole({"qk_nope_head_dim"}).value_or(Given{128, mark});
    attention.rotary_size = keys.whole({"qk_rope_head_dim"}).value_or(Given{64, mark});
    attention.rotary = true;
    if (const auto values = keys.whole({"v_head_dim"}); values && values->value != attention.head_size->value)
        keys.findings().fail(values->mark, fmt::format("heads of {} values and {} keys cannot be said in a workload",
                                                       values->value, attention.head_size->value));
    keys.ignore("head_dim num_key_value_heads qk_head_dim");
    return attention;
}

AttentionKeys plain_attention(ForeignKeys& keys, const LlamaLike& family, const Given& width) {
    const Mark& mark = keys.mark();
    AttentionKeys attention;
    attention.heads = keys.needed({"num_attention_heads"});
    const std::int64_t heads = attention.heads.value;
    std::int64_t kv_heads = family.kv_heads > 0 && !keys.is_null("num_key_value_heads") ? family.kv_heads : heads;
    if (const auto given = keys.whole({"num_key_value_heads"})) {
        attention.kv_heads = given;
        kv_heads = given->value;
    } else if (kv_heads != heads) {
        attention.kv_heads = Given{kv_heads, mark};
    }
    std::int64_t size = family.head_size > 0 ? family.head_size : width.value / heads;
    if (const auto given = keys.whole({"head_dim"})) size = given->value;
    if (size * heads != width.value) attention.head_size = Given{size, mark};
    if (attention.kv_heads && kv_heads == heads) attention.kv_heads.reset();
    attention.rotary = true;
    attention.bias = keys.flag({"attention_bias"}).value_or(family.biases);
    const bool glm = family.type == "glm4_moe";
    const bool qkv_bias = family.qkv_bias || (glm && std::exchange(attention.bias, false));
    const bool qk_norm = family.qk_norm || (glm && keys.flag({"use_qk_norm"}).value_or(false));
    if (family.biases) attention.extra_parameters += heads;
    if (qkv_bias) attention.extra_parameters += (heads + 2 * kv_heads) * size;
    if (qk_norm) attention.extra_parameters += 2 * size;
    if (family.output_norms) attention.extra_parameters += width.value;
    return attention;
}

/// Returns for each layer whether it has experts.
std::vector<bool> with_experts(ForeignKeys& keys, const LlamaLike& family, std::size_t layers) {
    std::vector<bool> sparse(layers, family.kind != Kind::dense);
    if (family.kind == Kind::qwen) {
        const auto step = keys.whole({"decoder_sparse_step"}, most_layers_given);
        for (std::size_t i = 0; i < layers; ++i)
            sparse[i] = (i + 1) % static_cast<std::size_t>(step ? step->value : 1) == 0;
        if (const Node* const dense = keys.find({"mlp_only_layers"}))
            for (const Node& item : dense->items)
                if (const auto number = foreign_whole(item);
                    number && *number >= 0 && static_cast<std::size_t>(*number) < layers)
                    sparse[static_cast<std::size_t>(*number)] = false;
    }
    if (family.kind == Kind::llama4) {
        const auto step = keys.whole({"interleave_moe_layer_step"}, most_layers_given, 0);
        const std::int64_t every = step ? step->value : 1;
        for (std::size_t i = 0; i < layers; ++i)
            sparse[i] = every > 0 && (i + 1) % static_cast<std::size_t>(every) == 0;
        if (const Node* const listed = keys.find({"moe_layers"}); listed && listed->kind == Node::Kind::sequence) {
            sparse.assign(layers, false);
            for (const Node& item : listed->items)
                if (const auto number = foreign_whole(item);
                    number && *number >= 0 && static_cast<std::size_t>(*number) < layers)
                    sparse[static_cast<std::size_t>(*number)] = true;
        }
    }
    if (family.kind == Kind::deepseek) {
        const std::int64_t absent = family.type == "deepseek_v3" ? 3 : 0;
        const auto first = keys.whole({"first_k_dense_replace"}, most_layers_given, 0),
                   frequency = keys.whole({"moe_layer_freq"}, most_layers_given);
        for (std::size_t i = 0; i < layers; ++i)
            sparse[i] = i >= static_cast<std::size_t>(first ? first->value : absent) &&
                        i % static_cast<std::size_t>(frequency ? frequency->value : 1) == 0;
    }
    return sparse;
}

/// Reads the feed-forward half of layers with experts.
ForwardKeys sparse_forward(ForeignKeys& keys, const LlamaLike& family, const Given& width) {
    ForwardKeys forward;
    forward.gated = true;
    ExpertKeys experts;
    constexpr std::int64_t most_experts = 1 << 16;
    experts.experts = keys.needed({"num_experts", "num_local_experts", "n_routed_experts"}, most_experts);
    experts.top_k = keys.needed({"num_experts_per_tok", "experts_per_token"}, most_experts);
    forward.bias = family.biases;
    if (family.biases) forward.extra_parameters += experts.experts.value;
    if (family.kind == Kind::llama4) experts.shared = Given{1, keys.mark()};
    forward.hidden = family.kind == Kind::mixtral || family.kind == Kind::llama4
                         ? keys.needed({"intermediate_size"})
                         : keys.needed({"moe_intermediate_size"});
    if (family.kind == Kind::deepseek) experts.shared = keys.whole({"n_shared_experts"}, most_experts, 0);
    if (experts.shared && experts.shared->value == 0) experts.shared.reset();
    if (const auto shared = family.type == "qwen2_moe" ? std::optional(keys.needed({"shared_expert_intermediate_size"}))
                                                       : std::nullopt) {
        experts.shared = Given{1, shared->mark};
        experts.shared_hidden = shared;
        forward.extra_parameters += width.value;  // its gate, a row
    }
    forward.experts = experts;
    if (family.kind == Kind::deepseek && family.type != "deepseek_v2")
        keys.findings().note(keys.mark(),
                             "left out: biases of the router's scores, one for each expert, which no gradient changes");
    return forward;
}

Node read_llama_like(ForeignKeys& keys) {
    const std::string type = keys.word({"model_type"}).value_or("");
    const LlamaLike& family =
        *std::find_if(llama_likes.begin(), llama_likes.end(), [&](const LlamaLike& one) { return one.type == type; });
    LanguageModel model;
    model.mark = keys.mark();
    model.name = model_name(keys, std::string(family.type));
    model.vocabulary = keys.needed({"vocab_size"});
    Stack& stack = model.stack;
    stack.width = keys.needed({"hidden_size"});
    const auto layers = static_cast<std::size_t>(keys.needed({"num_hidden_layers"}, most_layers_given).value);
    const auto longest = keys.whole({"max_position_embeddings"}, 1 << 30);
    model.sequence = sequence_of(keys, longest.value_or(Given{8192, model.mark}));
    model.tied = keys.flag({"tie_word_embeddings"}).value_or(family.tied);
    stack.dropout = drops(keys, {"attention_dropout", "resid_pdrop", "embd_pdrop", "hidden_dropout"}, false);
    DecoderLayer layer;
    layer.attention = family.latent ? latent_attention(keys) : plain_attention(keys, family, stack.width);
    if (family.latent) layer.attention.bias = keys.flag({"attention_bias"}).value_or(false);
    layer.forward.gated = true;
    layer.forward.merged_gate = family.merged_gate;
    layer.forward.bias = keys.flag({"mlp_bias"}).value_or(false);
    layer.forward.extra_parameters = family.output_norms ? stack.width.value : 0;

    std::optional<Given> window = keys.whole({"sliding_window"}, 1 << 30);
    if (!window && family.window > 0 && !keys.is_null("sliding_window")) window = Given{family.window, model.mark};
    const std::vector<bool> limited = windowed(keys, family, layers), sparse = with_experts(keys, family, layers);
    const bool experts = std::find(sparse.begin(), sparse.end(), true) != sparse.end();
    const bool dense = std::find(sparse.begin(), sparse.end(), false) != sparse.end();
    const bool own_size = family.kind == Kind::llama4;  // of layers without experts
    if (dense) layer.forward.hidden = keys.needed({own_size ? "intermediate_size_mlp" : "intermediate_size"});
    // A layer's kind is one of four: with a window or not, with experts or not.
    stack.kinds.assign(4, layer);
    stack.kinds[1].attention.window = stack.kinds[3].attention.window = window;
    if (experts) stack.kinds[2].forward = stack.kinds[3].forward = sparse_forward(keys, family, stack.width);
    for (std::size_t i = 0; i < layers; ++i)
        stack.order.push_back((limited[i] && window ? 1 : 0) + (sparse[i] ? 2 : 0));
    keys.ignore(
        "intermediate_size moe_intermediate_size num_experts num_experts_per_tok "
        "shared_expert_intermediate_size intermediate_size_mlp");
    if (family.kind == Kind::llama4) {
        keys.ignore(
            "attn_scale attn_temperature_tuning floor_scale for_llm_compressor no_rope_layer_interval no_rope_layers "
            "use_qk_norm");
        if (const auto chunk = keys.whole({"attention_chunk_size"}, 1 << 30);
            chunk && chunk->value < model.sequence.value)
            keys.findings().note(chunk->mark, "left out: chunks of the sequence to which attention is limited");
    }
    if (family.biases) keys.ignore("initial_context_length swiglu_limit");
    if (family.type == "glm4_moe") keys.ignore("partial_rotary_factor");
    if (const auto more = keys.whole({"num_nextn_predict_layers"}, most_layers_given, 0); more && more->value > 0)
        keys.findings().note(more->mark,
                             "left out: the module that predicts further tokens, which is not part of the model");
    if (const Node* const stored = keys.find({"quantization_config"}))
        keys.findings().note(stored->mark, "left out: the data type in which weights are stored");
    return workload_of(model);
}

}  // namespace

std::vector<Architecture> llama_like_architectures() {
    std::vector<Architecture> all;
    for (const LlamaLike& family : llama_likes) all.push_back({std::string(family.type), read_llama_like});
    return all;
}

}  // namespace syncline::config
