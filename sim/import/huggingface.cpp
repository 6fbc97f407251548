#include "sim/import/huggingface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "sim/base/did_you_mean.hpp"
#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

/// Tokens of a sample if the file's maximum is larger: what most pre-trainings use.
constexpr std::int64_t usual_sequence = 8192;
constexpr std::int64_t most_layers_given = 10'000;

/// Keys that change neither shapes nor times.
const std::vector<std::string_view> without_effect{"_attn_implementation",
                                                   "_name_or_path",
                                                   "activation_function",
                                                   "add_bias_logits",
                                                   "add_cross_attention",
                                                   "architectures",
                                                   "attn_implementation",
                                                   "attn_logit_softcapping",
                                                   "aux_loss_alpha",
                                                   "auto_map",
                                                   "bad_words_ids",
                                                   "begin_suppress_tokens",
                                                   "bos_token_id",
                                                   "cache_implementation",
                                                   "chunk_size_feed_forward",
                                                   "classifier_dropout",
                                                   "decoder_start_token_id",
                                                   "dense_act_fn",
                                                   "dtype",
                                                   "encoder_stride",
                                                   "eos_token_id",
                                                   "ep_size",
                                                   "final_logit_softcapping",
                                                   "finetuning_task",
                                                   "forced_decoder_ids",
                                                   "gradient_checkpointing",
                                                   "hidden_act",
                                                   "hidden_activation",
                                                   "id2label",
                                                   "image_processor_type",
                                                   "initializer_factor",
                                                   "initializer_range",
                                                   "is_decoder",
                                                   "is_encoder_decoder",
                                                   "label2id",
                                                   "layer_norm_eps",
                                                   "layer_norm_epsilon",
                                                   "layer_norm_elementwise_affine",
                                                   "layerdrop",
                                                   "max_length",
                                                   "mlp_layer_types",
                                                   "model_max_length",
                                                   "model_type",
                                                   "n_ctx",
                                                   "n_group",
                                                   "norm_topk_prob",
                                                   "original_max_position_embeddings",
                                                   "output_attentions",
                                                   "output_past",
                                                   "output_router_logits",
                                                   "output_hidden_states",
                                                   "pad_token_id",
                                                   "pooler_fc_size",
                                                   "pooler_num_attention_heads",
                                                   "pooler_num_fc_layers",
                                                   "pooler_size_per_head",
                                                   "pooler_type",
                                                   "position_embedding_type",
                                                   "prefix",
                                                   "pretraining_tp",
                                                   "problem_type",
                                                   "quantization_config",
                                                   "query_pre_attn_scalar",
                                                   "relative_attention_max_distance",
                                                   "reorder_and_upcast_attn",
                                                   "return_dict",
                                                   "rms_norm_eps",
                                                   "rope_interleave",
                                                   "rope_local_base_freq",
                                                   "rope_parameters",
                                                   "rope_scaling",
                                                   "rope_theta",
                                                   "rotary_emb_base",
                                                   "routed_scaling_factor",
                                                   "router_aux_loss_coef",
                                                   "router_jitter_noise",
                                                   "scale_attn_by_inverse_layer_idx",
                                                   "scale_attn_weights",
                                                   "scoring_func",
                                                   "sep_token_id",
                                                   "seq_aux",
                                                   "skip_bias_add",
                                                   "skip_bias_add_qkv",
                                                   "slow_but_exact",
                                                   "apply_residual_connection_post_layernorm",
                                                   "masked_softmax_fusion",
                                                   "bias_dropout_fusion",
                                                   "n_positions",
                                                   "summary_activation",
                                                   "summary_first_dropout",
                                                   "summary_proj_to_labels",
                                                   "summary_type",
                                                   "summary_use_proj",
                                                   "task_specific_params",
                                                   "text_config",
                                                   "tokenizer_class",
                                                   "topk_group",
                                                   "topk_method",
                                                   "torch_dtype",
                                                   "torchscript",
                                                   "transformers_version",
                                                   "unk_token_id",
                                                   "use_cache",
                                                   "use_sliding_window",
                                                   "max_window_layers",
                                                   "sliding_window",
                                                   "vision_config",
                                                   "use_mambapy",
                                                   "_remove_final_layer_norm",
                                                   "enable_bias",
                                                   "activation_dropout",
                                                   "init_std",
                                                   "hidden_dropout",
                                                   "resid_pdrop",
                                                   "embd_pdrop",
                                                   "attn_pdrop",
                                                   "attention_dropout",
                                                   "max_position_embeddings"};

