#include "sim/config/variant.hpp"
#include "sim/lowering/feasibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/base/did_you_mean.hpp"
#include "sim/config/expect.hpp"
#include "sim/config/jobs_keys.hpp"
#include "sim/config/keys.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline::config {

namespace {

/// Adds the paths of all values in a mapping that is reached by `path`.
void list_written(const Node& node, const std::string& path, std::vector<std::string>& paths) {
    for (const Entry& entry : node.entries) {
        const std::string key = path.empty() ? entry.key : path + "." + entry.key;
        if (entry.value.kind == Node::Kind::mapping)
            list_written(entry.value, key, paths);
        else if (key != "auto")
            paths.push_back(key);
    }
}

Location place_of(const Node& mapping, std::string_view key) {
    const Entry* const entry = mapping.entry(key);
    return locate(entry ? entry->mark : mapping.mark);
}

}  // namespace

void choose_attention(Fields& training, Device& device, const Plan& plan) {
    if (plan.attention_kernel.empty() || !device.kernels) return;
    const auto& known = device.kernels->attention_kernels;
    if (const auto found = known.find(plan.attention_kernel); found != known.end()) {
        device.kernels->attention = found->second;
    } else if (training.given("attention_kernel")) {
        std::vector<std::string> names;
        for (const auto& [name, table] : known) names.push_back(name);
        training.reject(
            "attention_kernel",
            fmt::format("'{}' has no measured kernel of attention '{}'", device.name, plan.attention_kernel),
            names.empty()
                ? "`platform.device.kernels.attention` has no file"
                : did_you_mean(plan.attention_kernel, names, fmt::format("it has {}", fmt::join(names, ", "))));
    }
}

void refuse_open(Assembly& assembly, const Node& document, const Variant& variant) {
    if (!variant.open.everything) return;
    assembly.report(document.find("training")->find("parallelism")->mark,
                    "`parallelism: auto` is searched by `run` and `explain` alone",
                    "write the plan that `syncline run` finds");
}

const Lowered& Variant::lowered() const {
    if (open.everything) throw std::logic_error("the plan of `parallelism: auto` has to be found first");
    if (!lowered_) lowered_ = std::make_shared<const Lowered>(lower(cluster, model, plan));
    return *lowered_;
}

void describe_variant(Fields& fields, std::string& name, Variant& variant, GridChoices& choices,
                      const Inspect& inspect) {
    std::string description;
    fields.text({"name", "Name shown in results. Default: the file's name."}, name);
    fields.text({"description", "Text for readers."}, description);
    // These keys are removed before a variant is read; they are described here so that misspelt ones are recognised.
    fields.named({"variants", "Variants to compare, by name: each gives the keys that differ."},
                 [](const std::string&, Fields&) {});
    std::vector<Expectation> expectations;
    describe_expectations(fields, expectations);
    fields.section(
        {"knobs",
         "Knobs of the live page (`syncline serve`): keys, or `variant`, with the values to choose from, as in "
         "a study's `axes`. Default: those that matter most."},
        [](Fields&) {});
    fields.section(
        {"platform",
         "Cluster: its keys, its file or one in SimGrid's format (`.xml`), or the name of one in platforms/.", true,
         true},
        [&](Fields& inner) { describe(inner, variant.cluster, inspect); });
    fields.section({"workload", "Model: its keys, its file, or the name of one in workloads/.", false, true,
                    OtherKeys("collective", "trace", "jobs")},
                   [&](Fields& inner) { describe(inner, variant.model); });
    const bool known = fields.sound();
    fields.section({"collective", "Single exchange at one size or several; replaces `workload` and `training`."},
                   [&](Fields& inner) {
                       CollectivePlan& plan = variant.collective.emplace();
                       plan.placement.seed = variant.plan.placement.seed;
                       describe(inner, plan);
                       if (!known || !inner.sound()) return;
                       report(inner, judge(variant.cluster, plan));
                       give_nodes(variant.cluster, plan.placement, plan.ranks, plan.server_nodes());
                   });
    fields.section({"trace", "Replay of an execution trace of another program; replaces `workload` and `training`."},
                   [&](Fields& inner) {
                       TracePlan& plan = variant.trace.emplace();
                       plan.placement.seed = variant.plan.placement.seed;
                       describe(inner, plan);
                       if (!known || !inner.sound() || !plan.trace) return;
                       // Its ranks are placed, and need nodes, as those of an exchange.
                       CollectivePlan alike;
                       alike.ranks = plan.ranks();
                       alike.placement = plan.placement;
                       report(inner, judge(variant.cluster, alike));
                       if (!inner.sound()) return;
                       give_nodes(variant.cluster, plan.placement, plan.ranks(), 0);
                   });
    describe_jobs(fields, variant, known, variant.plan.placement.seed);
    if (!variant.cluster.others.empty())
        for (const char* key : {"trace", "jobs"})
            if (fields.given(key))
                fields.reject(key,
                              fmt::format("'{}' runs on nodes of one kind, but platform '{}' has `other_nodes`", key,
                                          variant.cluster.name),
                              "write a training or an exchange, or remove `other_nodes`");
    for (const char* other : {"collective", "trace", "jobs"})
        for (const char* key : {"workload", "training", "collective", "trace"}) {
            if (key == std::string_view(other) ||
                (other == std::string_view("collective") && key == std::string_view("trace")))
                continue;
            if (fields.given(other) && fields.given(key))
                fields.reject(key, fmt::format("'{}' and '{}' exclude each other", key, other),
                              other == std::string_view("jobs")
                                  ? "each of the jobs has its own"
                                  : "a scenario is a training, a single exchange or a trace");
        }
    const Key training{"training", "Training of the model on the cluster.", false, false,
                       OtherKeys("collective", "trace", "jobs")};
    fields.section(training, [&](Fields& inner) {
        describe(inner, variant.plan, variant.open);
        for (std::size_t kind = 0; kind < variant.cluster.kinds(); ++kind)
            choose_attention(inner, variant.cluster.device_of(kind), variant.plan);
        if (!known || !inner.sound()) return;
        Feasibility found = judge(variant.cluster, variant.model, variant.plan, variant.open);
        report(inner, found.complaints);
        // A search may also ask what more ranks than these would need.
        if (!variant.open.everything)
            give_nodes(variant.cluster, variant.plan.placement, variant.plan.ranks, variant.plan.server_nodes());
        choices = std::move(found.choices);
        variant.keep(std::move(found.lowered));
    });
}

Variant read_variant(Assembly& assembly, const Node& document, const std::string& name, std::string& scenario_name,
                     GridChoices& choices, const Inspect& inspect, std::uint64_t seed, const Node& free_layers) {
    Variant variant;
    variant.name = name;
    variant.plan.set_seed(seed);
    for (const Node& layer : free_layers.items) variant.plan.free_layers.push_back(layer.scalar);
    variant.training = place_of(document, document.find("jobs") ? "jobs" : "training");
    variant.job_places = places_of_jobs(document);
    assembly.read(document, "scenario",
                  [&](Fields& fields) { describe_variant(fields, scenario_name, variant, choices, inspect); });
    if (variant.open.everything) list_written(*document.find("training")->find("parallelism"), "", variant.open.kept);
    return variant;
}

}  // namespace syncline::config
