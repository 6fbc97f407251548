#include <fmt/format.h>

#include <algorithm>

#include "sim/import/data_parallel_files.hpp"
#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

/// torchtitan's models, of which the file has only the name, and our presets.
constexpr struct {
    const char *name, *flavor, *preset;
} titans[] = {{"llama3", "8B", "llama-3-8b"},
              {"llama3", "70B", "llama-3-70b"},
              {"llama3", "405B", "llama-3-405b"},
              {"deepseek_v3", "671B", "deepseek-v3"}};

/// Returns a table of the file; an empty one if it is missing or no table.
Node table_of(const Node& document, const char* name) {
    const Node* const table = document.find(name);
    return table && table->kind == Node::Kind::mapping ? *table : mapping_at(document.mark);
}

void read_titan_model(const Node& document, Imported& imported) {
    const Node table = table_of(document, "model");
    ForeignKeys keys(table, imported.findings, "model.");
    keys.ignore("hf_assets_path norm_type print_after_conversion tokenizer tokenizer_path");
    const std::string name = keys.word({"name"}).value_or(""), flavor = keys.word({"flavor"}).value_or("");
    keys.find({"converters"});
    for (const auto& titan : titans)
        if (name == titan.name && flavor == titan.flavor) imported.workload = scalar_at(table.mark, titan.preset);
    if (imported.workload.kind == Node::Kind::null && !name.empty())
        imported.findings.note(table.mark,
                               fmt::format("the model '{} {}' is not known, and the file has no shapes", name, flavor),
                               "add its config.json");
    keys.report_others();
}

bool uses_fp8(const Node& document) {
    const Node model = table_of(document, "model");
    if (const Node* const converters = model.find("converters"))
        for (const Node& one : converters->items)
            if (one.scalar.starts_with("float8") || one.scalar == "quantize.linear.float8") return true;
    const Node* const quantize = document.find("quantize");
    const Node* const linear = quantize ? quantize->find("linear") : nullptr;
    return (linear && linear->find("float8")) || document.find("float8");
}

/// Returns the schedule by our name; "" if it is not known.
std::string schedule_named(const std::string& name) {
    static const std::pair<const char*, const char*> names[] = {{"1F1B", "1f1b"},
                                                                {"GPipe", "gpipe"},
                                                                {"Interleaved1F1B", "interleaved"},
                                                                {"ZBVZeroBubble", "zb-v"},
                                                                {"DualPipeV", "dualpipe-v"}};
    for (const auto& [theirs, ours] : names)
        if (name == theirs) return ours;
    return "";
}

void add_titan_recomputation(const Node& document, Imported& imported, Written& training) {
    const Node table = table_of(document, "activation_checkpoint");
    ForeignKeys keys(table, imported.findings, "activation_checkpoint.");
    keys.ignore("early_stop per_op_sac_force_recompute_mm_shapes_by_fqns");
    const std::string mode = keys.word({"mode"}).value_or("selective"),
                      option = keys.word({"selective_ac_option"}).value_or("2");
    if (mode == "full") training.set("recomputation", "full");
    if (mode == "selective") training.set("recomputation", "operators");
    if (mode == "selective" && option != "op")
        imported.findings.note(table.mark,
                               fmt::format("selective recomputation is by operators, not of each {}. layer", option));
    if (mode == "memory_budget") imported.findings.note(table.mark, "left out: recomputation by a budget of memory");
    keys.report_others();
}

