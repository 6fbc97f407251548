#include <string>

#include "sim/import/data_parallel_files.hpp"
#include "sim/import/megatron_flags.hpp"
#include "sim/import/toml_document.hpp"
#include "tests/catch.hpp"
#include "tests/unit/import/read.hpp"
#include "tests/unit/layers.hpp"

// Launch files of frameworks, written anew, as keys of `training`.

using namespace syncline;
using namespace syncline::config;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Read : test::Read {
    std::string training(const char* key) const { return text(imported.training, key); }
    std::string parallelism(const char* key) const { return text(*imported.training.find("parallelism"), key); }
    std::int64_t parameters() const { return test::read_model(imported.workload).parameters(); }
};

void megatron(Read& read, const std::string& text) {
    const ForeignFile file{read.library.cite("launch.sh", text, ""), {}};
    REQUIRE(is_megatron(file));
    read_megatron(file, read.imported);
}

void torchtitan(Read& read, const std::string& text) {
    const Node document = toml_document(read.library.cite("train.toml", text, ""));
    REQUIRE(is_torchtitan(document));
    read_torchtitan(document, read.imported);
}

void deepspeed(Read& read, const std::string& text) {
    const Node document = read.library.parse("ds.json", text, "");
    REQUIRE(is_deepspeed(document));
    read_deepspeed(document, read.imported);
}

void accelerate(Read& read, const std::string& text) {
    const Node document = read.library.parse("accelerate.yaml", text, "");
    REQUIRE(is_accelerate(document));
    read_accelerate(document, read.imported);
}

}  // namespace

