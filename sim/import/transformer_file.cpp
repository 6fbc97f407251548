#include "sim/import/transformer_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace syncline::config {

namespace {

void write_attention(Written& layer, const AttentionKeys& keys) {
    layer.set("heads", keys.heads).set("kv_heads", keys.kv_heads).set("head_size", keys.head_size);
    layer.set("query_rank", keys.query_rank).set("kv_rank", keys.kv_rank).set("rotary_size", keys.rotary_size);
    layer.set("window", keys.window);
    if (keys.rotary) layer.set("rotary", true);
}

void write_forward(Written& layer, const ForwardKeys& keys) {
    layer.set("hidden", keys.hidden);
    if (keys.gated) layer.set("gated", true);
    if (keys.merged_gate) layer.set("merged_gate", true);
}

/// Writes what both halves have.
void write_common(Written& layer, const Stack& stack, bool bias, std::int64_t extra_parameters) {
    layer.set("norm", stack.norm);
    if (!bias) layer.set("bias", false);
    if (!stack.dropout) layer.set("dropout", false);
    if (extra_parameters > 0) layer.set("extra_parameters", extra_parameters);
}

/// Returns both halves of a layer; `suffix` is put after their names.
std::vector<Node> halves(const Stack& stack, const DecoderLayer& kind, const std::string& suffix, const Mark& mark) {
    Written attention(mark, "attention" + suffix, "attention");
    attention.set("width", stack.width);
    write_attention(attention, kind.attention);
    write_common(attention, stack, kind.attention.bias, kind.attention.extra_parameters);
    const ForwardKeys& keys = kind.forward;
    if (!keys.experts) {
        Written forward(mark, "feed-forward" + suffix, "feed-forward");
        forward.set("width", stack.width);
        write_forward(forward, keys);
        write_common(forward, stack, keys.bias, keys.extra_parameters);
        return {attention.take(), forward.take()};
    }
    Written moe(mark, "moe" + suffix, "moe");
    moe.set("width", stack.width);
    write_forward(moe, keys);
    const ExpertKeys& experts = *keys.experts;
    moe.set("experts", experts.experts).set("top_k", experts.top_k);
    moe.set("shared_experts", experts.shared).set("shared_hidden", experts.shared_hidden);
    if (!experts.capacity.empty()) moe.set("capacity", experts.capacity);
    if (!experts.fused_permutation) moe.set("fused_permutation", false);
    moe.set("norm", stack.norm);
    if (keys.bias) moe.set("bias", true);
    if (keys.extra_parameters > 0) moe.set("extra_parameters", keys.extra_parameters);
    return {attention.take(), moe.take()};
}

/// Layers of a stack that repeat: `times` times the `period` layers from `begin` on.
struct Repetition {
    std::size_t begin, period, times;
};

std::vector<Repetition> repetitions(const std::vector<std::size_t>& order) {
    constexpr std::size_t longest_period = 16;
    std::vector<Repetition> found;
    for (std::size_t begin = 0; begin < order.size();) {
        Repetition best{begin, 1, 1};
        for (std::size_t period = 1; period <= longest_period; ++period) {
            std::size_t end = begin + period;
            while (end < order.size() && order[end] == order[end - period]) ++end;
            const std::size_t times = (std::min(end, order.size()) - begin) / period;
            if ((period == 1 || times > 1) && period * times > best.period * best.times) best = {begin, period, times};
        }
        found.push_back(best);
        begin += best.period * best.times;
    }
    return found;
}

bool has_experts(const DecoderLayer& layer) {
    return layer.forward.experts.has_value();
}

}  // namespace

std::vector<Node> stack_layers(const Stack& stack, const Mark& mark) {
    std::vector<Node> entries;
    std::set<std::string> names;
    const bool experts = std::any_of(stack.kinds.begin(), stack.kinds.end(), has_experts);
    for (const Repetition& run : repetitions(stack.order)) {
        const DecoderLayer& first = stack.kinds[stack.order[run.begin]];
        std::string name = experts && run.period == 1 && !has_experts(first) ? "dense" : "layer";
        if (!names.insert(name).second) names.insert(name = fmt::format("{}-{}-", name, names.size() + 1));
        const auto times = static_cast<std::int64_t>(run.times);
        const bool parallel = stack.parallel != "none";
        if (parallel || (run.period == 1 && !has_experts(first) && first.attention.bias == first.forward.bias &&
                         first.forward.extra_parameters == 0)) {
            Written layer(mark, name, "transformer");
            layer.set("repeat", times).set("width", stack.width);
            write_attention(layer, first.attention);
            write_forward(layer, first.forward);
            if (parallel) layer.set("parallel", stack.parallel);
            write_common(layer, stack, first.attention.bias, first.attention.extra_parameters);
            entries.push_back(layer.take());
            continue;
        }
        Written block(mark, name, "block");
        block.set("repeat", times);
        Node inner = empty_at(mark, Node::Kind::sequence);
        for (std::size_t i = 0; i < run.period; ++i) {
            const std::string suffix = run.period == 1 ? "" : std::to_string(i + 1);
            for (Node& half : halves(stack, stack.kinds[stack.order[run.begin + i]], suffix, mark))
                inner.items.push_back(std::move(half));
        }
        block.set("layers", std::move(inner));
        entries.push_back(block.take());
    }
    return entries;
}

std::string written_name(std::string name, const std::string& prefix) {
    constexpr std::size_t longest = 64;
    name.resize(std::min(name.size(), longest));
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (!is_lower(c) && !(c >= '0' && c <= '9') && c != '.' && c != '_') c = '-';
    }
    return !name.empty() && is_lower(name.front()) ? name : prefix + "-" + name;
}

Written workload_head(const std::string& name, const Mark& mark, const Given& sequence, bool causal) {
    Written head(mark);
    head.set("name", name).set("sequence", sequence);
    if (causal) head.set("causal", true);
    head.set("element_size", "2 B");
    return head;
}

Node with_layers(Written head, std::vector<Node> layers) {
    Node list = empty_at(head.mark(), Node::Kind::sequence);
    list.items = std::move(layers);
    head.set("layers", std::move(list));
    return head.take();
}

Node workload_of(const LanguageModel& model) {
    const Stack& stack = model.stack;
    Written embedding(model.mark, "embedding", "embedding");
    embedding.set("vocabulary", model.vocabulary).set("width", stack.width);
    if (!model.learned_positions) embedding.set("learned_positions", false);
    if (std::string(model.embedding_norm) != "none") embedding.set("norm", model.embedding_norm);
    if (!stack.dropout) embedding.set("dropout", false);
    if (model.embedding_extra > 0) embedding.set("extra_parameters", model.embedding_extra);
    std::vector<Node> layers{embedding.take()};
    for (Node& entry : stack_layers(stack, model.mark)) layers.push_back(std::move(entry));
    Written head(model.mark, "head", "dense");
    head.set("inputs", stack.width).set("outputs", model.vocabulary).set("norm", stack.norm);
    if (model.tied) head.set("tied", true);
    head.set("gathered", false);
    layers.push_back(head.take());
    return with_layers(workload_head(model.name, model.mark, model.sequence, model.causal), std::move(layers));
}

}  // namespace syncline::config
