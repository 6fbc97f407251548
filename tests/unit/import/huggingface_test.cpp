#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/huggingface.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Hugging Face's config.json, written anew with the fields of published models, and their published parameters.

using namespace syncline;
using namespace syncline::config;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Returns the model in a file's text. Throws ConfigError.
Model model_in(const std::string& text, Findings& findings) {
    Library library;
    const Node workload = read_huggingface(library.parse("config.json", text, ""), findings);
    if (!findings.errors.empty()) throw ConfigError(findings.errors);
    return test::read_model(workload);
}

Model model_in(const std::string& text) {
    Findings findings;
    return model_in(text, findings);
}

struct Published {
    const char* name;
    const char* text;
    std::int64_t parameters;
    std::int64_t active = 0;  ///< 0: all
};

// Sources of the numbers: the totals of the hub's safetensors metadata as public repositories quote them (llama,
// mistral, mixtral, qwen, deepseek-v2-lite, gemma-2, gemma-3-1b, phi-3, bert-base-uncased, bloom, falcon-40b), of which
// llama-2, falcon and deepseek-v3 store more than parameters; Keras Hub's presets (gpt-2-xl, flan-t5-xxl); model cards
// (gpt-neox-20b); counts in public repositories (gpt2, opt, falcon-7b, t5-11b, vit).
const Published published[] = {
    // Per layer 2·2880·4096 + 2·2880·512 and their biases of 8000, a sink for each of 64 heads, the router's 32·2881,
    // 32·(3·2880² + 3·2880) of experts and 2·2880 of norms: 823,186,976. With 2·201088·2880 and 2880: OpenAI's 20.91e9.
    // Idle are 24·28·24,891,840; OpenAI's 3.61e9 that act are without the embedding.
    {"gpt-oss-20b",
     R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 24,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "num_local_experts": 32,
      "num_experts_per_tok": 4, "vocab_size": 201088, "max_position_embeddings": 131072, "sliding_window": 128,
      "attention_bias": true, "swiglu_limit": 7.0, "initial_context_length": 4096, "experts_per_token": 4,
      "rope_scaling": {"original_max_position_embeddings": 4096, "rope_type": "yarn"}})",
     20'914'757'184, 4'187'440'704},
    {"gpt-oss-120b", R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880,
      "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
      "num_local_experts": 128, "num_experts_per_tok": 4, "vocab_size": 201088, "max_position_embeddings": 131072,
      "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention",
      "sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
      "sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
      "sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
      "sliding_attention", "full_attention"]})",
     116'829'156'672, 5'711'982'912},  // idle: 36·124·24,891,840
    // The checkpoints' 108,641,793,536 and 401,583,781,376 without 871,932,416 of the encoder of images and its
    // projector. Scout: 48 layers of 62,914,560 of attention, 16·5120 of the router, 17·3·5120·8192 and 2·5120.
    {"llama-4-scout", R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "hidden_size": 5120,
      "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_hidden_layers": 48, "num_attention_heads": 40,
      "num_key_value_heads": 8, "head_dim": 128, "num_local_experts": 16, "num_experts_per_tok": 1,
      "interleave_moe_layer_step": 1, "vocab_size": 202048, "max_position_embeddings": 10485760,
      "attention_chunk_size": 8192, "use_qk_norm": true, "attn_temperature_tuning": true, "no_rope_layers": []},
      "vision_config": {}})",
     107'769'861'120, 17'172'894'720},
    {"llama-4-maverick", R"({"model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192,
      "intermediate_size_mlp": 16384, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
      "head_dim": 128, "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2,
      "vocab_size": 202048, "max_position_embeddings": 1048576})",
     400'711'848'960, 17'184'691'200},
    // The hub's 110,468,824,832 without the module for further tokens (a layer of 2,341,492,736, 2·4096² + 3·4096, and
    // embedding and head once more, 1,241,513,984) and 46·128 biases of routers.
    {"glm-4.5-air", R"({"model_type": "glm4_moe", "hidden_size": 4096, "intermediate_size": 10944,
      "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128,
      "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 1408,
      "first_k_dense_replace": 1, "attention_bias": true, "use_qk_norm": false, "vocab_size": 151552,
      "partial_rotary_factor": 0.5, "max_position_embeddings": 131072, "num_nextn_predict_layers": 1})",
     106'852'245'504, 13'424'123'904},  // idle: 45·120·3·4096·1408
    // The hub's 1,026,408,232,448 without 60·384 biases of routers.
    {"kimi-k2", R"({"model_type": "kimi_k2", "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
      "num_attention_heads": 64, "num_key_value_heads": 64, "q_lora_rank": 1536, "kv_lora_rank": 512,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 384,
      "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "first_k_dense_replace": 1,
      "moe_layer_freq": 1, "vocab_size": 163840, "max_position_embeddings": 131072, "num_nextn_predict_layers": 0})",
     1'026'408'209'408, 32'861'477'888},  // idle: 60·376·3·7168·2048
    // Convolutions 3·128·1280 + 3·1280² + 2·1280, positions (1500 + 448)·1280, 32·(12·1280² + 12·1280), 32·(16·1280² +
    // 17·1280), both last norms and the table.
    {"whisper-large-v3", R"({"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper",
      "d_model": 1280, "encoder_layers": 32, "decoder_layers": 32, "encoder_attention_heads": 20,
      "decoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "vocab_size": 51866,
      "num_mel_bins": 128, "max_source_positions": 1500, "max_target_positions": 448})",
     1'543'490'560},
    // 2·128256·4096 of embedding and head; 32 layers of 2·4096·4096 + 2·4096·1024, 3·4096·14336 and 2·4096; 4096:
    // 1,050,673,152 + 32 · 218,112,000 + 4096
    {"llama-3.1-8b", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
      "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 128256, "max_position_embeddings": 131072, "rope_theta": 500000.0, "tie_word_embeddings": false,
      "rope_scaling": {"factor": 8.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"},
      "attention_bias": false, "mlp_bias": false, "rms_norm_eps": 1e-05, "torch_dtype": "bfloat16"})",
     8'030'261'248},
    {"llama-3-70b", R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80,
      "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192})",
     70'553'706'496},
    {"llama-3.2-1b", R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256,
      "max_position_embeddings": 131072, "tie_word_embeddings": true})",
     1'235'814'400},
    {"mistral-7b-v0.1", R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "sliding_window": 4096,
      "vocab_size": 32000, "max_position_embeddings": 32768})",
     7'241'732'096},
    // per layer 41,943,040 of attention, 8·4096 of the router, 8·3·4096·14336 of experts, 8192 of norms; two of eight
    // act
    {"mixtral-8x7b", R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8,
      "num_experts_per_tok": 2, "sliding_window": null, "vocab_size": 32000, "max_position_embeddings": 32768})",
     46'702'792'704, 12'879'925'248},
    // biases of queries, keys and values: 28·(3584 + 2·512) of the total
    {"qwen2.5-7b", R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
      "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "max_position_embeddings": 32768,
      "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28, "tie_word_embeddings": false})",
     7'615'616'512},
    {"qwen1.5-moe-a2.7b", R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
      "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_hidden_layers": 24,
      "num_attention_heads": 16, "num_key_value_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
      "decoder_sparse_step": 1, "vocab_size": 151936, "max_position_embeddings": 8192, "tie_word_embeddings": false})",
     14'315'784'192, 2'689'173'504},
    {"qwen3-30b-a3b", R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
      "moe_intermediate_size": 768, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4,
      "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
      "vocab_size": 151936, "max_position_embeddings": 40960, "tie_word_embeddings": false})",
     30'532'122'624, 3'353'032'704},
    {"qwen3-8b", R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
      "max_position_embeddings": 40960, "tie_word_embeddings": false})",
     8'190'735'360},
    // without a rank of queries; the first layer is dense
    {"deepseek-v2-lite", R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
      "moe_intermediate_size": 1408, "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16,
      "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
      "vocab_size": 102400, "max_position_embeddings": 163840,
      "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}})",
     15'706'484'224, 2'661'150'208},
    // The hub's 684,531,386,000 hold the module for a second token, copies of tables, router biases and scales of FP8.
    {"deepseek-v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
      "moe_intermediate_size": 2048, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
      "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
      "moe_layer_freq": 1, "num_nextn_predict_layers": 1, "vocab_size": 129280, "max_position_embeddings": 163840,
      "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}})",
     671'026'404'352, 37'552'282'624},
    {"gemma-7b", R"({"model_type": "gemma", "hidden_size": 3072, "intermediate_size": 24576, "num_hidden_layers": 28,
      "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256, "vocab_size": 256000,
      "max_position_embeddings": 8192})",
     8'537'680'896},
    {"gemma-2-27b",
     R"({"model_type": "gemma2", "hidden_size": 4608, "intermediate_size": 36864, "num_hidden_layers": 46,
      "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128, "vocab_size": 256000,
      "sliding_window": 4096, "max_position_embeddings": 8192})",
     27'227'128'320},
    {"gemma-3-1b", R"({"model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912,
      "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256,
      "sliding_window": 512, "sliding_window_pattern": 6, "vocab_size": 262144, "max_position_embeddings": 32768})",
     999'885'952},
    {"phi-3-mini", R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 32, "sliding_window": 2047, "vocab_size": 32064,
      "max_position_embeddings": 4096})",
     3'821'079'552},
    // 50257·768 + 1024·768 + 12·(12·768² + 13·768) + 2·768
    {"gpt2", R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "n_ctx": 1024,
      "vocab_size": 50257, "n_inner": null, "resid_pdrop": 0.1, "activation_function": "gelu_new"})",
     124'439'808},
    {"gpt2-xl", R"({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024,
      "vocab_size": 50257})",
     1'557'611'200},
    {"gpt-neox-20b", R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
      "num_hidden_layers": 44, "num_attention_heads": 64, "vocab_size": 50432, "max_position_embeddings": 2048,
      "rotary_pct": 0.25, "use_parallel_residual": true, "tie_word_embeddings": false})",
     20'554'567'680},
    // two more rows of positions
    {"opt-1.3b", R"({"model_type": "opt", "hidden_size": 2048, "ffn_dim": 8192, "num_hidden_layers": 24,
      "num_attention_heads": 32, "word_embed_proj_dim": 2048, "do_layer_norm_before": true, "vocab_size": 50272,
      "max_position_embeddings": 2048})",
     1'315'758'080},
    // a narrow table with two projections, and no last normalisation
    {"opt-350m", R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24,
      "num_attention_heads": 16, "word_embed_proj_dim": 512, "do_layer_norm_before": false, "vocab_size": 50272,
      "max_position_embeddings": 2048})",
     331'196'416},
    // 65024·4544 + 32·(4544·73·64 + 4544² + 2·4544·18176 + 2·4544) + 2·4544; the hub's 7,217,189,760 are these and a
    // copy
    // of the table, 295,469,056
    {"falcon-7b", R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
      "multi_query": true, "parallel_attn": true, "new_decoder_architecture": false, "bias": false, "alibi": false,
      "vocab_size": 65024})",
     6'921'720'704},
    {"falcon-40b", R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128,
      "num_kv_heads": 8, "new_decoder_architecture": true, "parallel_attn": true, "bias": false, "alibi": false,
      "vocab_size": 65024})",
     41'303'293'952},
    {"bloom", R"({"model_type": "bloom", "hidden_size": 14336, "n_layer": 70, "num_attention_heads": 112,
      "vocab_size": 250880, "seq_length": 2048})",
     176'247'271'424},
    {"bert-base, without heads", R"({"architectures": ["BertModel"], "model_type": "bert", "hidden_size": 768,
      "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 30522,
      "max_position_embeddings": 512, "type_vocab_size": 2, "hidden_dropout_prob": 0.1})",
     109'482'240},
    {"bert-base-uncased", R"({"architectures": ["BertForPreTraining"], "model_type": "bert", "hidden_size": 768,
      "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 30522,
      "max_position_embeddings": 512, "type_vocab_size": 2})",
     110'106'428},
    {"t5-11b", R"({"model_type": "t5", "d_model": 1024, "d_ff": 65536, "d_kv": 128, "num_heads": 128, "num_layers": 24,
      "vocab_size": 32128, "n_positions": 512, "relative_attention_num_buckets": 32, "feed_forward_proj": "relu"})",
     11'307'321'344},
    {"flan-t5-xxl",
     R"({"model_type": "t5", "d_model": 4096, "d_ff": 10240, "d_kv": 64, "num_heads": 64, "num_layers": 24,
      "num_decoder_layers": 24, "vocab_size": 32128, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})",
     11'135'332'352},
    {"vit-base-patch16-224",
     R"({"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 768,
      "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 224, "patch_size": 16,
      "num_channels": 3, "qkv_bias": true, "num_labels": 1000})",
     86'567'656},
};

}  // namespace

