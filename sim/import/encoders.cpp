#include <fmt/format.h>

#include <algorithm>

#include "sim/import/architectures.hpp"

namespace syncline::config {

namespace {

Node read_bert(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    const Given words = keys.needed({"vocab_size"}), width = keys.needed({"hidden_size"}),
                positions = keys.needed({"max_position_embeddings"});
    const Given heads = keys.needed({"num_attention_heads"}),
                layers = keys.needed({"num_hidden_layers"}, most_layers_given);
    Stack stack = classic_stack(mark, width, heads, keys.needed({"intermediate_size"}), layers.value);
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
    keys.ignore("is_gated_act");
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

/// Whisper: two convolutions over the frames of a spectrogram, the second with every other one, an encoder, and a
/// decoder. Keys have no biases, so that all biases of matrices are extra parameters.
Node read_whisper(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    constexpr std::int64_t most_frames = 1 << 16;
    const Given width = keys.needed({"d_model"}), words = keys.needed({"vocab_size"});
    const Given encoder = keys.needed({"encoder_layers"}, most_layers_given),
                decoder = keys.needed({"decoder_layers"}, most_layers_given);
    const Given frames = keys.whole({"max_source_positions"}, most_frames).value_or(Given{1500, mark}),
                target = keys.whole({"max_target_positions"}, most_frames).value_or(Given{448, mark});
    const std::int64_t bands = keys.whole({"num_mel_bins"}, most_frames).value_or(Given{80, mark}).value;
    const std::int64_t w = width.value;
    const bool dropout = drops(keys, {"dropout", "attention_dropout", "activation_dropout"}, false);
    keys.findings().note(target.mark, fmt::format("the input has {} frames and the target {} tokens, which is chosen: "
                                                  "the file has only the maximum",
                                                  frames.value, target.value));
    keys.ignore("scale_embedding num_hidden_layers use_weighted_layer_sum median_filter_width is_decoder");
    const std::int64_t attention_biases = 3 * w;  // queries, values, result
    const auto finished = [&](Written& layer, std::int64_t biases) {
        layer.set("norm", "layer").set("bias", false);
        if (!dropout) layer.set("dropout", false);
        return layer.set("extra_parameters", biases).take();
    };
    std::vector<Node> entries;
    Written embedding(mark, "embedding", "embedding");
    embedding.set("vocabulary", words).set("width", width).set("learned_positions", false);
    if (!dropout) embedding.set("dropout", false);
    entries.push_back(embedding.set("extra_parameters", target.value * w).take());
    // The positions of frames are sines, which are parameters that no gradient changes.
    Written audio(mark, "convolutions", "custom");
    audio.set("parameters", 3 * bands * w + w + 3 * w * w + w + frames.value * w);
    audio.set("macs", 2 * frames.value * 3 * bands * w + frames.value * 3 * w * w);
    entries.push_back(audio.set("inputs", 2 * frames.value * bands).set("activations", 3 * frames.value * w).take());
    const Given heads = keys.needed({"encoder_attention_heads"}), hidden = keys.needed({"encoder_ffn_dim"});
    Written stack(mark, "encoder", "transformer");
    stack.set("repeat", encoder).set("width", width).set("heads", heads).set("hidden", hidden);
    entries.push_back(finished(stack, attention_biases + hidden.value + w));
    Written norm(mark, "encoder-norm", "custom");
    norm.set("parameters", 2 * w).set("macs", std::int64_t{0}).set("inputs", frames.value * w);
    entries.push_back(norm.set("activations", frames.value * w).take());
    Node inner = empty_at(mark, Node::Kind::sequence);
    const Given decoder_heads = keys.needed({"decoder_attention_heads"}),
                decoder_hidden = keys.needed({"decoder_ffn_dim"});
    for (const bool cross : {false, true}) {
        Written half(mark, cross ? "cross-attention" : "attention", "attention");
        half.set("positions", target);
        if (cross) half.set("context", frames);
        half.set("width", width).set("heads", decoder_heads);
        inner.items.push_back(finished(half, attention_biases));
    }
    Written half(mark, "feed-forward", "feed-forward");
    half.set("positions", target).set("width", width).set("hidden", decoder_hidden);
    inner.items.push_back(finished(half, decoder_hidden.value + w));
    entries.push_back(Written(mark, "decoder", "block").set("repeat", decoder).set("layers", std::move(inner)).take());
    Written head(mark, "head", "dense");
    head.set("positions", target).set("inputs", width).set("outputs", words).set("norm", "layer").set("tied", true);
    entries.push_back(head.set("gathered", false).take());
    return with_layers(workload_head(model_name(keys, "whisper"), mark, frames, false), std::move(entries));
}

Node read_vit(ForeignKeys& keys) {
    const Mark& mark = keys.mark();
    constexpr std::int64_t most_pixels = 1 << 14;
    const Given width = keys.needed({"hidden_size"}), heads = keys.needed({"num_attention_heads"});
    const Given layers = keys.needed({"num_hidden_layers"}, most_layers_given);
    const Given pixels = keys.needed({"image_size"}, most_pixels), patch = keys.needed({"patch_size"}, most_pixels);
    const Given channels = keys.whole({"num_channels"}, most_pixels).value_or(Given{3, mark});
    Stack stack = classic_stack(mark, width, heads, keys.needed({"intermediate_size"}), layers.value);
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

}  // namespace

std::vector<Architecture> encoder_architectures() {
    return {{"bert", read_bert}, {"t5", read_t5}, {"vit", read_vit}, {"whisper", read_whisper}};
}

}  // namespace syncline::config
