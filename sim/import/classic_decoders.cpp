#include "sim/import/architectures.hpp"

namespace syncline::config {

namespace {

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
    model.stack = classic_stack(model.mark, width, heads, keys.whole({"n_inner"}), layers.value);
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
    model.stack = classic_stack(model.mark, width, heads, std::nullopt, layers.value);
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
    model.stack = classic_stack(model.mark, width, heads, keys.needed({"intermediate_size"}), layers.value);
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
    model.stack = classic_stack(model.mark, width, heads, keys.needed({"ffn_dim"}), layers.value);
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
    model.stack = classic_stack(model.mark, width, heads, keys.whole({"ffn_hidden_size"}), layers.value);
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

}  // namespace

std::vector<Architecture> classic_architectures() {
    return {{"bloom", read_bloom},
            {"falcon", read_falcon},
            {"gpt2", read_gpt2},
            {"gpt_neox", read_gpt_neox},
            {"opt", read_opt}};
}

}  // namespace syncline::config
