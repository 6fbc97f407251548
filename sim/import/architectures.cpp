#include "sim/import/architectures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace syncline::config {

namespace {

/// Tokens of a sample if the file's maximum is larger: what most pre-trainings use.
constexpr std::int64_t usual_sequence = 8192;

}  // namespace

std::string model_name(ForeignKeys& keys, const std::string& type) {
    std::string name = keys.word({"_name_or_path"}).value_or("");
    name = std::filesystem::path(name).filename().string();
    const std::string stem = std::filesystem::path(keys.mark().source->name).stem().string();
    if (name.empty() || name == "." || name == "..") name = stem == "config" ? type : stem;
    return written_name(name, type);
}

bool drops(ForeignKeys& keys, std::initializer_list<const char*> names, bool absent) {
    bool given = false, above = false;
    for (const char* name : names)
        if (const auto rate = keys.number({name})) {
            given = true;
            above = above || *rate > 0;
        }
    return given ? above : absent;
}

Given sequence_of(ForeignKeys& keys, Given longest) {
    for (const char* name : {"rope_scaling", "rope_parameters"}) {
        const Node* const scaling = keys.find({name});
        const Node* const original = scaling ? scaling->find("original_max_position_embeddings") : nullptr;
        if (const auto value = original ? foreign_whole(*original) : std::nullopt; value && *value > 0)
            longest = {std::min(*value, longest.value), original->mark};
    }
    if (const Node* const original = keys.find({"original_max_position_embeddings"}))
        if (const auto value = foreign_whole(*original); value && *value > 0)
            longest = {std::min(*value, longest.value), original->mark};
    if (longest.value <= usual_sequence) return longest;
    keys.findings().note(
        longest.mark,
        fmt::format("the sequence is {} tokens, which is chosen: the file has only the maximum", usual_sequence),
        "in a scenario `workload.sequence` changes it");
    return {usual_sequence, longest.mark};
}

Stack classic_stack(const Mark& mark, const Given& width, const Given& heads, const std::optional<Given>& hidden,
                    std::int64_t layers) {
    Stack stack;
    stack.width = width;
    stack.norm = "layer";
    DecoderLayer layer;
    layer.attention.heads = heads;
    layer.attention.bias = layer.forward.bias = true;
    layer.forward.hidden = hidden.value_or(Given{4 * width.value, mark});
    stack.kinds = {layer};
    stack.order.assign(static_cast<std::size_t>(layers), 0);
    return stack;
}

}  // namespace syncline::config