TEST_CASE("a config.json has the published parameters", "[memory]") {
    for (const Published& one : published) {
        CAPTURE(one.name);
        const Model model = model_in(one.text);
        CHECK(model.parameters() == one.parameters);
        CHECK(model.active_parameters() == (one.active > 0 ? one.active : one.parameters));
        CHECK(model.element_bytes == 2);
    }
}

TEST_CASE("a config.json has the layers of the shipped model", "[memory]") {
    for (const auto& [shipped, name] : {std::pair{"llama-3-70b", "llama-3-70b"},
                                        {"deepseek-v3", "deepseek-v3"},
                                        {"gpt-2", "gpt2"},
                                        {"gpt-2-xl", "gpt2-xl"},
                                        {"gpt-neox-20b", "gpt-neox-20b"},
                                        {"bloom-176b", "bloom"},
                                        {"t5-11b", "t5-11b"}}) {
        CAPTURE(shipped);
        const Model expected = test::shipped_model(shipped);
        for (const Published& one : published) {
            if (std::string(one.name) != name) continue;
            const Model model = model_in(one.text);
            REQUIRE(model.layers.size() == expected.layers.size());
            for (std::size_t i = 0; i < model.layers.size(); ++i) {
                const Layer &mine = model.layers[i], &theirs = expected.layers[i];
                CAPTURE(theirs.name);
                CHECK(mine.parameters == theirs.parameters);
                CHECK(mine.macs == theirs.macs);
                CHECK(mine.activations == theirs.activations);
                CHECK(mine.shape.index() == theirs.shape.index());
            }
        }
    }
}

