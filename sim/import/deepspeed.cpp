#include <fmt/format.h>

#include "sim/import/data_parallel_files.hpp"
#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

/// Returns a number of the file; nothing if the Trainer fills it in ("auto").
std::optional<Given> number_or_auto(ForeignKeys& keys, const char* name, std::int64_t most) {
    const Node* const value = keys.find({name});
    if (value == nullptr || value->scalar == "auto") return std::nullopt;
    return keys.whole({name}, most);
}

bool is_enabled(ForeignKeys& keys, const char* name) {
    const Node* const section = keys.find({name});
    const Node* const enabled = section ? section->find("enabled") : nullptr;
    return enabled && (enabled->scalar == "true" || enabled->scalar == "auto");
}

void add_batch(ForeignKeys& keys, Written& training, Written& parallelism) {
    constexpr std::int64_t most = 1 << 24;
    const auto all = number_or_auto(keys, "train_batch_size", most),
               micro = number_or_auto(keys, "train_micro_batch_size_per_gpu", most);
    const auto steps = number_or_auto(keys, "gradient_accumulation_steps", most);
    if (all)
        training.set("batch", *all);
    else if (micro)
        training.set("batch_per_rank", Given{micro->value * (steps ? steps->value : 1), micro->mark});
    Written pipeline(keys.mark());
    pipeline.set("stages", std::int64_t{1});
    if (micro)
        pipeline.set("micro_batch_size", *micro);
    else if (steps)
        pipeline.set("micro_batches", *steps);
    parallelism.set("pipeline", pipeline.take());
}

void add_zero(ForeignKeys& keys, std::int64_t stage, std::int64_t bytes, Written& training, Written& parallelism) {
    constexpr const char* sharded[] = {"none", "optimizer", "gradients", "parameters"};
    Findings& findings = keys.findings();
    const auto within = keys.whole({"mics_shard_size"}, largest_given, -1);
    if (stage == 3 && within && within->value > 0)
        parallelism.set("sharding", Written(within->mark).set("of", "parameters").set("within", *within).take());
    else
        parallelism.set("sharding", sharded[stage]);
    if (const auto overlap = keys.flag({"overlap_comm"})) training.set("overlap", *overlap ? "wait-free" : "none");
    constexpr std::int64_t most_elements = std::int64_t{1} << 40;
    const auto bucket = number_or_auto(keys, "reduce_bucket_size", most_elements);
    if (bucket && stage < 3)
        training.set("fusion",
                     Written(bucket->mark).set("threshold", fmt::format("{} B", bucket->value * bytes)).take());
    if (bucket && stage == 3) findings.note(bucket->mark, "left out: 'reduce_bucket_size'; a bucket is a layer's");
    const auto device = [&](const char* name) {
        const Node* const section = keys.find({name});
        const Node* const where = section ? section->find("device") : nullptr;
        return where && where->scalar != "none" ? where : nullptr;
    };
    if (const Node* const place = device("offload_optimizer")) {
        training.set("offload", "gradients");
        if (place->scalar == "nvme") findings.note(place->mark, "state is in host memory, not on a drive");
    }
    if (const Node* const place = device("offload_param"))
        findings.note(place->mark, "left out: the offload of weights");
    for (const char* name : {"zero_hpz_partition_size", "zero_quantized_weights", "zero_quantized_gradients",
                             "zero_quantized_nontrainable_weights"})
        if (const Node* const value = keys.find({name}); value && value->scalar != "false" && value->scalar != "1")
            findings.note(value->mark, fmt::format("left out: '{}'", name));
    keys.ignore(
        "allgather_bucket_size allgather_partitions contiguous_gradients cpu_offload elastic_checkpoint "
        "ignore_unused_parameters load_from_fp32_weights memory_efficient_linear "
        "mics_hierarchical_params_gather reduce_scatter round_robin_gradients stage "
        "stage3_gather_16bit_weights_on_model_save stage3_max_live_parameters stage3_max_reuse_distance "
        "stage3_module_granularity_threshold stage3_param_persistence_threshold stage3_prefetch_bucket_size "
        "sub_group_size use_multi_rank_bucket_allreduce");
    keys.report_others();
}

}  // namespace

bool is_deepspeed(const Node& document) {
    return document.find("zero_optimization") || document.find("train_batch_size") ||
           document.find("train_micro_batch_size_per_gpu");
}

void read_deepspeed(const Node& document, Imported& imported) {
    ForeignKeys keys(document, imported.findings);
    const Node* const section = keys.find({"zero_optimization"});
    const Node zero = section && section->kind == Node::Kind::mapping ? *section : mapping_at(document.mark);
    ForeignKeys sharding(zero, imported.findings, "zero_optimization.");
    const auto given = sharding.whole({"stage"}, 3, 0);
    const std::int64_t stage = given ? given->value : 0;

    Written training(document.mark), parallelism(document.mark);
    training.set("framework", stage == 3 ? "deepspeed-zero3" : "deepspeed").set("fidelity", "auto");
    imported.findings.note(document.mark, "the file does not say what is recomputed",
                           "`--set training.recomputation=full`");
    const bool half = is_enabled(keys, "bf16") || is_enabled(keys, "fp16") || is_enabled(keys, "bfloat16");
    const std::string sent = keys.word({"communication_data_type"}).value_or("");
    Written precision(document.mark);
    if (!half) precision.set("weights", "4 B").set("gradients", "4 B").set("master", "none").set("activations", "4 B");
    if (half && sent == "fp32") precision.set("gradients", "4 B");
    if (Node sizes = precision.take(); !sizes.entries.empty()) training.set("precision", std::move(sizes));
    const Node* const optimizer = keys.find({"optimizer"});
    const Node* const type = optimizer ? optimizer->find("type") : nullptr;
    training.set("optimizer", type && type->scalar == "SGD" ? "momentum" : "adam");
    if (keys.find({"gradient_clipping"})) training.set("clipping", true);
    add_batch(keys, training, parallelism);
    add_zero(sharding, stage, half && sent != "fp32" ? 2 : 4, training, parallelism);
    training.set("parallelism", parallelism.take());
    imported.training = training.take();
    keys.ignore(
        "activation_checkpointing aio checkpoint comms_logger csv_monitor data_types dump_state flops_profiler "
        "gradient_predivide_factor memory_breakdown monitor_config prescale_gradients scheduler seed "
        "steps_per_print tensorboard wall_clock_breakdown wandb zero_allow_untested_optimizer "
        "zero_force_ds_cpu_optimizer");
    keys.report_others();
}

}  // namespace syncline::config