/// Returns a name for the model: that of the path from which it was saved, or the file's, or its type.
std::string model_name(ForeignKeys& keys, const std::string& type) {
    std::string name = keys.word({"_name_or_path"}).value_or("");
    name = std::filesystem::path(name).filename().string();
    const std::string stem = std::filesystem::path(keys.mark().source->name).stem().string();
    if (name.empty() || name == "." || name == "..") name = stem == "config" ? type : stem;
    return written_name(name, type);
}

/// Returns whether one of these rates of dropout is above 0; `absent` if none is there.
bool drops(ForeignKeys& keys, std::initializer_list<const char*> names, bool absent) {
    bool given = false, above = false;
    for (const char* name : names)
        if (const auto rate = keys.number({name})) {
            given = true;
            above = above || *rate > 0;
        }
    return given ? above : absent;
}

/// Returns the tokens of a sample. The file has only their maximum, which may be that of an extension.
Given sequence_of(ForeignKeys& keys, Given longest) {
    for (const char* name : {"rope_scaling", "rope_parameters"}) {
        const Node* const scaling = keys.find({name});
        const Node* const original = scaling ? scaling->find("original_max_position_embeddings") : nullptr;
        if (const auto value = original ? foreign_whole(*original) : std::nullopt; value && *value > 0)
            longest = {std::min(*value, longest.value), original->mark};
    }
    if (const Node* const original = keys.find({"original_max_position_embeddings"}))
        if (const auto value = foreign_whole(*original); value && *value > 0)
            longest = {std::min(*value, longest.value), original->mark};
    if (longest.value <= usual_sequence) return longest;
    keys.findings().note(
        longest.mark,
        fmt::format("the sequence is {} tokens, which is chosen: the file has only the maximum", usual_sequence),
        "in a scenario `workload.sequence` changes it");
    return {usual_sequence, longest.mark};
}

/// What distinguishes the decoders whose layers are Llama's, with RMSNorm, a gate and rotated positions.
struct LlamaLike {
    std::string_view type;
    std::int64_t kv_heads;   ///< if the file has no number of them; 0: as many as heads
    std::int64_t head_size;  ///< if the file has none; 0: width / heads
    bool tied = false, qkv_bias = false, qk_norm = false, output_norms = false, merged_gate = false;
    enum class Windows { none, all, upper, even, five_of_six } windows = Windows::none;
    std::int64_t window = 0;  ///< if the file has no `sliding_window`
    enum class Kind { dense, mixtral, qwen, deepseek } kind = Kind::dense;
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
    LlamaLike{.type = "deepseek_v2", .kv_heads = 0, .head_size = 0, .kind = Kind::deepseek},
    LlamaLike{.type = "deepseek_v3", .kv_heads = 0, .head_size = 0, .kind = Kind::deepseek},
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
            if (!limited[i] && type != "full_attention")
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
    keys.ignore({"head_dim", "num_key_value_heads", "qk_head_dim"});
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
    attention.bias = keys.flag({"attention_bias"}).value_or(false);
    if (family.qkv_bias) attention.extra_parameters += (heads + 2 * kv_heads) * size;
    if (family.qk_norm) attention.extra_parameters += 2 * size;
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
    experts.top_k = keys.needed({"num_experts_per_tok"}, most_experts);
    forward.hidden =
        family.kind == Kind::mixtral ? keys.needed({"intermediate_size"}) : keys.needed({"moe_intermediate_size"});
    if (family.kind == Kind::deepseek) experts.shared = keys.whole({"n_shared_experts"}, most_experts, 0);
    if (experts.shared && experts.shared->value == 0) experts.shared.reset();
    if (const auto shared = family.type == "qwen2_moe" ? std::optional(keys.needed({"shared_expert_intermediate_size"}))
                                                       : std::nullopt) {
        experts.shared = Given{1, shared->mark};
        experts.shared_hidden = shared;
        forward.extra_parameters += width.value;  // its gate, a row
    }
    forward.experts = experts;
    if (family.type == "deepseek_v3")
        keys.findings().note(keys.mark(),
                             "left out: biases of the router's scores, one for each expert, which no gradient changes");
    return forward;
}

