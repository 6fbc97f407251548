#include <fmt/format.h>

#include "sim/import/data_parallel_files.hpp"
#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

/// Returns the sharding of FSDP, by the names and numbers of PyTorch's ShardingStrategy; a null if it is not known.
Node fsdp_sharding(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    const std::string strategy = keys.word({"fsdp_sharding_strategy"}).value_or("FULL_SHARD");
    const auto reshard = keys.word({"fsdp_reshard_after_forward"});
    if (reshard && (*reshard == "false" || *reshard == "SHARD_GRAD_OP")) return scalar_at(mark, "gradients");
    const auto within_node = [&](const char* state) {
        return Written(mark).set("of", state).set("within", "node").take();
    };
    if (strategy == "FULL_SHARD" || strategy == "1") return scalar_at(mark, "parameters");
    if (strategy == "SHARD_GRAD_OP" || strategy == "2") return scalar_at(mark, "gradients");
    if (strategy == "NO_SHARD" || strategy == "3") return scalar_at(mark, "none");
    if (strategy == "HYBRID_SHARD" || strategy == "4") return within_node("parameters");
    if (strategy == "HYBRID_SHARD_ZERO2" || strategy == "5") return within_node("gradients");
    keys.findings().fail(keys.find({"fsdp_sharding_strategy"})->mark,
                         fmt::format("'{}' is no sharding strategy", strategy),
                         "FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD");
    return {};
}

void read_fsdp(ForeignKeys& keys, Written& training, Written& parallelism) {
    parallelism.set("sharding", fsdp_sharding(keys));
    if (keys.flag({"fsdp_activation_checkpointing"}).value_or(false)) training.set("recomputation", "full");
    if (keys.flag({"fsdp_offload_params"}).value_or(false)) training.set("offload", "gradients");
    if (const auto version = keys.whole({"fsdp_version"}, 2); !version || version->value == 1)
        keys.findings().note(keys.mark(), "FSDP is that of version 2");
    keys.ignore(
        "fsdp_auto_wrap_policy fsdp_backward_prefetch fsdp_backward_prefetch_policy "
        "fsdp_cpu_ram_efficient_loading fsdp_forward_prefetch fsdp_min_num_params fsdp_state_dict_type "
        "fsdp_sync_module_states fsdp_transformer_layer_cls_to_wrap fsdp_use_orig_params");
    keys.report_others();
}

/// Reads what the file says of DeepSpeed; another file may say the rest.
void read_nested_deepspeed(ForeignKeys& keys, Written& training, Written& parallelism) {
    constexpr const char* sharded[] = {"none", "optimizer", "gradients", "parameters"};
    const auto stage = keys.whole({"zero_stage"}, 3, 0);
    parallelism.set("sharding", sharded[stage ? stage->value : 2]);
    if (const auto device = keys.word({"offload_optimizer_device"}); device && *device != "none")
        training.set("offload", "gradients");
    if (const Node* const file = keys.find({"deepspeed_config_file"}))
        keys.findings().note(file->mark, fmt::format("'{}' is not read", file->scalar), "import it, too");
    if (const auto device = keys.word({"offload_param_device"}); device && *device != "none")
        keys.findings().note(keys.mark(), "left out: the offload of weights");
    keys.ignore(
        "deepspeed_hostfile deepspeed_multinode_launcher gradient_accumulation_steps gradient_clipping "
        "zero3_init_flag zero3_save_16bit_model");
    keys.report_others();
}

}  // namespace

bool is_accelerate(const Node& document) {
    return document.find("distributed_type") || document.find("fsdp_config") || document.find("compute_environment");
}

void read_accelerate(const Node& document, Imported& imported) {
    ForeignKeys keys(document, imported.findings);
    const Mark& mark = document.mark;
    const std::string type = keys.word({"distributed_type"}).value_or("NO");
    const bool fsdp = type == "FSDP", deepspeed = type == "DEEPSPEED";
    const Node* const section = keys.find({deepspeed ? "deepspeed_config" : "fsdp_config"});
    const Node settings = section && section->kind == Node::Kind::mapping ? *section : mapping_at(mark);
    ForeignKeys inner(settings, imported.findings, deepspeed ? "deepspeed_config." : "fsdp_config.");
    const Node* const stage = settings.find("zero_stage");
    Written training(mark), parallelism(mark);
    training.set("framework", fsdp        ? "pytorch-fsdp2"
                              : deepspeed ? (stage && stage->scalar == "3" ? "deepspeed-zero3" : "deepspeed")
                                          : "pytorch-ddp");
    training.set("fidelity", "auto").set("ranks", keys.whole({"num_processes"})).set("optimizer", "adam");
    const std::string precision = keys.word({"mixed_precision"}).value_or("no");
    const bool half = precision == "bf16" || precision == "fp16" || precision == "fp8";
    if (half && (fsdp || deepspeed))
        training.set("precision", "mixed");
    else if (half)
        training.set("precision", "autocast");
    else
        training.set("precision", Written(mark)
                                      .set("weights", "4 B")
                                      .set("gradients", "4 B")
                                      .set("master", "none")
                                      .set("activations", "4 B")
                                      .take());
    if (precision == "fp8") imported.findings.note(mark, "products are in 2 B, not in FP8");
    if (fsdp) read_fsdp(inner, training, parallelism);
    if (deepspeed) read_nested_deepspeed(inner, training, parallelism);
    if (type != "NO" && type != "MULTI_GPU" && !fsdp && !deepspeed)
        imported.findings.fail(mark, fmt::format("'distributed_type: {}' is not read", type),
                               "FSDP, DEEPSPEED, MULTI_GPU");
    if (Node layout = parallelism.take(); !layout.entries.empty()) training.set("parallelism", std::move(layout));
    imported.training = training.take();
    keys.ignore(
        "commands compute_environment debug deepspeed_config downcast_bf16 dynamo_backend dynamo_config "
        "enable_cpu_affinity fsdp_config gpu_ids ipex_config machine_rank main_process_ip main_process_port "
        "main_training_function num_machines rdzv_backend same_network tpu_env tpu_use_cluster tpu_use_sudo "
        "use_cpu");
    keys.report_others();
}

}  // namespace syncline::config
