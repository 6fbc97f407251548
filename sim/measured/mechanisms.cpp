#include "sim/measured/mechanisms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/document/override.hpp"

namespace syncline::config {

Mechanisms::Mechanisms(const std::string& path) {
    const Node node = assembly_.library.load_argument(path);
    AblationFile file;
    assembly_.read(node, "ablation", [&](Fields& fields) { describe(fields, file); });
    assembly_.finish();
    all_ = std::move(file.mechanisms);
    read_changes(assembly_, all_, *node.find("mechanisms"));
    assembly_.finish();
}

void read_changes(Assembly& assembly, std::vector<Alternative>& alternatives, const Node& list) {
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
        Alternative& one = alternatives[i];
        const Node& node = list.items[i];
        one.at = locate(node.mark);
        if (const Node* layers = node.find("free_layers")) one.free_layers = *layers;
        const Node* set = node.find("set");
        one.changes = set ? *set : mapping_at(node.mark);
        if (set && set->entries.empty())
            assembly.report(set->mark, "'set' changes nothing", "write at least one key with its value");
        assembly.attempt([&] { split_paths(one.changes); });
        const auto before = alternatives.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::any_of(alternatives.begin(), before, [&](const Alternative& other) { return other.name == one.name; }))
            assembly.report(node.find("name")->mark, fmt::format("'{}' is listed twice", one.name),
                            "give each its own name");
    }
}

}  // namespace syncline::config
