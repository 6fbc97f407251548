#include "sim/import/megatron_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include "sim/base/number.hpp"
#include "sim/import/command_line.hpp"
#include "sim/import/transformer_file.hpp"

namespace syncline::config {

namespace {

/// Beginnings of options that change neither shapes nor times of an iteration.
constexpr const char* without_effect_on_time =
    "account accumulate-allreduce-grads-in-fp32 adam- adlr- apply-query-key-layer-scaling async-save "
    "attention-backend attention-softmax-in-fp32 auto-detect-ckpt-format cache- calculate-per-token-loss "
    "check-for-nan ckpt- constraint container cpus-per-task create-attention-mask cross-entropy data- "
    "dataloader-type decoupled- disable-scaled-init dist-ckpt distributed-backend distributed-timeout "
    "empty-unused-memory enable-experimental end-weight-decay eod-mask error eval- exclusive exit- exp- "
    "finetune fp8-amax fp8-interval fp8-margin hidden-dropout high-priority init-method initial-loss-scale "
    "job-name legacy load local-ranks-filter log- loss-scale lr manual-gc master- max-position-embeddings "
    "max-restarts mem merge-file min-loss-scale min-lr mmap- mock-data moe-aux-loss moe-grouped-gemm "
    "moe-router- moe-use-legacy moe-z-loss mscale no-async no-create no-gradient-accumulation-fusion no-load "
    "no-masked-softmax-fusion no-mmap no-persist-layer-norm no-position-embedding no-rope-fusion no-save "
    "node-rank norm-epsilon nsys num-workers output overlap-p2p override-opt partition per-split profile qos "
    "rdzv redirects rerun-mode reset- retro- role rotary- save seed sgd-momentum split standalone "
    "start-weight-decay tee tensorboard test-data time timing- tokenizer tp-comm-bootstrap-backend train- "
    "transformer-impl use-checkpoint use-cpu-initialization use-dist-ckpt use-flash-attn use-mcore-models "
    "use-rope use-rotary use-tp-pp-dp-mapping valid-data vocab-extra vocab-file wandb weight-decay";

constexpr std::int64_t most_layers = 10'000;

/// What both the plan and the model need.
struct Megatron {
    ForeignKeys keys;
    Mark start;
    Given tensor, pipeline, context;