Node read_llama_like(ForeignKeys& keys, const LlamaLike& family) {
    LanguageModel model;
    model.mark = keys.mark();
    model.name = model_name(keys, std::string(family.type));
    model.vocabulary = keys.needed({"vocab_size"});
    Stack& stack = model.stack;
    stack.width = keys.needed({"hidden_size"});
    const auto layers = static_cast<std::size_t>(keys.needed({"num_hidden_layers"}, most_layers_given).value);
    const auto longest = keys.whole({"max_position_embeddings"}, 1 << 30);
    model.sequence = sequence_of(keys, longest.value_or(Given{usual_sequence, model.mark}));
    model.tied = keys.flag({"tie_word_embeddings"}).value_or(family.tied);
    stack.dropout = drops(keys, {"attention_dropout", "resid_pdrop", "embd_pdrop", "hidden_dropout"}, false);
    DecoderLayer layer;
    layer.attention =
        family.kind == Kind::deepseek ? latent_attention(keys) : plain_attention(keys, family, stack.width);
    if (family.kind == Kind::deepseek) layer.attention.bias = keys.flag({"attention_bias"}).value_or(false);
    layer.forward.gated = true;
    layer.forward.merged_gate = family.merged_gate;
    layer.forward.bias = keys.flag({"mlp_bias"}).value_or(false);
    layer.forward.extra_parameters = family.output_norms ? stack.width.value : 0;

    std::optional<Given> window = keys.whole({"sliding_window"}, 1 << 30);
    if (!window && family.window > 0 && !keys.is_null("sliding_window")) window = Given{family.window, model.mark};
    const std::vector<bool> limited = windowed(keys, family, layers), sparse = with_experts(keys, family, layers);
    const bool experts = std::find(sparse.begin(), sparse.end(), true) != sparse.end();
    const bool dense = std::find(sparse.begin(), sparse.end(), false) != sparse.end();
    if (dense) layer.forward.hidden = keys.needed({"intermediate_size"});
    // A layer's kind is one of four: with a window or not, with experts or not.
    stack.kinds.assign(4, layer);
    stack.kinds[1].attention.window = stack.kinds[3].attention.window = window;
    if (experts) stack.kinds[2].forward = stack.kinds[3].forward = sparse_forward(keys, family, stack.width);
    for (std::size_t i = 0; i < layers; ++i)
        stack.order.push_back((limited[i] && window ? 1 : 0) + (sparse[i] ? 2 : 0));
    keys.ignore({"intermediate_size", "moe_intermediate_size", "num_experts", "num_experts_per_tok",
                 "shared_expert_intermediate_size"});
    if (const auto more = keys.whole({"num_nextn_predict_layers"}, most_layers_given, 0); more && more->value > 0)
        keys.findings().note(more->mark,
                             "left out: the module that predicts further tokens, which is not part of the model");
    if (const Node* const stored = keys.find({"quantization_config"}))
        keys.findings().note(stored->mark, "left out: the data type in which weights are stored");
    return workload_of(model);
}

