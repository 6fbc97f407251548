#include "sim/config/imported_platform.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sim/config/file_kinds.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/document/override.hpp"
#include "sim/document/presets.hpp"

namespace syncline::config {

namespace {

/// Names a preset, or the file, in place of a file's name that is relative to the text that has it.
void name_anywhere(Node* word, const Kinds& kinds) {
    if (word == nullptr || word->kind != Node::Kind::scalar) return;
    const std::filesystem::path file = find_file(*word, kinds);
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return;  // a shape's name
    word->scalar = std::filesystem::absolute(file).lexically_normal().string();
    for (const Preset& preset : presets(kinds))
        if (std::filesystem::equivalent(preset.file, file, error)) word->scalar = preset.name;
}

}  // namespace

void open_platform(Assembly& assembly, Node& platform) {
    assembly.library.expand(platform, {"platform"});
    name_anywhere(platform.find("device"), {"device"});
    name_anywhere(platform.find("transport"), {"transport"});
    if (Node* const fabric = platform.find("fabric"); fabric && !is_shape(fabric->scalar))
        name_anywhere(fabric, {"topology"});
}

Node platform_of(Assembly& assembly, const Machine& machine, const Node& network, std::vector<std::string>& assignments,
                 Findings& findings) {
    Node base = mapping_at(machine.mark), keys = mapping_at(machine.mark);
    std::erase_if(assignments, [&](const std::string& text) {
        bool is_base = false;
        assembly.attempt([&] {
            const Node changes = parse_assignment(assembly.library, text);
            const Node* const platform = changes.find("platform");
            if (platform == nullptr) return;
            is_base = platform->kind == Node::Kind::scalar;
            if (!is_base) return merge(keys, *platform);
            base = *platform;
            open_platform(assembly, base);
        });
        return is_base;
    });
    assembly.finish();
    if (network.kind != Node::Kind::null) merge(base, network);
    if (base.find("simgrid_xml"))
        throw ConfigError({{locate(base.mark), "a platform in SimGrid's format has no `per_node`",
                            "name another, or `--set platform.device=…` alone"}});
    if (!machine.device.empty() && base.find("device") == nullptr && keys.find("device") == nullptr) {
        findings.note(machine.mark, fmt::format("the GPU's PCI number is that of '{}'", machine.device),
                      "`--set platform.device=…`");
        base.entries.push_back({"device", machine.mark, scalar_at(machine.mark, machine.device)});
    }
    take(base, "name");
    Node known = base;
    for (const char* key : {"devices", "links", "nics", "nic_link", "affinity"})
        if (Node* const node = known.find("per_node")) take(*node, key);
    base = known;
    merge(known, keys);
    Node* const device = known.find("device");
    if (device == nullptr)
        throw ConfigError({{locate(machine.mark), "the file does not say which GPU this is",
                            fmt::format("`--set platform.device=…`{}; `syncline list devices`",
                                        machine.device_hint.empty() ? "" : ", one of " + machine.device_hint)}});
    if (device->kind == Node::Kind::scalar) assembly.library.expand(*device, {"device"});
    const Node* const name = device->find("name");
    const Node written = machine_keys(machine, known, name ? name->scalar : "", findings);
    Node platform = mapping_at(machine.mark, {{"name", machine.mark, scalar_at(machine.mark, machine.name)}});
    merge(platform, base);
    merge(platform, written);
    return platform;
}

}  // namespace syncline::config
