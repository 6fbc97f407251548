#include "sim/serve/knobs.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "sim/config/axis.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/keys.hpp"
#include "sim/document/document.hpp"
#include "sim/document/json_schema.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/serve/knob_values.hpp"
#include "sim/serve/usual_knobs.hpp"

namespace syncline::serve {

namespace {

using config::Node;

/// Returns the name of a key in the field's words; of a key that is not listed, its last part.
std::string label_of(const std::string& key) {
    static const std::map<std::string, std::string> labels{
        {"collective.bytes", "size"},
        {"platform.device.memory", "memory of a device"},
        {"platform.device.memory_bandwidth", "memory bandwidth"},
        {"platform.device.flops", "peak"},
        {"platform.device.speed", "speed of a device"},
        {"platform.fabric.bandwidth", "bandwidth"},
        {"platform.fabric.latency", "latency"},
        {"platform.fabric.topology", "topology"},
        {"platform.failures.node", "node's time between failures"},
        {"platform.network.latency", "latency's model"},
        {"platform.per_node.devices", "devices per node"},
        {"platform.per_node.links.bandwidth", "bandwidth in a node"},
        {"platform.per_node.nics", "ports per node"},
        {"platform.storage.write_bandwidth", "storage bandwidth"},
        {"training.batch", "global batch"},
        {"training.batch_per_rank", "batch per rank"},
        {"training.fusion.threshold", "bucket size"},
        {"training.local_steps", "local steps"},
        {"training.parallelism.context", "context parallel"},
        {"training.parallelism.data", "data parallel"},
        {"training.parallelism.experts", "expert parallel"},
        {"training.parallelism.model", "tensor parallel"},
        {"training.parallelism.pipeline", "pipeline stages"},
        {"training.parallelism.pipeline.micro_batch_size", "microbatch size"},
        {"training.parallelism.pipeline.micro_batches", "microbatches"},
        {"training.parallelism.pipeline.schedule", "pipeline schedule"},
        {"training.parallelism.pipeline.stages", "pipeline stages"},
        {"training.parallelism.pipeline.virtual_stages", "virtual stages"},
        {"training.parallelism.sharding", "sharding (ZeRO)"},
        {"training.placement", "rank placement"},
        {"training.run.checkpoint.interval", "checkpoint interval"},
        {"training.servers.backup_workers", "backup workers"},
        {"training.servers.count", "servers"},
        {"training.servers.placement", "placement of tensors"},
        {"training.servers.staleness", "bound on staleness"},
        {"training.stragglers.slowdown", "slowdown"},
        {"workload.sequence", "sequence length"},
    };
    if (const auto found = labels.find(key); found != labels.end()) return found->second;
    std::string last = key.substr(key.rfind('.') + 1);
    std::replace(last.begin(), last.end(), '_', ' ');
    return last;
}

/// Returns what a section of a variant holds for keys that are not written: `training` its plan, `platform` its
/// cluster.
std::map<std::string, std::string> held(const config::Variant& variant, const std::string& section) {
    const auto values = [](auto thing) {
        return config::held_values([&](config::Fields& fields) { describe(fields, thing); });
    };
    if (section == "platform" && !variant.cluster.native) return values(variant.cluster);
    if (section == "collective" && variant.collective) return values(*variant.collective);
    if (section != "training" || !variant.is_training()) return {};
    Plan plan = variant.plan;
    OpenPlan open = variant.open;
    return config::held_values([&](config::Fields& fields) { config::describe_training_keys(fields, plan, open); });
}

/// Returns the algorithm of a variant's exchanges; nothing if a table chooses it by their size.
std::optional<std::string> algorithm_of(const config::Variant& variant) {
    const auto of = [&](const auto& plan) {
        const bool chosen = plan.selection || (variant.cluster.transport.selection && !plan.algorithm.named);
        return chosen ? std::nullopt : std::optional(plan.algorithm.name);
    };
    return variant.collective ? of(*variant.collective) : of(variant.plan);
}

/// The present values of a variant's keys, as texts.
class Present {
public:
    Present(const config::Variant& variant, const Node& document) : variant_(variant), document_(document) {}

    std::optional<std::string> value(const std::string& key) {
        if (const Node* const written = written_at(document_, key))
            return written->kind == Node::Kind::scalar && !written->quoted ? written->scalar : flow_text(*written);
        if (key == "training.algorithm" || key == "collective.algorithm") return algorithm_of(variant_);
        const std::size_t dot = key.find('.');
        if (dot == std::string::npos) return {};
        const std::string section = key.substr(0, dot);
        auto found = held_.find(section);
        if (found == held_.end()) found = held_.emplace(section, held(variant_, section)).first;
        const auto value = found->second.find(key.substr(dot + 1));
        return value == found->second.end() ? std::nullopt : std::optional(value->second);
    }

private:
    const config::Variant& variant_;
    const Node& document_;
    std::map<std::string, std::map<std::string, std::string>> held_;  ///< by section; made when needed
};

bool is_mapping(const std::string& text) {
    return text.starts_with('{');
}

Json knob(const std::string& key, std::vector<std::string> values, const std::optional<std::string>& present) {
    Json at = nullptr;
    if (present) {
        const auto found = std::find_if(values.begin(), values.end(),
                                        [&](const std::string& value) { return same_value(value, *present); });
        // A mapping that is written out, as a platform's, is no choice that a reader would recognise.
        if (found != values.end())
            at = found - values.begin();
        else if (!is_mapping(*present))
            at = put_in(values, *present);
    }
    const bool numbers = std::all_of(values.begin(), values.end(),
                                     [](const std::string& value) { return number_of(value).has_value(); });
    return {{"key", key},
            {"label", label_of(key)},
            {"values", std::move(values)},
            {"at", std::move(at)},
            {"kind", numbers ? "number" : "choice"}};
}

}  // namespace

Json knobs_of(const config::Scenario& scenario, const config::Variant& variant,
              const std::map<std::string, std::string>& set) {
    config::Library library;
    const Node document = library.parse(variant.name, variant.resolved, "");
    Json knobs = Json::array();
    const auto of_variants = std::find_if(scenario.knobs.begin(), scenario.knobs.end(),
                                          [](const config::Knob& one) { return one.key == config::variant_key; });
    if (of_variants != scenario.knobs.end() || scenario.variants.size() > 1) {
        std::vector<std::string> names;
        if (of_variants != scenario.knobs.end())
            names = of_variants->values;
        else
            for (const config::Variant& one : scenario.variants) names.push_back(one.name);
        Json& chosen = knobs.emplace_back(knob(config::variant_key, std::move(names), variant.name));
        chosen["kind"] = "choice";
    }
    Present present(variant, document);
    const auto add = [&](const std::string& key, const std::vector<std::string>& values, const std::string& otherwise) {
        const auto changed = set.find(key);
        std::optional<std::string> now = changed != set.end() ? std::optional(changed->second) : present.value(key);
        if (!now && !otherwise.empty()) now = otherwise;
        knobs.push_back(knob(key, values, now));
    };
    bool own = false;
    for (const config::Knob& one : scenario.knobs) {
        if (one.key == config::variant_key) continue;
        add(one.key, one.values, "");
        own = true;
    }
    if (!own)
        for (const UsualKnob& one : usual_knobs(variant, document)) add(one.key, one.values, one.present);
    return knobs;
}

}  // namespace syncline::serve