/// Reads the stack of models whose matrices all have biases, with LayerNorm and two matrices in the feed-forward half.
Stack classic_stack(ForeignKeys& keys, const Given& width, const Given& heads, const std::optional<Given>& hidden,
                    std::int64_t layers) {
    Stack stack;
    stack.width = width;
    stack.norm = "layer";
    DecoderLayer layer;
    layer.attention.heads = heads;
    layer.attention.bias = layer.forward.bias = true;
    layer.forward.hidden = hidden.value_or(Given{4 * width.value, keys.mark()});
    stack.kinds = {layer};
    stack.order.assign(static_cast<std::size_t>(layers), 0);
    return stack;
}

Node read_gpt2(ForeignKeys& keys) {
    LanguageModel model;
    model.mark = keys.mark();
    model.name = model_name(keys, "gpt2");
    model.vocabulary = keys.needed({"vocab_size"});
    model.sequence = keys.needed({"n_positions", "max_position_embeddings"});
    model.learned_positions = true;
    model.tied = keys.flag({"tie_word_embeddings"}).value_or(true);
    const Given width = keys.needed({"n_embd", "hidden_size"}), heads = keys.needed({"n_head", "num_attention_heads"});
    const Given layers = keys.needed({"n_layer", "num_hidden_layers"}, most_layers_given);
    model.stack = classic_stack(keys, width, heads, keys.whole({"n_inner"}), layers.value);
    model.stack.dropout = drops(keys, {"attn_pdrop", "resid_pdrop", "embd_pdrop"}, true);
    return workload_of(model);
}

Node read_bloom(ForeignKeys& keys) {
    LanguageModel model;
    model.mark = keys.mark();
    model.name = model_name(keys, "bloom");
    model.vocabulary = keys.needed({"vocab_size"});
    model.sequence = keys.whole({"seq_length"}).value_or(Given{2048, model.mark});
    model.tied = keys.flag({"tie_word_embeddings"}).value_or(true);
    model.embedding_norm = "layer";
    const Given width = keys.needed({"hidden_size", "n_embed"}), heads = keys.needed({"n_head", "num_attention_heads"});
    const Given layers = keys.needed({"n_layer", "num_hidden_layers"}, most_layers_given);
    model.stack = classic_stack(keys, width, heads, std::nullopt, layers.value);
    model.stack.dropout = drops(keys, {"attention_dropout", "hidden_dropout"}, false);
    return workload_of(model);
}

Node read_gpt_neox(ForeignKeys& keys) {
    LanguageModel model;
    model.mark = keys.mark();
    model.name = model_name(keys, "gpt-neox");
    model.vocabulary = keys.needed({"vocab_size"});
    model.sequence = sequence_of(keys, keys.needed({"max_position_embeddings"}, 1 << 30));
    model.tied = keys.flag({"tie_word_embeddings"}).value_or(false);
    const Given width = keys.needed({"hidden_size"}), heads = keys.needed({"num_attention_heads"});
    const Given layers = keys.needed({"num_hidden_layers"}, most_layers_given);
    model.stack = classic_stack(keys, width, heads, keys.needed({"intermediate_size"}), layers.value);
    model.stack.dropout = drops(keys, {"attention_dropout", "hidden_dropout"}, false);
    model.stack.kinds.front().attention.rotary = true;
    if (keys.flag({"use_parallel_residual"}).value_or(true)) model.stack.parallel = "two-norms";
    if (!keys.flag({"attention_bias"}).value_or(true))
        keys.findings().fail(
            keys.mark(), "attention without biases beside a feed-forward layer with them cannot be said in a workload");
    if (const auto share = keys.number({"rotary_pct", "partial_rotary_factor"}); share && *share < 1)
        keys.findings().note(keys.mark(),
                             "whole heads are rotated, not a part of them, which counts only the data that it moves");
    return workload_of(model);
}