void read_titan_plan(const Node& document, Imported& imported, Written& training) {
    Findings& findings = imported.findings;
    const Node degrees = table_of(document, "parallelism"), batches = table_of(document, "training");
    ForeignKeys keys(degrees, findings, "parallelism."), batch(batches, findings, "training.");
    const auto degree = [&](ForeignKeys::Names names) { return keys.whole(names).value_or(Given{1, degrees.mark}); };
    const Given tensor = degree({"tensor_parallel_degree"}), context = degree({"context_parallel_degree"});
    const Given stages = degree({"pipeline_parallel_degree"}), replicas = degree({"data_parallel_replicate_degree"});
    const Given experts = degree({"expert_parallel_degree"});
    const std::int64_t shards =
        keys.whole({"data_parallel_shard_degree"}, largest_given, -1).value_or(Given{-1, degrees.mark}).value;
    if (shards > 0) {
        std::int64_t ranks = 1;
        for (const std::int64_t factor : {replicas.value, shards, tensor.value, context.value, stages.value})
            ranks = std::min(ranks * factor, largest_given);  // more are refused
        training.set("ranks", ranks);
    }

    const Given local = batch.whole({"local_batch_size", "batch_size"}).value_or(Given{8, batches.mark});
    constexpr std::int64_t most_samples = 1 << 30;
    const auto global = batch.whole({"global_batch_size"}, most_samples, -1);
    if (global && global->value > 0)
        training.set("batch", *global);
    else
        training.set("batch_per_rank", local);
    imported.sequence = batch.whole({"seq_len"}).value_or(Given{2048, batches.mark});
    if (batch.number({"max_norm"}).value_or(1) > 0) training.set("clipping", true);
    const std::string parameters = batch.word({"mixed_precision_param"}).value_or("bfloat16");
    if (parameters == "float32")
        training.set("precision", Written(batches.mark)
                                      .set("weights", "4 B")
                                      .set("gradients", "4 B")
                                      .set("master", "none")
                                      .set("activations", "4 B")
                                      .take());
    else if (uses_fp8(document))
        training.set("precision", Written(batches.mark).set("products", "fp8").take());
    const bool compiled = batch.flag({"compile"}).value_or(false);
    const Node compile = table_of(document, "compile");
    ForeignKeys compiling(compile, findings, "compile.");
    compiling.ignore("backend components");
    if (compiling.flag({"enable"}).value_or(compiled)) training.set("elementwise", "fused");
    compiling.report_others();
    batch.ignore(
        "data_parallel_degree dataset dataset_path deterministic dtype enable_cpu_offload gc_debug gc_freq "
        "mixed_precision_reduce seed steps warmup_steps");
    if (batch.flag({"enable_cpu_offload"}).value_or(false)) training.set("offload", "gradients");
    batch.report_others();

    Written parallelism(degrees.mark);
    parallelism.set("model", tensor);
    if (context.value > 1) parallelism.set("context", context);
    Written pipeline(degrees.mark);
    pipeline.set("stages", stages);
    const std::string schedule = keys.word({"pipeline_parallel_schedule"}).value_or("1F1B");
    if (stages.value > 1) {
        pipeline.set("micro_batch_size",
                     keys.whole({"pipeline_parallel_microbatch_size"}).value_or(Given{1, degrees.mark}));
        if (const std::string known = schedule_named(schedule); !known.empty())
            pipeline.set("schedule", known);
        else
            findings.note(degrees.mark, fmt::format("the schedule is 1f1b, not '{}'", schedule));
        if (schedule == "Interleaved1F1B") pipeline.set("virtual_stages", std::int64_t{2});
    } else if (global && global->value > 0) {
        pipeline.set("micro_batch_size", local);
    }
    parallelism.set("pipeline", pipeline.take());
    if (experts.value > 1) parallelism.set("experts", experts);
    const std::string reshard = keys.word({"fsdp_reshard_after_forward"}).value_or("default");
    const bool keeps = reshard == "never" || (reshard == "default" && stages.value > 1);
    const char* const state = keeps ? "gradients" : "parameters";
    if (shards == 1)
        parallelism.set("sharding", "none");
    else if (replicas.value > 1 && shards > 0)
        parallelism.set("sharding", Written(degrees.mark).set("of", state).set("within", shards).take());
    else
        parallelism.set("sharding", state);
    if (replicas.value > 1 && shards < 0)
        findings.note(degrees.mark,
                      "all data-parallel ranks shard: the file does not say how many do, beside its replicas");
    if (keys.flag({"enable_async_tensor_parallel"}).value_or(false) && tensor.value > 1)
        parallelism.set("model_overlap", Written(degrees.mark).set("chunks", tensor).take());
    keys.ignore(
        "context_parallel_rotate_method disable_loss_parallel enable_compiled_autograd "
        "pipeline_parallel_microbatch_size");
    keys.report_others();
    training.set("parallelism", parallelism.take());
}

}  // namespace

bool is_torchtitan(const Node& document) {
    const Node* const model = document.find("model");
    return document.find("training") && (document.find("parallelism") || (model && model->find("flavor"))) &&
           (document.find("job") || (model && model->find("flavor")));
}

void read_torchtitan(const Node& document, Imported& imported) {
    Written training(document.mark);
    training.set("framework", "torchtitan").set("fidelity", "auto").set("optimizer", "adam");
    read_titan_model(document, imported);
    add_titan_recomputation(document, imported, training);
    read_titan_plan(document, imported, training);
    imported.training = training.take();
    ForeignKeys keys(document, imported.findings);
    keys.ignore(
        "activation_checkpoint checkpoint comm compile debug experimental fault_tolerance float8 job "
        "lr_scheduler memory_estimation metrics model optimizer parallelism profiling quantize training "
        "validation");
    keys.report_others();
}

}  // namespace syncline::config