TEST_CASE("windows, dense layers and experts alternate as the file says", "[memory]") {
    const std::string shapes = R"("hidden_size": 64, "intermediate_size": 256, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100, "max_position_embeddings": 128, )";
    const auto windows = [](const Model& model) {
        std::string text;
        for (const Layer& layer : model.layers)
            if (const auto* attention = std::get_if<Attention>(&layer.shape)) text += attention->window > 0 ? 'w' : '.';
        return text;
    };
    // Gemma 2: layers 0, 2, …; Gemma 3: all but each sixth; `layer_types` says it; Qwen 2: from a layer on, if used.
    CHECK(windows(model_in("{" + shapes +
                           R"("model_type": "gemma2", "sliding_window": 32, "num_hidden_layers": 5})")) == "w.w.w");
    CHECK(windows(model_in("{" + shapes +
                           R"("model_type": "gemma3_text", "sliding_window": 32, "num_hidden_layers": 8})")) ==
          "wwwww.ww");
    CHECK(windows(model_in("{" + shapes + R"("model_type": "qwen3", "sliding_window": 32, "num_hidden_layers": 3,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"]})")) == ".w.");
    const std::string upper =
        R"("model_type": "qwen2", "sliding_window": 32, "max_window_layers": 1, "num_hidden_layers": 3)";
    CHECK(windows(model_in("{" + shapes + upper + "}")) == "...");
    CHECK(windows(model_in("{" + shapes + upper + R"(, "use_sliding_window": true})")) == ".ww");
    // Mistral: 4096 if the key is absent, none if it is null.
    const std::string mistral = R"("model_type": "mistral", "num_hidden_layers": 1)";
    CHECK(windows(model_in("{" + shapes + mistral + "}")) == "w");
    CHECK(windows(model_in("{" + shapes + mistral + R"(, "sliding_window": null})")) == ".");

    // Every second layer has experts, but layer 3 has none: layers 1 and 5 of six.
    const Model sparse = model_in("{" + shapes + R"("model_type": "qwen3_moe", "moe_intermediate_size": 32,
        "num_experts": 4, "num_experts_per_tok": 1, "decoder_sparse_step": 2, "mlp_only_layers": [3],
        "num_hidden_layers": 6})");
    std::string halves;
    for (const Layer& layer : sparse.layers) {
        if (std::holds_alternative<FeedForward>(layer.shape)) halves += 'd';
        if (std::holds_alternative<Experts>(layer.shape)) halves += 'e';
    }
    CHECK(halves == "deddde");
}