Node read_opt(ForeignKeys& keys) {
    LanguageModel model;
    model.mark = keys.mark();
    model.name = model_name(keys, "opt");
    model.vocabulary = keys.needed({"vocab_size"});
    const Given positions = keys.needed({"max_position_embeddings"});
    model.sequence = positions;
    model.tied = keys.flag({"tie_word_embeddings"}).value_or(true);
    const Given width = keys.needed({"hidden_size"}), heads = keys.needed({"num_attention_heads"});
    const Given layers = keys.needed({"num_hidden_layers"}, most_layers_given);
    model.stack = classic_stack(keys, width, heads, keys.needed({"ffn_dim"}), layers.value);
    model.stack.dropout = drops(keys, {"dropout", "attention_dropout"}, true);
    if (!keys.flag({"enable_bias"}).value_or(true)) keys.findings().fail(model.mark, "OPT without biases is not read");
    const bool before = keys.flag({"do_layer_norm_before"}).value_or(true);
    const Given narrow = keys.whole({"word_embed_proj_dim"}).value_or(width);
    model.learned_positions = true;
    model.embedding_extra = 2 * width.value;  // positions begin with the third row
    if (narrow.value == width.value && before) return workload_of(model);
    // The table is narrower than the layers, and the last normalisation is missing (350M).
    const Mark& mark = model.mark;
    Written embedding(mark, "embedding", "embedding");
    embedding.set("vocabulary", model.vocabulary).set("width", narrow).set("learned_positions", false);
    embedding.set("extra_parameters", (positions.value + 2) * width.value);
    std::vector<Node> entries{embedding.take()};
    const auto project = [&](const char* name, const Given& inputs, const Given& outputs) {
        if (narrow.value == width.value) return;
        entries.push_back(Written(mark, name, "dense").set("inputs", inputs).set("outputs", outputs).take());
    };
    project("project-in", narrow, width);
    for (Node& entry : stack_layers(model.stack, mark)) entries.push_back(std::move(entry));
    if (before) keys.findings().fail(mark, "a narrow table with a last normalisation is not read");
    project("project-out", width, narrow);
    Written head(mark, "head", "dense");
    head.set("inputs", narrow).set("outputs", model.vocabulary);
    if (model.tied) head.set("tied", true);
    entries.push_back(head.set("gathered", false).take());
    return with_layers(workload_head(model.name, mark, model.sequence, true), std::move(entries));
}

Node read_falcon(ForeignKeys& keys) {
    LanguageModel model;
    model.mark = keys.mark();
    model.name = model_name(keys, "falcon");
    model.vocabulary = keys.needed({"vocab_size"});
    model.sequence =
        sequence_of(keys, keys.whole({"max_position_embeddings"}, 1 << 30).value_or(Given{2048, model.mark}));
    model.tied = keys.flag({"tie_word_embeddings"}).value_or(true);
    const Given width = keys.needed({"hidden_size", "n_embed"}), heads = keys.needed({"num_attention_heads", "n_head"});
    const Given layers = keys.needed({"num_hidden_layers", "n_layer"}, most_layers_given);
    model.stack = classic_stack(keys, width, heads, keys.whole({"ffn_hidden_size"}), layers.value);
    DecoderLayer& layer = model.stack.kinds.front();
    layer.attention.bias = layer.forward.bias = keys.flag({"bias"}).value_or(false);
    layer.attention.rotary = !keys.flag({"alibi"}).value_or(false);
    const bool fresh = keys.flag({"new_decoder_architecture"}).value_or(false),
               one = keys.flag({"multi_query"}).value_or(true);
    const bool parallel = keys.flag({"parallel_attn"}).value_or(true);
    const auto norms = keys.whole({"num_ln_in_parallel_attn"}, 2), kv_heads = keys.whole({"num_kv_heads", "n_head_kv"});
    if (fresh)
        layer.attention.kv_heads = kv_heads;
    else if (one)
        layer.attention.kv_heads = Given{1, model.mark};
    if (fresh || parallel) model.stack.parallel = fresh && (!norms || norms->value == 2) ? "two-norms" : "one-norm";
    model.stack.dropout = drops(keys, {"attention_dropout", "hidden_dropout"}, false);
    return workload_of(model);
}