    bool has(const char* option) { return keys.find({option}) != nullptr; }
    std::int64_t number(const char* option, std::int64_t absent, std::int64_t most = largest_given) {
        const auto given = keys.whole({option}, most);
        return given ? given->value : absent;
    }
};

/// Returns the tokens of the vocabulary, padded as Megatron-LM does it.
Given vocabulary(Megatron& run) {
    const std::int64_t multiple = run.number("make-vocab-size-divisible-by", 128) * run.tensor.value;
    const std::string tokenizer =
        run.keys.word({"tokenizer-type"}).value_or(run.has("merge-file") ? "GPT2BPETokenizer" : "");
    Given words{1, run.start};
    if (const auto given = run.keys.whole({"vocab-size", "padded-vocab-size"})) {
        words = *given;
    } else if (tokenizer == "GPT2BPETokenizer" || tokenizer == "Llama2Tokenizer") {
        words.value = tokenizer == "Llama2Tokenizer" ? 32000 : 50257;
        run.keys.findings().note(
            run.start, fmt::format("the vocabulary has {} words, as that tokenizer usually has", words.value));
    } else {
        run.keys.findings().fail(run.start, "the options say nothing of the vocabulary", "add `--vocab-size`");
    }
    words.value = (words.value + multiple - 1) / multiple * multiple;
    return words;
}

/// Returns for each layer whether it has experts, from `--moe-layer-freq`: a number, or a pattern such as
/// `([0]*3+[1]*58)`.
std::vector<bool> expert_layers(Megatron& run, std::size_t layers) {
    const Node* const given = run.keys.find({"moe-layer-freq"});
    std::vector<bool> sparse;
    const std::string text = given ? given->scalar : "1";
    if (const auto every = number_in<std::int64_t>(text); every && *every > 0) {
        for (std::size_t i = 0; i < layers; ++i) sparse.push_back(i % static_cast<std::size_t>(*every) == 0);
        return sparse;
    }
    std::string_view rest = text;
    bool sound = true;
    while (sound && !rest.empty()) {
        const std::size_t begin = rest.find('['), end = rest.find(']');
        if (begin == rest.npos || end == rest.npos || end < begin) break;
        std::vector<bool> part;
        for (const char c : rest.substr(begin + 1, end - begin - 1)) {
            if (c == '0' || c == '1') part.push_back(c == '1');
            sound = sound && std::string_view("01, ").find(c) != std::string_view::npos;
        }
        rest.remove_prefix(end + 1);
        std::size_t digits = 0;
        if (rest.starts_with('*'))
            while (digits + 1 < rest.size() && rest[digits + 1] >= '0' && rest[digits + 1] <= '9') ++digits;
        const std::int64_t times = digits > 0 ? number_in<std::int64_t>(rest.substr(1, digits)).value_or(0) : 1;
        sound = sound && times > 0 && static_cast<std::size_t>(times) * part.size() <= layers;
        for (std::int64_t i = 0; sound && i < times && sparse.size() <= layers; ++i)
            sparse.insert(sparse.end(), part.begin(), part.end());
    }
    if (!sound || sparse.size() != layers) {
        run.keys.findings().fail(given->mark,
                                 fmt::format("'--moe-layer-freq' is not a number or a pattern of {} layers", layers),
                                 "`([0]*3+[1]*58)`");
        sparse.assign(layers, true);
    }
    return sparse;
}

AttentionKeys attention_of(Megatron& run, const Given& width, bool rms) {
    AttentionKeys attention;
    attention.heads = run.keys.needed({"num-attention-heads"});
    const std::int64_t heads = attention.heads.value;
    attention.rotary =
        run.keys.word({"position-embedding-type"})
                .value_or(run.has("use-rotary-position-embeddings") ? "rope" : "learned_absolute") == "rope" ||
        run.has("use-rotary-position-embeddings");
    attention.bias = !run.has("disable-bias-linear");
    if (run.has("multi-latent-attention")) {
        attention.query_rank = run.keys.whole({"q-lora-rank"});
        attention.kv_rank = run.keys.whole({"kv-lora-rank"}).value_or(Given{32, run.start});
        attention.head_size = run.keys.whole({"qk-head-dim"}).value_or(Given{128, run.start});
        attention.rotary_size = run.keys.whole({"qk-pos-emb-head-dim"}).value_or(Given{64, run.start});
        attention.rotary = true;
        if (run.number("v-head-dim", 128) != attention.head_size->value)
            run.keys.findings().fail(run.start,
                                     "`--v-head-dim` other than `--qk-head-dim` cannot be said in a workload");
        run.keys.ignore("group-query-attention kv-channels num-query-groups qk-layernorm");
        return attention;
    }
    std::int64_t groups = heads, size = width.value / heads;
    if (run.has("group-query-attention")) groups = run.number("num-query-groups", 1);
    run.keys.ignore("num-query-groups");
    if (const auto given = run.keys.whole({"kv-channels"})) size = given->value;
    if (groups != heads) attention.kv_heads = Given{groups, run.start};
    if (size * heads != width.value) attention.head_size = Given{size, run.start};
    if (run.has("add-qkv-bias") && !attention.bias) attention.extra_parameters += (heads + 2 * groups) * size;
    if (run.has("qk-layernorm")) attention.extra_parameters += (rms ? 2 : 4) * size;
    if (const auto window = run.keys.find({"window-size"}))
        run.keys.findings().note(window->mark, "left out: the window of attention");
    return attention;
}

Node model_of(Megatron& run) {
    LanguageModel model;
    model.mark = run.start;
    model.name = written_name(std::filesystem::path(run.start.source->name).stem().string(), "megatron");
    Stack& stack = model.stack;
    stack.width = run.keys.needed({"hidden-size"});
    const auto layers = static_cast<std::size_t>(run.keys.needed({"num-layers"}, most_layers).value);
    model.sequence = run.keys.needed({"seq-length", "encoder-seq-length"});
    model.vocabulary = vocabulary(run);
    model.tied = !run.has("untie-embeddings-and-output-weights");
    const bool rms = run.keys.word({"normalization"}).value_or("LayerNorm") == "RMSNorm";
    stack.norm = rms ? "rms" : "layer";
    const double dropout =
        run.keys.number({"attention-dropout"}).value_or(0.1) + run.keys.number({"hidden-dropout"}).value_or(0.1);
    stack.dropout = dropout > 0;

    DecoderLayer layer;
    layer.attention = attention_of(run, stack.width, rms);
    model.learned_positions =
        !layer.attention.rotary &&
        run.keys.word({"position-embedding-type"}).value_or("learned_absolute") == "learned_absolute";
    const std::int64_t positions = run.number("max-position-embeddings", model.sequence.value);
    if (model.learned_positions)
        model.embedding_extra = std::max<std::int64_t>(0, positions - model.sequence.value) * stack.width.value;
    ForwardKeys& forward = layer.forward;
    forward.gated = run.has("swiglu");
    forward.bias = layer.attention.bias;
    const std::int64_t width = stack.width.value;
    forward.hidden = run.keys.whole({"ffn-hidden-size"})
                         .value_or(Given{forward.gated ? width * 8 / 3 / 64 * 64 : 4 * width, run.start});
    stack.kinds = {layer};
    stack.order.assign(layers, 0);
    if (run.has("num-experts")) {
        ForwardKeys routed = forward;
        routed.hidden = run.keys.whole({"moe-ffn-hidden-size"}).value_or(forward.hidden);
        ExpertKeys experts;
        constexpr std::int64_t most_experts = 1 << 16;
        experts.experts = run.keys.needed({"num-experts"}, most_experts);
        experts.top_k = run.keys.whole({"moe-router-topk"}, most_experts).value_or(Given{2, run.start});
        if (const auto shared = run.keys.whole({"moe-shared-expert-intermediate-size"})) {
            experts.shared = Given{1, shared->mark};
            experts.shared_hidden = shared;
        }
        if (const auto factor = run.keys.number({"moe-expert-capacity-factor"}))
            experts.capacity = fmt::format("{}", *factor);
        experts.fused_permutation = run.has("moe-permute-fusion");
        routed.experts = experts;
        stack.kinds.push_back({layer.attention, routed});
        const std::vector<bool> sparse = expert_layers(run, layers);
        for (std::size_t i = 0; i < layers; ++i) stack.order[i] = sparse[i] ? 1 : 0;
    }
    if (const Node* const more = run.keys.find({"mtp-num-layers"}))
        run.keys.findings().note(more->mark, "left out: the module that predicts further tokens");
    return workload_of(model);
}

/// Returns the number of GPUs that torchrun or Slurm start; nothing if the options do not say it.
std::optional<Given> gpus(Megatron& run) {
    const auto read = [&](ForeignKeys::Names names) -> std::optional<std::int64_t> {
        const Node* const node = run.keys.find(names);
        const auto number = node ? foreign_whole(*node) : std::nullopt;
        constexpr std::int64_t most = 1 << 20;
        return number && *number > 0 && *number <= most ? number : std::nullopt;
    };
    const auto nodes = read({"nnodes", "nodes", "num-nodes"}),
               each = read({"nproc-per-node", "gpus-per-node", "ntasks-per-node"});
    if (nodes && each) return Given{*nodes * *each, run.start};
    if (each && !run.has("nnodes") && !run.has("nodes"))
        return Given{*each, run.start};  // torchrun's default is one node
    return std::nullopt;
}

/// Returns the recomputation that the options name, "" for none.
std::string recomputation(Megatron& run) {
    std::string granularity = run.has("recompute-activations") ? "selective" : "";
    if (const auto word = run.keys.word({"recompute-granularity"})) granularity = *word;
    const std::string method = run.keys.word({"recompute-method"}).value_or("uniform");
    const std::int64_t layers = run.number("recompute-num-layers", 1);
    if (granularity == "full" && (method == "block" || layers > 1))
        run.keys.findings().note(
            run.start,
            "all layers are recomputed, one by one; `--recompute-method` and `--recompute-num-layers` are left out");
    if (const Node* const modules = run.keys.find({"recompute-modules"}); modules && modules->scalar != "core_attn")
        run.keys.findings().note(modules->mark, "recomputation of other modules than `core_attn` is left out");
    return granularity;
}

void add_precision(Megatron& run, Written& training) {
    Written precision(run.start);
    const bool half = run.has("bf16") || run.has("fp16");
    if (!half) precision.set("weights", "4 B").set("gradients", "4 B").set("master", "none").set("activations", "4 B");
    if (half && run.has("grad-reduce-in-bf16")) precision.set("gradients", "2 B");
    const bool fp8 = run.has("fp8-format") || run.has("fp8");
    if (const std::string recipe = run.keys.word({"fp8-recipe"}).value_or("delayed"); fp8)
        precision.set("products", recipe == "mxfp8" ? "mxfp8" : "fp8");
    if (const Node* const gather = run.keys.find({"fp8-param-gather"}))
        run.keys.findings().note(gather->mark, "weights are gathered in 2 B, not in FP8");
    Node node = precision.take();
    if (!node.entries.empty()) training.set("precision", std::move(node));
}

Node pipeline_of(Megatron& run) {
    Written pipeline(run.start);
    pipeline.set("stages", run.pipeline).set("micro_batch_size", run.keys.needed({"micro-batch-size"}));
    bool uneven = false;
    for (const char* option :
         {"decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers", "pipeline-model-parallel-layout",
          "account-for-embedding-in-pipeline-split", "account-for-loss-in-pipeline-split"})
        if (const Node* const found = run.keys.find({option})) {
            uneven = true;
            run.keys.findings().note(found->mark, fmt::format("left out: '--{}'; stages are balanced by time", option));
        }
    const auto all = run.keys.whole({"num-layers"}, most_layers);
    std::int64_t chunks = 1;
    if (const auto number = run.keys.whole({"num-virtual-stages-per-pipeline-rank"})) chunks = number->value;
    const auto each = run.keys.whole({"num-layers-per-virtual-pipeline-stage"});
    if (each && all) chunks = std::max<std::int64_t>(1, all->value / (run.pipeline.value * each->value));
    // Megatron-LM refuses it, too.
    if (all && !uneven && all->value % (run.pipeline.value * (each ? each->value : chunks)) != 0)
        run.keys.findings().fail(
            each ? each->mark : all->mark,
            each ? fmt::format("{} layers cannot be divided into chunks of {} on {} stages", all->value, each->value,
                               run.pipeline.value)
                 : fmt::format("{} layers cannot be divided among {} stages{}", all->value, run.pipeline.value,
                               chunks > 1 ? fmt::format(" of {} chunks", chunks) : ""));
    if (run.pipeline.value > 1) pipeline.set("schedule", chunks > 1 ? "interleaved" : "1f1b");
    if (chunks > 1) pipeline.set("virtual_stages", chunks);
    return pipeline.take();
}

void add_experts(Megatron& run, Written& parallelism) {
    const auto ranks = run.keys.whole({"expert-model-parallel-size"});
    const auto rows = run.keys.whole({"expert-tensor-parallel-size"});
    const std::string dispatcher = run.keys.word({"moe-token-dispatcher-type"}).value_or("allgather");
    const bool deduplicated = dispatcher == "flex" || run.has("moe-enable-deepep");
    const Node* const pairs = run.keys.find({"overlap-moe-expert-parallel-comm"});
    if (!ranks || ranks->value == 1) return;
    Written experts(ranks->mark);
    experts.set("ranks", *ranks);
    if (rows && rows->value != run.tensor.value) experts.set("model", *rows);
    if (deduplicated) experts.set("exchange", "deduplicated");
    if (pairs) experts.set("overlap", "micro-batches");
    parallelism.set("experts", experts.take());
    if (dispatcher == "allgather")
        run.keys.findings().note(run.start,
                                 "tokens are sent by all-to-all, not by `--moe-token-dispatcher-type allgather`");
}

/// Adds what is sharded, and when gradients and weights are exchanged.
void add_sharding(Megatron& run, Written& training, Written& parallelism, const std::optional<Given>& ranks) {
    std::string sharding = run.has("use-distributed-optimizer") ? "optimizer" : "";
    const std::string strategy = run.keys.word({"data-parallel-sharding-strategy"}).value_or("no_shard");
    if (run.has("use-megatron-fsdp") || run.has("use-custom-fsdp"))
        sharding = strategy == "optim"                ? "optimizer"
                   : strategy == "optim_grads"        ? "gradients"
                   : strategy == "optim_grads_params" ? "parameters"
                                                      : sharding;
    if (run.has("use-torch-fsdp2")) sharding = "parameters";
    if (!sharding.empty()) parallelism.set("sharding", sharding);
    if (run.has("overlap-param-gather")) parallelism.set("gathering", "before-forward");
    const auto bucket = run.keys.whole({"ddp-bucket-size"}, std::int64_t{1} << 40);
    if (!run.has("overlap-grad-reduce")) return;
    training.set("overlap", "wait-free");
    const std::int64_t replicas =
        ranks ? ranks->value / (run.tensor.value * run.pipeline.value * run.context.value) : 1;
    const std::int64_t weights = bucket ? bucket->value : std::max<std::int64_t>(40'000'000, 1'000'000 * replicas);
    const std::int64_t bytes = run.has("grad-reduce-in-bf16") ? 2 : 4;
    training.set("fusion", Written(run.start).set("threshold", fmt::format("{} B", weights * bytes)).take());
}

Node training_of(Megatron& run) {
    Written training(run.start);
    const auto ranks = gpus(run);
    training.set("framework", "megatron-core").set("fidelity", "auto").set("ranks", ranks);
    constexpr std::int64_t most_samples = 1 << 30;
    if (const auto batch = run.keys.whole({"global-batch-size"}, most_samples))
        training.set("batch", *batch);
    else
        training.set("batch_per_rank", run.keys.needed({"micro-batch-size"}));
    if (const Node* const ramp = run.keys.find({"rampup-batch-size"}))
        run.keys.findings().note(ramp->mark, "left out: the smaller batches at the beginning");
    const std::string optimizer = run.keys.word({"optimizer"}).value_or("adam");
    training.set("optimizer", optimizer == "sgd" ? "momentum" : "adam");
    if (optimizer != "sgd" && optimizer != "adam")
        run.keys.findings().note(run.start, fmt::format("the optimizer is Adam, not '{}'", optimizer));
    if (run.keys.number({"clip-grad"}).value_or(1) > 0) training.set("clipping", true);
    if (const std::string name = recomputation(run); !name.empty()) training.set("recomputation", name);
    if (run.has("optimizer-cpu-offload")) training.set("offload", "optimizer");
    if (run.has("enable-cuda-graph") || run.has("cuda-graph-impl") || run.has("external-cuda-graph"))
        training.set("launches", "graph");
    add_precision(run, training);

    Written parallelism(run.start);
    parallelism.set("model", run.tensor);
    const bool sequence = run.has("sequence-parallel") && run.tensor.value > 1;
    if (sequence) parallelism.set("sequence", true);
    const std::string way = run.keys.word({"cp-comm-type"}).value_or("p2p");
    if (run.context.value > 1) {
        if (way == "a2a")
            parallelism.set("context", Written(run.start).set("ranks", run.context).set("exchange", "ulysses").take());
        else
            parallelism.set("context", run.context);
        if (way != "a2a" && way != "p2p")
            run.keys.findings().note(run.start,
                                     fmt::format("keys and values go around a ring, not by `--cp-comm-type {}`", way));
    }
    parallelism.set("pipeline", pipeline_of(run));
    add_experts(run, parallelism);
    add_sharding(run, training, parallelism, ranks);
    if (run.has("tp-comm-overlap") && sequence)
        parallelism.set("model_overlap", Written(run.start).set("chunks", std::int64_t{4}).take());
    return training.set("parallelism", parallelism.take()).take();
}

}  // namespace

bool is_megatron(const ForeignFile& file) {
    if (file.document.kind != Node::Kind::null) return false;
    constexpr std::array typical{"--tensor-model-parallel-size", "--num-attention-heads", "--micro-batch-size"};
    return std::any_of(typical.begin(), typical.end(),
                       [&](const char* option) { return file.text().find(option) != std::string::npos; });
}

void read_megatron(const ForeignFile& file, Imported& imported) {
    const Node options = options_in(file.start);
    read_megatron_options(options, file.start, "--", options.find("hidden-size") || options.find("num-layers"),
                          imported);
}

void read_megatron_options(const Node& options, const Mark& start, const std::string& prefix, bool with_model,
                           Imported& imported) {
    Megatron run{{options, imported.findings, prefix}, start, {1, start}, {1, start}, {1, start}};
    const auto degree = [&](const char* option) { return run.keys.whole({option}).value_or(Given{1, start}); };
    run.tensor = degree("tensor-model-parallel-size");
    run.pipeline = degree("pipeline-model-parallel-size");
    run.context = degree("context-parallel-size");
    std::istringstream beginnings(without_effect_on_time);
    for (std::string beginning; beginnings >> beginning;)
        for (const Entry& entry : options.entries)
            if (entry.key.starts_with(beginning)) run.keys.ignore(entry.key);
    imported.training = training_of(run);
    if (with_model)
        imported.workload = model_of(run);
    else
        imported.sequence = run.keys.whole({"seq-length"});
    if (!prefix.empty()) run.keys.report_others();  // the reader of another file reports its own keys
}

}  // namespace syncline::config
