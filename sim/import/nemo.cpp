#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "sim/import/megatron_flags.hpp"
#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

/// Keys of `model` that are Megatron-LM's options by another name, with a value.
constexpr std::array<std::pair<const char*, const char*>, 25> renamed{{
    {"micro_batch_size", "micro-batch-size"},
    {"global_batch_size", "global-batch-size"},
    {"tensor_model_parallel_size", "tensor-model-parallel-size"},
    {"pipeline_model_parallel_size", "pipeline-model-parallel-size"},
    {"virtual_pipeline_model_parallel_size", "num-virtual-stages-per-pipeline-rank"},
    {"context_parallel_size", "context-parallel-size"},
    {"expert_model_parallel_size", "expert-model-parallel-size"},
    {"encoder_seq_length", "seq-length"},
    {"max_position_embeddings", "max-position-embeddings"},
    {"num_layers", "num-layers"},
    {"hidden_size", "hidden-size"},
    {"ffn_hidden_size", "ffn-hidden-size"},
    {"num_attention_heads", "num-attention-heads"},
    {"num_query_groups", "num-query-groups"},
    {"kv_channels", "kv-channels"},
    {"position_embedding_type", "position-embedding-type"},
    {"make_vocab_size_divisible_by", "make-vocab-size-divisible-by"},
    {"override_vocab_size", "vocab-size"},
    {"hidden_dropout", "hidden-dropout"},
    {"attention_dropout", "attention-dropout"},
    {"num_moe_experts", "num-experts"},
    {"moe_router_topk", "moe-router-topk"},
    {"activations_checkpoint_granularity", "recompute-granularity"},
    {"activations_checkpoint_method", "recompute-method"},
    {"activations_checkpoint_num_layers", "recompute-num-layers"},
}};

/// Keys that change neither shapes nor times of an iteration.
constexpr const char* of_model =
    "activations_checkpoint_layers_per_pipeline apex_transformer_log_level apply_query_key_layer_scaling "
    "apply_rope_fusion "
    "attention_softmax_in_fp32 bias_activation_fusion bias_dropout_add_fusion bias_dropout_fusion bias_gelu_fusion "
    "cpu_offloading cross_entropy_loss_fusion data deterministic_mode do_layer_norm_weight_decay dynamic_checkpoint "
    "exp_manager ffn_dropout fp16_lm_cross_entropy fp32_residual_connection fp8_amax_compute_algo fp8_amax_history_len "
    "fp8_e4m3 fp8_interval fp8_margin fp8_params gc_interval get_attention_mask_from_fusion "
    "grad_allreduce_chunk_size_mb grad_div_ar_fusion gradient_accumulation_fusion gradient_as_bucket_view "
    "headscale hysteresis inference init_method_std layernorm_epsilon masked_softmax_fusion mcore_gpt megatron_amp_O2 "
    "megatron_legacy memory_profile min_loss_scale_window native_amp_growth_interval native_amp_init_scale "
    "normalize_attention_scores nsys_profile num_micro_batches_with_partial_activation_checkpoints onnx_safe "
    "openai_gelu overlap_p2p_comm persist_layer_norm pre_process post_process precision reduce_amax "
    "resume_from_checkpoint rotary_base rotary_percentage scale_positional_embedding seed sync_batch_comm tokenizer "
    "transformer_block_type transformer_engine use_cpu_initialization use_emha use_flash_attention "
    "ub_tp_comm_overlap_cfg wgrad_deferral_limit";

constexpr const char* of_trainer =
    "accelerator accumulate_grad_batches benchmark check_val_every_n_epoch enable_checkpointing enable_model_summary "
    "limit_test_batches limit_val_batches log_every_n_steps logger max_epochs max_steps max_time num_sanity_val_steps "
    "strategy use_distributed_sampler val_check_interval";

constexpr const char* of_optimizer =
    "betas bucket_cap_mb capturable contiguous_grad_buffer contiguous_param_buffer eps exclude_norm_bias lr "
    "master_weights momentum overlap_grad_sync overlap_param_sync sched weight_decay";

/// The options of Megatron-LM that a NeMo file amounts to.
class Options {
public:
    explicit Options(const Mark& mark) : options_(mark) {}

    void set(const char* option, const Node& value) { options_.set(option, Node(value)); }
    void flag(const char* option, bool is_set) {
        if (is_set) options_.set(option, true);
    }
    void word(const char* option, const std::string& text) { options_.set(option, text); }
    Node take() { return options_.take(); }

private:
    Written options_;
};