Node read_bert(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    const Given words = keys.needed({"vocab_size"}), width = keys.needed({"hidden_size"}),
                positions = keys.needed({"max_position_embeddings"});
    const Given heads = keys.needed({"num_attention_heads"}),
                layers = keys.needed({"num_hidden_layers"}, most_layers_given);
    Stack stack = classic_stack(keys, width, heads, keys.needed({"intermediate_size"}), layers.value);
    stack.dropout = drops(keys, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, true);
    Written embedding(mark, "embedding", "embedding");
    embedding.set("vocabulary", words).set("width", width);
    embedding.set("segments", keys.whole({"type_vocab_size"}, largest_given, 0).value_or(Given{2, mark}))
        .set("norm", "layer");
    if (!stack.dropout) embedding.set("dropout", false);
    std::vector<Node> entries{embedding.take()};
    for (Node& entry : stack_layers(stack, mark)) entries.push_back(std::move(entry));

    const Node* const classes = keys.find({"architectures"});
    const std::string head = classes && !classes->items.empty() ? classes->items.front().scalar : "BertModel";
    const bool words_too = head == "BertForMaskedLM" || head == "BertForPreTraining",
               next = head == "BertForPreTraining";
    const auto add = [&](const char* name, const Given& outputs, bool first_token) {
        Written layer(mark, name, "dense");
        if (first_token) layer.set("positions", std::int64_t{1});
        entries.push_back(layer.set("inputs", width).set("outputs", outputs).set("bias", true).take());
    };
    if (head == "BertModel" || next) add("pooler", width, true);
    if (next) add("nsp", {2, mark}, true);
    if (words_too) {
        add("transform", width, false);
        Written decoder(mark, "decoder", "dense");
        decoder.set("inputs", width).set("outputs", words).set("bias", true).set("norm", "layer");
        if (keys.flag({"tie_word_embeddings"}).value_or(true)) decoder.set("tied", true);
        entries.push_back(decoder.set("gathered", false).take());
    }
    if (head != "BertModel" && !words_too)
        keys.findings().note(classes->mark, fmt::format("left out: the head of '{}'", head));
    return with_layers(workload_head(model_name(keys, "bert"), mark, positions, false), std::move(entries));
}

Node read_t5(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    const Given words = keys.needed({"vocab_size"}), width = keys.needed({"d_model", "hidden_size"}),
                heads = keys.needed({"num_heads"});
    const Given size = keys.needed({"d_kv"}), hidden = keys.needed({"d_ff"});
    const Given encoder = keys.needed({"num_layers"}, most_layers_given);
    const Given decoder = keys.whole({"num_decoder_layers"}, most_layers_given).value_or(encoder);
    const std::int64_t buckets = keys.whole({"relative_attention_num_buckets"}).value_or(Given{32, mark}).value;
    const Given sequence = keys.whole({"n_positions"}).value_or(Given{512, mark});
    const std::int64_t target =
        std::max<std::int64_t>(1, sequence.value * 114 / 512);  // as in the paper's pre-training
    keys.findings().note(
        mark, fmt::format("the input has {} tokens and the target {}, which is chosen", sequence.value, target));
    keys.ignore({"is_gated_act"});
    const bool gated = keys.word({"feed_forward_proj"}).value_or("relu").starts_with("gated");
    const bool tied = keys.flag({"tie_word_embeddings"}).value_or(true), dropout = drops(keys, {"dropout_rate"}, true);

    const auto finished = [&](Written& layer) {
        layer.set("norm", "rms").set("bias", false);
        if (!dropout) layer.set("dropout", false);
        return layer.take();
    };
    const auto attention = [&](Written& layer) {
        layer.set("width", width).set("heads", heads).set("head_size", size);
    };
    const auto forward = [&](Written& layer) {
        layer.set("hidden", hidden);
        if (gated) layer.set("gated", true);
    };
    std::vector<Node> entries;
    Written embedding(mark, "embedding", "embedding");
    embedding.set("vocabulary", words).set("width", width).set("learned_positions", false);
    if (!dropout) embedding.set("dropout", false);
    entries.push_back(embedding.take());
    Written stack(mark, "encoder", "transformer");
    stack.set("repeat", encoder);
    attention(stack);
    forward(stack);
    entries.push_back(finished(stack));
    // The encoder's last normalisation, and the biases of distances in encoder and decoder.
    Written norm(mark, "encoder-norm", "custom");
    const std::int64_t elements = sequence.value * width.value;
    norm.set("parameters", width.value + 2 * buckets * heads.value).set("macs", std::int64_t{0});
    entries.push_back(norm.set("inputs", elements).set("activations", elements).take());

    Node inner = empty_at(mark, Node::Kind::sequence);
    for (const bool cross : {false, true}) {
        Written half(mark, cross ? "cross-attention" : "attention", "attention");
        half.set("positions", target);
        if (cross) half.set("context", sequence);
        attention(half);
        inner.items.push_back(finished(half));
    }
    Written half(mark, "feed-forward", "feed-forward");
    half.set("positions", target).set("width", width);
    forward(half);
    inner.items.push_back(finished(half));
    entries.push_back(Written(mark, "decoder", "block").set("repeat", decoder).set("layers", std::move(inner)).take());
    Written head(mark, "head", "dense");
    head.set("positions", target).set("inputs", width).set("outputs", words).set("norm", "rms");
    if (tied) head.set("tied", true);
    entries.push_back(head.set("gathered", false).take());
    return with_layers(workload_head(model_name(keys, "t5"), mark, sequence, false), std::move(entries));
}