TEST_CASE("the sequence is the file's maximum, or before its extension, or 8192 tokens", "[memory]") {
    const std::string shapes = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 256,
        "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 100, "max_position_embeddings": )";
    Findings none, chosen;
    CHECK(model_in(shapes + "2048}", none).sample_elements == 2048);
    CHECK(none.notes.empty());
    CHECK(model_in(shapes + R"(16384, "rope_scaling": {"original_max_position_embeddings": 4096}})").sample_elements ==
          4096);
    CHECK(model_in(shapes + "16384}", chosen).sample_elements == 8192);
    REQUIRE(chosen.notes.size() == 1);
    CHECK_THAT(chosen.notes.front().message, ContainsSubstring("the sequence is 8192 tokens, which is chosen"));
}

TEST_CASE("a file with an encoder of images gives its language model", "[memory]") {
    // Gemma 3 4B, whose nested part has four shapes; the others are Gemma 3's defaults. The hub's 4,300,079,472 hold
    // the tower of images, too; a public repository counts 3,880,263,168 of the language model.
    Findings findings;
    const Model model = model_in(R"({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
        "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024},
        "vision_config": {"hidden_size": 1152}})",
                                 findings);
    CHECK(model.parameters() == 3'880'263'168);
    REQUIRE(findings.notes.size() == 1);
    CHECK_THAT(findings.notes.front().message, ContainsSubstring("all but the language model"));
}