/// Returns a key's value, unless it refers to another key.
const Node* value_of(ForeignKeys& keys, const char* name) {
    const Node* const value = keys.find({name});
    return value && !value->scalar.starts_with("${") ? value : nullptr;
}

void add_optimizer(const Node& optimizer, Findings& findings, Options& options) {
    ForeignKeys keys(optimizer, findings, "model.optim.");
    keys.ignore(of_optimizer);
    const std::string name = keys.word({"name"}).value_or("adam");
    const bool distributed = name == "distributed_fused_adam" || name == "mcore_distributed_optim";
    options.word("optimizer", distributed || name.find("adam") != std::string::npos ? "adam" : name);
    options.flag("use-distributed-optimizer", distributed);
    options.flag("overlap-grad-reduce", keys.flag({"overlap_grad_sync"}).value_or(false));
    options.flag("overlap-param-gather", keys.flag({"overlap_param_sync"}).value_or(false));
    const std::string gradients = keys.word({"grad_sync_dtype"}).value_or("");
    options.flag("grad-reduce-in-bf16", gradients == "bf16" || gradients == "fp16" || gradients == "16");
    keys.report_others();
}

void add_trainer(const Node& trainer, Findings& findings, Options& options) {
    ForeignKeys keys(trainer, findings, "trainer.");
    keys.ignore(of_trainer);
    if (const Node* const each = value_of(keys, "devices")) options.set("nproc-per-node", *each);
    if (const Node* const nodes = value_of(keys, "num_nodes")) options.set("nnodes", *nodes);
    const std::string precision = keys.word({"precision"}).value_or("32");
    options.flag("bf16", precision.starts_with("bf16"));
    options.flag("fp16", precision.starts_with("16") || precision.starts_with("fp16"));
    if (const auto clip = keys.number({"gradient_clip_val"})) options.word("clip-grad", fmt::format("{}", *clip));
    if (const auto steps = keys.whole({"accumulate_grad_batches"}); steps && steps->value != 1)
        findings.fail(steps->mark,
                      "'trainer.accumulate_grad_batches' must be 1: accumulation follows from the batches");
    keys.report_others();
}

}  // namespace

bool is_nemo(const Node& document) {
    const Node* const model = document.kind == Node::Kind::mapping ? document.find("model") : nullptr;
    return model && model->kind == Node::Kind::mapping && document.find("trainer") &&
           (model->find("micro_batch_size") || model->find("tensor_model_parallel_size"));
}

void read_nemo(const Node& document, Imported& imported) {
    Findings& findings = imported.findings;
    const Node& model = *document.find("model");
    Options options(model.mark);
    ForeignKeys keys(model, findings, "model.");
    keys.ignore(of_model);
    for (const auto& [key, option] : renamed)
        if (const Node* const value = value_of(keys, key)) options.set(option, *value);
    options.flag("group-query-attention", value_of(keys, "num_query_groups") != nullptr);
    const std::string activation = keys.word({"activation"}).value_or("gelu");
    options.flag("swiglu", activation.find("glu") != std::string::npos);
    options.flag("disable-bias-linear", !keys.flag({"bias"}).value_or(true));
    options.flag("untie-embeddings-and-output-weights",
                 !keys.flag({"share_embeddings_and_output_weights"}).value_or(true));
    options.flag("sequence-parallel", keys.flag({"sequence_parallel"}).value_or(false));
    options.flag("tp-comm-overlap", keys.flag({"ub_tp_comm_overlap"}).value_or(false));
    const bool hybrid = keys.flag({"fp8_hybrid"}).value_or(false);
    if (keys.flag({"fp8"}).value_or(false)) options.word("fp8-format", hybrid ? "hybrid" : "e4m3");
    options.word("normalization",
                 keys.word({"normalization"}).value_or("layernorm") == "rmsnorm" ? "RMSNorm" : "LayerNorm");
    if (const Node* const ramp = keys.find({"rampup_batch_size"})) options.set("rampup-batch-size", *ramp);
    if (const Node* const optimizer = keys.find({"optim"}); optimizer && optimizer->kind == Node::Kind::mapping)
        add_optimizer(*optimizer, findings, options);
    if (const Node& trainer = *document.find("trainer"); trainer.kind == Node::Kind::mapping)
        add_trainer(trainer, findings, options);
    keys.report_others();
    const bool words = value_of(keys, "override_vocab_size") != nullptr;
    if (!words && model.find("hidden_size"))
        findings.note(model.mark, "the file does not say how many words the vocabulary has, so no model is read",
                      "add the model's config.json, or `override_vocab_size` to its section `model`");
    const Node all = options.take();
    read_megatron_options(all, model.mark, "", words, imported);
}

}  // namespace syncline::config
