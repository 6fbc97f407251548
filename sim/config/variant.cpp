#include "sim/config/variant.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/compute.hpp"
#include "sim/config/exchange.hpp"
#include "sim/config/expect.hpp"
#include "sim/config/measured_keys.hpp"

namespace syncline::config {

namespace {

Location place_of(const Node& mapping, std::string_view key) {
    const auto found = std::find_if(mapping.entries.begin(), mapping.entries.end(),
                                    [&](const Entry& entry) { return entry.key == key; });
    return locate(found == mapping.entries.end() ? mapping.mark : found->mark);
}

}  // namespace

const Lowered& Variant::lowered() const {
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
    MeasuredKeys measured;
    describe_measured(fields, measured);
    fields.section({"platform", "Cluster: its keys, its file, or the name of one in platforms/.", true, true},
                   [&](Fields& inner) { describe(inner, variant.cluster, inspect); });
    fields.section(
        {"workload", "Model: its keys, its file, or the name of one in workloads/.", false, true, "collective"},
        [&](Fields& inner) { describe(inner, variant.model); });
    const bool known = fields.sound();
    fields.section({"collective", "Single exchange at one size or several; replaces `workload` and `training`."},
                   [&](Fields& inner) {
                       CollectivePlan& plan = variant.collective.emplace();
                       plan.placement.seed = variant.plan.placement.seed;
                       describe(inner, plan);
                       if (known && inner.sound()) check_collective(inner, plan, variant.cluster);
                   });
    for (const char* key : {"workload", "training"})
        if (fields.given("collective") && fields.given(key))
            fields.reject(key, fmt::format("'{}' and 'collective' exclude each other", key),
                          "a scenario is a training or a single exchange");
    const Key training{"training", "Training of the model on the cluster.", false, false, "collective"};
    fields.section(training, [&](Fields& inner) {
        OpenPlan open;
        describe(inner, variant.plan, open);
        if (!known || !inner.sound()) return;
        // With other parallelism, the arrangement determines which ranks exchange gradients: see check_parallelism.
        const bool whole = variant.plan.parallelism.data_only() && !open.automatic();
        const bool served = variant.plan.exchange == ExchangeKind::parameter_server;
        check_compute(inner, variant.plan.compute, variant.model, variant.cluster.device);
        check_fidelity(inner, variant.plan.fidelity, variant.cluster);
        check_placement(inner, variant.cluster, variant.plan.placement, variant.plan.ranks);
        if (served)
            check_no_algorithm(inner);
        else if (whole && variant.plan.selection && variant.plan.exchange == ExchangeKind::allreduce)
            check_selection(inner, *variant.plan.selection, "allreduce", variant.cluster, variant.plan.ranks,
                            variant.model.gradient_bytes());
        else if (whole)
            check_algorithm(inner, variant.plan.algorithm, variant.plan.ranks, variant.model.gradient_bytes());
        if (!inner.sound()) return;
        const bool colocated = variant.plan.servers.colocated();
        const bool sliced = served && variant.plan.servers.placement == Placement::sliced;
        const std::int64_t servers = served ? variant.plan.servers.count : 0;
        require_nodes(inner, "ranks", variant.cluster, variant.plan.placement, variant.plan.ranks,
                      colocated ? 0 : servers);
        require_countable(inner, "ranks", static_cast<double>(variant.model.gradient_bytes()), variant.plan.ranks,
                          variant.plan.exchange == ExchangeKind::gossip);
        require_pieces(inner, "partition", static_cast<double>(variant.model.gradient_bytes()),
                       variant.plan.partition_bytes, variant.plan.ranks * (sliced ? servers : 1));
        require_connections(inner, "servers", variant.plan.ranks, servers);
        if (served && colocated && variant.cluster.native)
            inner.reject("servers",
                         "colocated servers need a route from a host to itself, which SimGrid's platforms rarely have",
                         "`location: dedicated` gives them their own nodes");
        if (colocated && servers > variant.plan.ranks)
            inner.reject(
                "servers",
                fmt::format("{} colocated servers need as many ranks, but there are {}", servers, variant.plan.ranks),
                "`location: dedicated` gives them their own nodes");
        if (inner.sound()) choices = check_parallelism(inner, variant, open);
    });
}

Variant read_variant(Assembly& assembly, const Node& document, const std::string& name, std::string& scenario_name,
                     GridChoices& choices, const Inspect& inspect, std::uint64_t seed) {
    Variant variant;
    variant.name = name;
    variant.plan.set_seed(seed);
    variant.training = place_of(document, "training");
    assembly.read(document, "scenario",
                  [&](Fields& fields) { describe_variant(fields, scenario_name, variant, choices, inspect); });
    return variant;
}

}  // namespace syncline::config