TEST_CASE("Megatron-LM's options for GPT-3 175B", "[memory]") {
    // 1024 GPUs = 8 × 16 × data 8; 96 layers / 16 stages / 3 layers per chunk = 2 chunks; 50257 words padded to a
    // multiple of 128·8 are 51200. Parameters: 51200·12288 + 2048·12288 + 96·(12·12288² + 13·12288) + 2·12288 =
    // 174,615,846,912.
    Read read;
    megatron(read, R"(torchrun --nproc_per_node 8 --nnodes 128 --node_rank $RANK pretrain_gpt.py \
  --num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 --max-position-embeddings 2048 \
  --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16 --num-layers-per-virtual-pipeline-stage 3 \
  --micro-batch-size 1 --global-batch-size 1536 --sequence-parallel --recompute-activations \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --vocab-file v.json --merge-file merges.txt \
  --lr 6.0e-5 --bf16)");
    CHECK(read.imported.findings.errors.empty());
    CHECK(read.parameters() == 174'615'846'912);
    CHECK(read.training("framework") == "megatron-core");
    CHECK(read.training("ranks") == "1024");
    CHECK(read.training("batch") == "1536");
    CHECK(read.training("recomputation") == "selective");
    CHECK(read.training("overlap") == "wait-free");
    CHECK(read.training("fusion") == "{threshold: 160000000 B}");  // 40 M weights of 4 B
    CHECK(read.training("precision").empty());                     // the framework's: 2 B, gradients 4 B
    CHECK(read.parallelism("model") == "8");
    CHECK(read.parallelism("sequence") == "true");
    CHECK(read.parallelism("pipeline") ==
          "{stages: 16, micro_batch_size: 1, schedule: interleaved, virtual_stages: 2}");
    CHECK(read.parallelism("sharding") == "optimizer");
    CHECK(read.parallelism("gathering") == "before-forward");
    CHECK(read.notes() == "the vocabulary has 50257 words, as that tokenizer usually has\n");
}

TEST_CASE("Megatron-LM's options for Llama 3 70B", "[memory]") {
    // The vocabulary of 128256 is padded to a multiple of 128·4, 128512: 2·256·8192 parameters more than the
    // 70,553,706,496 of the model. Data 64/(4·4·2) = 2.
    Read read;
    megatron(read, R"(OPTS=(
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 --group-query-attention
  --num-query-groups 8 --kv-channels 128 --seq-length 8192 --max-position-embeddings 8192 --position-embedding-type rope
  --normalization RMSNorm --swiglu --disable-bias-linear --untie-embeddings-and-output-weights
  --attention-dropout 0.0 --hidden-dropout 0.0 --tensor-model-parallel-size 4 --sequence-parallel
  --context-parallel-size 2 --cp-comm-type a2a --pipeline-model-parallel-size 4
  --num-virtual-stages-per-pipeline-rank 5 --micro-batch-size 1 --global-batch-size 128 --tp-comm-overlap
  --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 --bf16 --grad-reduce-in-bf16
  --vocab-size 128256)
torchrun --nproc-per-node 8 --nnodes 8 pretrain_gpt.py "${OPTS[@]}")");
    CHECK(read.imported.findings.errors.empty());
    CHECK(read.parameters() == 70'553'706'496 + 2 * 256 * 8192);
    CHECK(read.training("ranks") == "64");
    CHECK(read.training("recomputation") == "full");
    CHECK(read.training("precision") == "{gradients: 2 B}");
    CHECK(read.training("overlap").empty());
    CHECK(read.parallelism("context") == "{ranks: 2, exchange: ulysses}");
    CHECK(read.parallelism("model_overlap") == "{chunks: 4}");
    CHECK(read.parallelism("sharding").empty());
    CHECK(read.notes().empty());
}

TEST_CASE("Megatron-LM's options for a model with experts", "[memory]") {
    // Mixtral 8×7B: one expert on each of 8 ranks, whole although attention is divided by 2.
    const std::string model = R"(--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32
  --group-query-attention --num-query-groups 8 --seq-length 4096 --max-position-embeddings 32768
  --position-embedding-type rope --normalization RMSNorm --swiglu --disable-bias-linear
  --untie-embeddings-and-output-weights --num-experts 8 --moe-router-topk 2 --tensor-model-parallel-size 2
  --sequence-parallel --expert-model-parallel-size 8 --micro-batch-size 1 --bf16 --fp8-format hybrid
  --vocab-size 32000 )";
    Read whole;
    megatron(whole, model + "--expert-tensor-parallel-size 1 --moe-token-dispatcher-type alltoall");
    CHECK(whole.imported.findings.errors.empty());
    CHECK(whole.parameters() == 46'702'792'704);
    CHECK(whole.parallelism("experts") == "{ranks: 8, model: 1}");
    CHECK(whole.training("ranks").empty());  // nothing says it
    CHECK(whole.training("batch_per_rank") == "1");
    CHECK(whole.training("precision") == "{products: fp8}");
    CHECK(whole.notes().empty());
    Read divided;
    megatron(divided, model);
    CHECK(divided.parallelism("experts") == "{ranks: 8}");  // as attention
    CHECK_THAT(divided.notes(), ContainsSubstring("allgather"));

    // A pattern of dense layers and layers with experts: 2 and 30 of 32.
    Read pattern;
    megatron(pattern, model + "--moe-layer-freq ([0]*2+[1]*30)");
    const std::int64_t dense = 3LL * 4096 * 14336, sparse = 8 * dense + 8 * 4096;
    CHECK(pattern.parameters() == 46'702'792'704 - 2 * (sparse - dense));
    Read wrong;
    megatron(wrong, model + "--moe-layer-freq ([0]*2+[1]*31)");
    CHECK(wrong.imported.findings.errors.size() == 1);
}

TEST_CASE("defaults of Megatron-LM", "[memory]") {
    // 8h/3 rounded down to a multiple of 64 with a gate: 21824 for 8192; one group of keys; the vocabulary of 100 is
    // padded to 128; learned positions beyond the sequence. Without --bf16 all is 4 B.
    Read read;
    megatron(read, R"(--num-layers 1 --hidden-size 8192 --num-attention-heads 64 --swiglu --group-query-attention
  --seq-length 16 --max-position-embeddings 20 --vocab-size 100 --micro-batch-size 3 --strange-option 7)");
    CHECK(read.imported.findings.errors.empty());
    const std::int64_t h = 8192, f = 21824, attention = h * (h + 2 * 128) + (h + 2 * 128) + h * h + h;
    CHECK(read.parameters() == 128 * h + 20 * h + attention + 3 * h * f + 2 * f + h + 2 * 2 * h + 2 * h);
    CHECK(read.training("precision") == "{weights: 4 B, gradients: 4 B, master: none, activations: 4 B}");
    CHECK(read.training("clipping") == "true");
    CHECK(read.notes() == "not understood: --strange-option\n");

    Read odd;
    megatron(odd,
             "--num-layers 10 --micro-batch-size 1 --pipeline-model-parallel-size 2 "
             "--num-layers-per-virtual-pipeline-stage 3");
    CHECK_THAT(odd.imported.findings.errors.front().message,
               ContainsSubstring("10 layers cannot be divided into chunks of 3"));
    Read unknown;
    megatron(unknown, "--micro-batch-size 1 --tensor-model-parallel-size $TP");
    CHECK_THAT(unknown.imported.findings.errors.front().message, ContainsSubstring("'$TP' is not a whole number"));
}

TEST_CASE("torchtitan's file", "[memory]") {
    Read read;
    torchtitan(read, R"([job]
dump_folder = "./out"
[model]
name = "llama3"
flavor = "70B"
[training]
local_batch_size = 8
seq_len = 4096
[parallelism]
data_parallel_shard_degree = 32
tensor_parallel_degree = 8
enable_async_tensor_parallel = true
[activation_checkpoint]
mode = "full"
[compile]
enable = true
[quantize.linear.float8]
filter_fqns = ["output"]
)");
    CHECK(read.imported.workload.scalar == "llama-3-70b");
    REQUIRE(read.imported.sequence);
    CHECK(read.imported.sequence->value == 4096);
    CHECK(read.training("framework") == "torchtitan");
    CHECK(read.training("ranks") == "256");
    CHECK(read.training("batch_per_rank") == "8");
    CHECK(read.training("recomputation") == "full");
    CHECK(read.training("elementwise") == "fused");
    CHECK(read.training("precision") == "{products: fp8}");
    CHECK(read.parallelism("sharding") == "parameters");
    CHECK(read.parallelism("model_overlap") == "{chunks: 8}");
    CHECK(read.notes().empty());

    // Replicas of shards; with a pipeline weights stay gathered after the forward pass; recomputation is on by default.
    Read pipeline;
    torchtitan(pipeline, R"(model = {name = "other", flavor = "1B"}
job = {}
training = {global_batch_size = 64, local_batch_size = 4, unknown = 1}
[parallelism]
data_parallel_replicate_degree = 2
data_parallel_shard_degree = 4
pipeline_parallel_degree = 2
pipeline_parallel_schedule = "ZBVZeroBubble"
)");
    CHECK(pipeline.training("ranks") == "16");
    CHECK(pipeline.training("batch") == "64");
    CHECK(pipeline.training("recomputation") == "operators");
    CHECK(pipeline.parallelism("sharding") == "{of: gradients, within: 4}");
    CHECK(pipeline.parallelism("pipeline") == "{stages: 2, micro_batch_size: 1, schedule: zb-v}");
    CHECK_THAT(pipeline.notes(), ContainsSubstring("'other 1B' is not known"));
    CHECK_THAT(pipeline.notes(), ContainsSubstring("not of each 2. layer"));
    CHECK_THAT(pipeline.notes(), ContainsSubstring("not understood: training.unknown"));
}

TEST_CASE("TOML has the places of its keys, and wrong TOML an error at its place", "[memory]") {
    Library library;
    const Node document = toml_document(library.cite("a.toml", "[a]\nb = [1, \"x\", 2.5]\n", ""));
    const Entry* const entry = document.find("a")->entry("b");
    CHECK(entry->mark.line == 2);
    CHECK(entry->value.items[1].quoted);
    CHECK(flow_text(entry->value) == "[1, \"x\", 2.5]");
    try {
        toml_document(library.cite("a.toml", "a = 1\nb = = 2\n", ""));
        FAIL();
    } catch (const ConfigError& error) {
        CHECK(error.diagnostics().front().where.line == 2);
        CHECK_THAT(error.diagnostics().front().message, ContainsSubstring("this is not TOML"));
    }
    CHECK_THROWS_AS(toml_document(library.cite("a.toml", "a = " + std::string(100'000, '['), "")), ConfigError);
    std::string parts = "a";
    for (int i = 0; i < 100'000; ++i) parts += ".a";
    CHECK_THROWS_AS(toml_document(library.cite("a.toml", parts + " = 1", "")), ConfigError);
    CHECK_THROWS_AS(toml_document(library.cite("a.toml", "[" + parts + "]", "")), ConfigError);
    CHECK_THROWS_AS(toml_document(library.cite("a.toml", "a = {" + parts + " = 1}", "")), ConfigError);
}

TEST_CASE("DeepSpeed's file", "[memory]") {
    Read read;
    deepspeed(read, R"({"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2, "gradient_clipping": 1.0,
  "bf16": {"enabled": true}, "zero_optimization": {"stage": 3, "reduce_bucket_size": 2e8, "zero_hpz_partition_size": 8}})");
    CHECK(read.training("framework") == "deepspeed-zero3");
    CHECK(read.training("batch_per_rank") == "8");
    CHECK(read.training("overlap").empty());  // the framework's: on for stage 3
    CHECK(read.training("clipping") == "true");
    CHECK(read.parallelism("sharding") == "parameters");
    CHECK(read.parallelism("pipeline") == "{stages: 1, micro_batch_size: 4}");
    CHECK_THAT(read.notes(), ContainsSubstring("'zero_hpz_partition_size'"));
    CHECK_THAT(read.notes(), ContainsSubstring("'reduce_bucket_size'"));
    CHECK_THAT(read.notes(), ContainsSubstring("recomputed"));

    Read two;  // 2e8 elements of 2 B
    deepspeed(two, R"({"train_batch_size": 128, "train_micro_batch_size_per_gpu": "auto", "fp16": {"enabled": true},
  "optimizer": {"type": "SGD"},
  "zero_optimization": {"stage": 2, "reduce_bucket_size": 2e8, "overlap_comm": true, "offload_optimizer": {"device": "cpu"}}})");
    CHECK(two.training("framework") == "deepspeed");
    CHECK(two.training("batch") == "128");
    CHECK(two.training("overlap") == "wait-free");
    CHECK(two.training("fusion") == "{threshold: 400000000 B}");
    CHECK(two.training("offload") == "gradients");
    CHECK(two.training("optimizer") == "momentum");
    CHECK(two.parallelism("sharding") == "gradients");
}

TEST_CASE("Accelerate's file", "[memory]") {
    const std::string fsdp = R"(compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_machines: 2
num_processes: 16
fsdp_config:
  fsdp_version: 2
  fsdp_sharding_strategy: STRATEGY
  fsdp_activation_checkpointing: true
)";
    for (const auto& [strategy, sharding] : {std::pair{"FULL_SHARD", "parameters"},
                                             {"SHARD_GRAD_OP", "gradients"},
                                             {"NO_SHARD", "none"},
                                             {"HYBRID_SHARD", "{of: parameters, within: node}"},
                                             {"HYBRID_SHARD_ZERO2", "{of: gradients, within: node}"}}) {
        Read read;
        std::string text = fsdp;
        accelerate(read, text.replace(text.find("STRATEGY"), 8, strategy));
        CHECK(read.imported.findings.errors.empty());
        CHECK(read.parallelism("sharding") == sharding);
        CHECK(read.training("framework") == "pytorch-fsdp2");
        CHECK(read.training("ranks") == "16");
        CHECK(read.training("precision") == "mixed");
        CHECK(read.training("recomputation") == "full");
        CHECK(read.notes().empty());
    }
    Read ddp;
    accelerate(ddp, "distributed_type: MULTI_GPU\nmixed_precision: 'no'\nnum_processes: 8\nstrange: 1\n");
    CHECK(ddp.training("framework") == "pytorch-ddp");
    CHECK(ddp.imported.training.find("parallelism") == nullptr);
    CHECK(ddp.notes() == "not understood: strange\n");
    Read other;
    accelerate(other, "distributed_type: MEGATRON_LM\n");
    CHECK(other.imported.findings.errors.size() == 1);
}

TEST_CASE("Megatron-LM's layers have to be divisible among stages and chunks") {
    const std::string options =
        "--hidden-size 64 --num-attention-heads 4 --seq-length 8 --vocab-size 128 --micro-batch-size 1 "
        "--pipeline-model-parallel-size 4 ";
    const auto error_of = [&](const std::string& more) {
        Read read;
        megatron(read, options + more);
        return read.imported.findings.errors.empty() ? "" : read.imported.findings.errors.front().message;
    };
    CHECK(error_of("--num-layers 80 --num-virtual-stages-per-pipeline-rank 5") == "");
    CHECK(error_of("--num-layers 81 --num-virtual-stages-per-pipeline-rank 5") ==
          "81 layers cannot be divided among 4 stages of 5 chunks");
    CHECK(error_of("--num-layers 6") == "6 layers cannot be divided among 4 stages");
    CHECK(error_of("--num-layers 10 --num-layers-per-virtual-pipeline-stage 3") ==
          "10 layers cannot be divided into chunks of 3 on 4 stages");
    CHECK(error_of("--num-layers 6 --decoder-first-pipeline-num-layers 3") == "");
}

TEST_CASE("NeMo's YAML says what Megatron-LM's options say") {
    // 32 GPUs = 4 × 2 × data 4. Two stages of 4 chunks of 32 / 8 layers. The table has 32000 words, padded to a
    // multiple of 128·4: 32256; Llama 2's 6,738,415,616 parameters and 2·256·4096 more.
    const std::string text = R"(trainer:
  devices: 8
  num_nodes: 4
  precision: bf16
  accumulate_grad_batches: 1
model:
  micro_batch_size: 2
  global_batch_size: 256
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: 4
  sequence_parallel: true
  encoder_seq_length: 4096
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 11008
  num_attention_heads: 32
  num_query_groups: null
  normalization: rmsnorm
  activation: fast-swiglu
  bias: false
  position_embedding_type: rope
  share_embeddings_and_output_weights: false
  hidden_dropout: 0.0
  activations_checkpoint_granularity: selective
  fp8: true
  fp8_hybrid: true
  new_key: 3
  optim:
    name: distributed_fused_adam
    overlap_grad_sync: true
    grad_sync_dtype: bf16
)";
    const auto nemo = [](Read& read, const std::string& yaml) {
        const Node document = read.library.parse("nemo.yaml", yaml, "");
        REQUIRE(is_nemo(document));
        read_nemo(document, read.imported);
    };
    Read read;
    nemo(read, text);
    CHECK(read.imported.findings.errors.empty());
    CHECK(read.training("framework") == "megatron-core");
    CHECK(read.training("ranks") == "32");
    CHECK(read.training("batch") == "256");
    CHECK(read.training("recomputation") == "selective");
    CHECK(read.training("overlap") == "wait-free");
    CHECK(read.parallelism("model") == "4");
    CHECK(read.parallelism("sequence") == "true");
    CHECK(read.parallelism("sharding") == "optimizer");
    CHECK(read.parallelism("pipeline") == "{stages: 2, micro_batch_size: 2, schedule: interleaved, virtual_stages: 4}");
    CHECK(read.training("precision") == "{gradients: 2 B, products: fp8}");
    CHECK(read.imported.workload.kind == Node::Kind::null);
    CHECK_THAT(read.notes(), ContainsSubstring("does not say how many words the vocabulary has") &&
                                 ContainsSubstring("not understood: model.new_key"));

    Read with_words;
    nemo(with_words, text + "  override_vocab_size: 32000\n");
    CHECK(with_words.imported.findings.errors.empty());
    CHECK(with_words.parameters() == 6'740'512'768);

    Read accumulates;
    nemo(accumulates, "trainer: {accumulate_grad_batches: 2}\nmodel: {micro_batch_size: 1}");
    CHECK_FALSE(accumulates.imported.findings.errors.empty());
}