Node read_vit(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    constexpr std::int64_t most_pixels = 1 << 14;
    const Given width = keys.needed({"hidden_size"}), heads = keys.needed({"num_attention_heads"});
    const Given layers = keys.needed({"num_hidden_layers"}, most_layers_given);
    const Given pixels = keys.needed({"image_size"}, most_pixels), patch = keys.needed({"patch_size"}, most_pixels);
    const Given channels = keys.whole({"num_channels"}, most_pixels).value_or(Given{3, mark});
    Stack stack = classic_stack(keys, width, heads, keys.needed({"intermediate_size"}), layers.value);
    stack.dropout = drops(keys, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, false);
    if (!keys.flag({"qkv_bias"}).value_or(true))
        keys.findings().fail(mark, "a ViT without biases of queries is not read");
    const std::int64_t side = pixels.value / patch.value, tokens = side * side + 1;
    Node input = empty_at(pixels.mark, Node::Kind::sequence);
    for (const Given& extent : {channels, pixels, pixels})
        input.items.push_back(scalar_at(extent.mark, std::to_string(extent.value)));
    Written patches(mark, "patches", "patch-embedding");
    patches.set("input", Node(input)).set("patch", patch).set("width", width).set("extra_tokens", std::int64_t{1});
    std::vector<Node> entries{patches.take()};
    for (Node& entry : stack_layers(stack, mark)) {
        entry.entries.insert(entry.entries.begin() + 2, {"positions", mark, scalar_at(mark, std::to_string(tokens))});
        entries.push_back(std::move(entry));
    }
    Written norm(mark, "norm", "custom");  // of all tokens; the first goes on
    norm.set("parameters", 2 * width.value).set("macs", std::int64_t{0}).set("inputs", tokens * width.value);
    entries.push_back(norm.set("activations", width.value).take());
    const Node* const names = keys.find({"id2label"});
    const Node* const classes = keys.find({"architectures"});
    const bool bare = classes && !classes->items.empty() && classes->items.front().scalar == "ViTModel";
    const auto labels = keys.whole({"num_labels"});
    const std::int64_t counted =
        names && !names->entries.empty() ? static_cast<std::int64_t>(names->entries.size()) : 2;
    Written head(mark, bare ? "pooler" : "head", "dense");
    head.set("inputs", width).set("outputs", bare ? width : labels.value_or(Given{counted, mark})).set("bias", true);
    entries.push_back(head.take());
    Written model(mark);
    model.set("name", model_name(keys, "vit")).set("input", std::move(input)).set("element_size", "2 B");
    return with_layers(std::move(model), std::move(entries));
}

