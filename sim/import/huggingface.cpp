#include "sim/import/huggingface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/did_you_mean.hpp"
#include "sim/import/architectures.hpp"

namespace syncline::config {

namespace {

/// Keys that change neither shapes nor times.
constexpr const char* without_effect =
    "_attn_implementation _name_or_path _remove_final_layer_norm activation_dropout activation_function "
    "add_bias_logits add_cross_attention apply_residual_connection_post_layernorm architectures "
    "attention_dropout attn_implementation attn_logit_softcapping attn_pdrop auto_map aux_loss_alpha "
    "bad_words_ids begin_suppress_tokens bias_dropout_fusion bos_token_id cache_implementation "
    "chunk_size_feed_forward classifier_dropout decoder_start_token_id dense_act_fn dtype embd_pdrop "
    "enable_bias encoder_stride eos_token_id ep_size final_logit_softcapping finetuning_task "
    "forced_decoder_ids gradient_checkpointing hidden_act hidden_activation hidden_dropout id2label "
    "image_processor_type init_std initializer_factor initializer_range is_decoder is_encoder_decoder label2id "
    "layer_norm_elementwise_affine layer_norm_eps layer_norm_epsilon layerdrop masked_softmax_fusion "
    "max_length max_position_embeddings max_window_layers mlp_layer_types model_max_length model_type n_ctx "
    "n_group n_positions norm_topk_prob original_max_position_embeddings output_attentions "
    "output_hidden_states output_past output_router_logits pad_token_id pooler_fc_size "
    "pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type position_embedding_type "
    "prefix pretraining_tp problem_type quantization_config query_pre_attn_scalar "
    "relative_attention_max_distance reorder_and_upcast_attn resid_pdrop return_dict rms_norm_eps "
    "rope_interleave rope_local_base_freq rope_parameters rope_scaling rope_theta rotary_emb_base "
    "routed_scaling_factor router_aux_loss_coef router_jitter_noise scale_attn_by_inverse_layer_idx "
    "scale_attn_weights scoring_func sep_token_id seq_aux skip_bias_add skip_bias_add_qkv sliding_window "
    "slow_but_exact summary_activation summary_first_dropout summary_proj_to_labels summary_type "
    "summary_use_proj task_specific_params text_config tokenizer_class topk_group topk_method torch_dtype "
    "torchscript transformers_version unk_token_id use_cache use_mambapy use_sliding_window vision_config";

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
    if (const Entry* const tied = document.entry("tie_word_embeddings"); tied && config.find(tied->key) == nullptr)
        config.entries.push_back(*tied);
    const Node* const outer = document.find("model_type");
    if (outer && outer->scalar == "gemma3") add("model_type", "gemma3_text");
    const Node* const type = config.find("model_type");
    if (type && type->scalar == "gemma3_text")
        for (const auto& [key, value] : gemma3_defaults) add(key, value);
    return config;
}

std::vector<Architecture> all_architectures() {
    std::vector<Architecture> all = llama_like_architectures();
    for (const auto& more : {classic_architectures(), encoder_architectures()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::vector<std::string> known_types() {
    std::vector<std::string> types;
    for (const Architecture& one : all_architectures()) types.push_back(one.type);
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

/// Notes a head that is not a language model's, which is read all the same.
void check_head(const Node& config, Findings& findings) {
    const Node* const classes = config.find("architectures");
    if (classes == nullptr || classes->items.empty()) return;
    const Node& name = classes->items.front();
    for (const char* head : {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration"})
        if (name.scalar.find(head) != std::string::npos) return;
    findings.note(name.mark, fmt::format("the head is a language model's, not that of '{}'", name.scalar));
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
    for (const Architecture& one : all_architectures())
        if (one.type == type->scalar) workload = one.read(keys);
    if (type->scalar != "bert" && type->scalar != "vit") check_head(config, findings);
    if (workload.kind == Node::Kind::null) {
        refuse(config, *type, findings);
        return {};
    }
    if (const Node* const stored = keys.find({"torch_dtype", "dtype"}); stored && stored->scalar == "float32")
        findings.note(stored->mark, "elements have 2 B, as in mixed precision, although the file has 'float32'",
                      "in a scenario `workload.element_size` changes it");
    keys.report_others();
    return findings.errors.size() > before ? Node{} : workload;
}

}  // namespace syncline::config