TEST_CASE("a head that is no language model's is named", "[memory]") {
    Findings findings;
    model_in(R"({"architectures": ["LlamaForSequenceClassification"], "model_type": "llama", "hidden_size": 64,
        "intermediate_size": 256, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 100})",
             findings);
    REQUIRE(findings.notes.size() == 1);
    CHECK_THAT(findings.notes.front().message, ContainsSubstring("'LlamaForSequenceClassification'"));
}

TEST_CASE("elements have 2 B, which is said if the file has others", "[memory]") {
    const std::string shapes = R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 1, "n_head": 4, "n_positions": 32,
        "vocab_size": 100, "torch_dtype": )";
    Findings half, full;
    CHECK(model_in(shapes + "\"bfloat16\"}", half).element_bytes == 2);
    CHECK(half.notes.empty());
    CHECK(model_in(shapes + "\"float32\"}", full).element_bytes == 2);
    REQUIRE(full.notes.size() == 1);
    CHECK_THAT(full.notes.front().message, ContainsSubstring("elements have 2 B"));
}

TEST_CASE("what is not understood is named once", "[memory]") {
    Findings findings;
    model_in(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 1,
        "num_attention_heads": 4, "vocab_size": 100, "torch_dtype": "bfloat16", "residual_multiplier": 0.2,
        "num_experts_shared": 3})",
             findings);
    REQUIRE(findings.notes.size() == 1);
    CHECK(findings.notes.front().message == "not understood: residual_multiplier, num_experts_shared");
    CHECK(findings.notes.front().where.line == 2);
}