/// Shapes of Gemma 3 that its nested `text_config` may leave out.
constexpr std::pair<const char*, const char*> gemma3_defaults[] = {{"vocab_size", "262208"},
                                                                   {"hidden_size", "2304"},
                                                                   {"intermediate_size", "9216"},
                                                                   {"num_hidden_layers", "26"},
                                                                   {"num_attention_heads", "8"}};

/// Returns the nested language model of a file with several, such as an encoder of images.
Node language_part(const Node& document, const Node& text) {
    Node config = text;
    const auto add = [&](const char* key, const std::string& value) {
        if (config.find(key) == nullptr) config.entries.push_back({key, text.mark, scalar_at(text.mark, value)});
    };
    const Node* const outer = document.find("model_type");
    if (outer && outer->scalar == "gemma3") add("model_type", "gemma3_text");
    const Node* const type = config.find("model_type");
    if (type && type->scalar == "gemma3_text")
        for (const auto& [key, value] : gemma3_defaults) add(key, value);
    return config;
}

struct Architecture {
    const char* type;
    Node (*read)(ForeignKeys&);
};

constexpr Architecture architectures[] = {
    {"bert", read_bert},         {"bloom", read_bloom}, {"falcon", read_falcon}, {"gpt2", read_gpt2},
    {"gpt_neox", read_gpt_neox}, {"opt", read_opt},     {"t5", read_t5},         {"vit", read_vit}};

std::vector<std::string> known_types() {
    std::vector<std::string> types;
    for (const LlamaLike& family : llama_likes) types.emplace_back(family.type);
    for (const Architecture& one : architectures) types.emplace_back(one.type);
    std::sort(types.begin(), types.end());
    return types;
}

/// Reports a model whose rules are unknown, with what its file says and does not say.
void refuse(const Node& document, const Node& type, Findings& findings) {
    std::vector<std::string> there, missing;
    for (const char* key :
         {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"})
        (document.find(key) ? there : missing).emplace_back(key);
    const std::string said =
        missing.empty() ? "it has all shapes of a Llama: if its layers are such, write `\"model_type\": \"llama\"`"
                        : fmt::format("missing: {}", fmt::join(missing, ", "));
    findings.fail(type.mark, fmt::format("the rules of model_type '{}' are not known; {}", type.scalar, said),
                  did_you_mean(type.scalar, known_types(), fmt::format("known: {}", fmt::join(known_types(), ", "))));
}

}  // namespace

bool is_huggingface(const Node& document) {
    return document.kind == Node::Kind::mapping && document.find("layers") == nullptr &&
           (document.find("model_type") || document.find("architectures") || document.find("text_config"));
}

Node read_huggingface(const Node& document, Findings& findings) {
    Node config = document;
    if (const Node* const text = document.find("text_config"); text && text->kind == Node::Kind::mapping) {
        config = language_part(document, *text);
        findings.note(document.mark, "left out: all but the language model, 'text_config'");
    }
    const Node* const type = config.find("model_type");
    if (type == nullptr || type->kind != Node::Kind::scalar) {
        findings.fail(type ? type->mark : config.mark, "'model_type' is missing, which selects the rules of a model",
                      fmt::format("known: {}", fmt::join(known_types(), ", ")));
        return {};
    }
    ForeignKeys keys(config, findings);
    keys.ignore(without_effect);
    const std::size_t before = findings.errors.size();
    Node workload;
    for (const LlamaLike& family : llama_likes)
        if (family.type == type->scalar) workload = read_llama_like(keys, family);
    for (const Architecture& one : architectures)
        if (one.type == type->scalar) workload = one.read(keys);
    if (workload.kind == Node::Kind::null) {
        refuse(config, *type, findings);
        return {};
    }
    keys.report_others();
    return findings.errors.size() > before ? Node{} : workload;
}

}  // namespace syncline::config
