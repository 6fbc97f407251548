#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/base/utf8.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/compute.hpp"
#include "sim/config/exchange.hpp"
#include "sim/config/expect.hpp"
#include "sim/config/files.hpp"
#include "sim/config/override.hpp"
#include "sim/config/parallelism.hpp"

namespace syncline::config {

namespace {

/// One variant's document, everything merged.
void describe_variant(Fields& fields, std::string& name, Variant& variant, GridChoices& choices,
                      const Inspect& inspect) {
    std::string description;
    fields.text({"name", "Shown in results; the file's name by default."}, name);
    fields.text({"description", "For people."}, description);
    // Both are taken out before a variant is read; named here so that a misspelt one is recognised.
    fields.named({"variants", "From a name to the keys that differ: one file compares several ways."},
                 [](const std::string&, Fields&) {});
    std::vector<Expectation> expectations;
    describe_expectations(fields, expectations);
    fields.section({"platform", "The cluster, or the name of a file that describes it.", true, true},
                   [&](Fields& inner) { describe(inner, variant.cluster, inspect); });
    fields.section({"workload", "The model, or the name of a file that describes it.", false, true, "collective"},
                   [&](Fields& inner) { describe(inner, variant.model); });
    const bool known = fields.sound();
    fields.section({"collective", "In place of `workload` and `training`: one exchange alone, at one size or several."},
                   [&](Fields& inner) {
                       CollectivePlan& plan = variant.collective.emplace();
                       describe(inner, plan);
                       if (known && inner.sound()) check_collective(inner, plan, variant.cluster);
                   });
    for (const char* key : {"workload", "training"})
        if (fields.given("collective") && fields.given(key))
            fields.reject(key, fmt::format("'{}' beside 'collective'", key),
                          "a scenario trains, or is an exchange alone");
    const Key training{"training", "How the model is trained on the cluster.", false, false, "collective"};
    fields.section(training, [&](Fields& inner) {
        OpenPlan open;
        describe(inner, variant.plan, open);
        if (!known || !inner.sound()) return;
        // Of other parallelism it is known from the arrangement who exchanges gradients: see check_parallelism.
        const bool whole = variant.plan.parallelism.data_only() && !open.automatic();
        const bool served = variant.plan.exchange == ExchangeKind::parameter_server;
        check_compute(inner, variant.plan.compute, variant.model, variant.cluster.device);
        check_placement(inner, variant.cluster, variant.plan.placement, variant.plan.ranks);
        if (served)
            check_no_algorithm(inner);
        else if (whole && variant.plan.selection && variant.plan.exchange == ExchangeKind::allreduce)
            check_selection(inner, *variant.plan.selection, "allreduce", variant.cluster, variant.plan.ranks,
                            variant.model.gradient_bytes());
        else if (whole)
            check_algorithm(inner, variant.plan.algorithm, variant.plan.ranks, variant.model.gradient_bytes());
        if (!inner.sound()) return;
        const bool colocated = variant.plan.servers.location == ServerLocation::colocated;
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
                         "SimGrid's platforms seldom have a way from a host to itself, which colocated servers need",
                         "`location: dedicated` gives them nodes of their own");
        if (colocated && servers > variant.plan.ranks)
            inner.reject(
                "servers",
                fmt::format("{} colocated servers need as many ranks, and there are {}", servers, variant.plan.ranks),
                "`location: dedicated` gives them nodes of their own");
        if (inner.sound()) choices = check_parallelism(inner, variant.cluster, variant.model, variant.plan, open);
    });
}

/// Takes the value of `key` out of a mapping; a null if it is not there.
Node take(Node& node, std::string_view key) {
    const auto found =
        std::find_if(node.entries.begin(), node.entries.end(), [&](const Entry& entry) { return entry.key == key; });
    if (found == node.entries.end()) return {};
    Node value = std::move(found->value);
    node.entries.erase(found);
    return value;
}

/// The changes of one variant, fit to be merged; false if they are not.
bool prepare(Assembly& assembly, Entry& variant) {
    if (variant.value.kind != Node::Kind::mapping) {
        assembly.report(variant.value.mark, fmt::format("variant '{}' is not a mapping", variant.key),
                        "it holds the keys that differ, such as `training.overlap: none`");
        return false;
    }
    if (variant.key.empty() || has_control(variant.key))
        assembly.report(variant.mark, "a variant's name is a text without control characters, and not empty");
    assembly.attempt([&] { split_paths(variant.value); });
    for (const char* key : {"name", "variants", "expect"}) {
        const auto& entries = variant.value.entries;
        const auto found =
            std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
        if (found != entries.end())
            assembly.report(found->mark, fmt::format("a variant cannot change '{}'", key),
                            "it changes platform, workload, training and collective");
    }
    take(variant.value, "name");
    take(variant.value, "variants");
    take(variant.value, "expect");
    return true;
}

/// `--set` values by what they change: the scenario as a whole, before any variant is made, or every variant.
struct Assignments {
    std::vector<Node> to_scenario;
    std::vector<Node> to_all;
};

Assignments parse(Assembly& assembly, const std::vector<std::string>& texts) {
    Assignments result;
    for (const std::string& text : texts) {
        assembly.attempt([&] {
            Node node = parse_assignment(assembly.library, text);
            const bool whole = node.find("variants") || node.find("expect");
            (whole ? result.to_scenario : result.to_all).push_back(std::move(node));
        });
    }
    return result;
}

Location place_of(const Node& mapping, std::string_view key) {
    const auto found = std::find_if(mapping.entries.begin(), mapping.entries.end(),
                                    [&](const Entry& entry) { return entry.key == key; });
    return locate(found == mapping.entries.end() ? mapping.mark : found->mark);
}

void merge_expanded(Assembly& assembly, Node& base, const Node& changes) {
    drop_alternatives(base, changes);
    merge(base, changes);
    assembly.expand_references(base);
}

/// The variant, or each of its choices.
void add_variants(Scenario& scenario, Variant variant, GridChoices choices) {
    for (const std::string& why : choices.left_out) scenario.left_out.push_back(variant.name + " " + why);
    if (choices.fitting.empty()) return scenario.variants.push_back(std::move(variant));
    for (GridChoice& choice : choices.fitting) {
        Variant chosen = variant;
        chosen.name = fmt::format("{} {}x{}", variant.name, choice.rows, choice.columns);
        chosen.choice_of = variant.name;
        chosen.plan = std::move(choice.plan);
        scenario.variants.push_back(std::move(chosen));
    }
}

}  // namespace

void describe(Fields& fields, Scenario& scenario) {
    Variant base;
    GridChoices choices;
    describe_variant(fields, scenario.name, base, choices, {});
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& assignments, const Inspect& inspect) {
    Assembly assembly;
    Node base = assembly.library.load_argument(path);
    const Assignments changes = parse(assembly, assignments);
    Scenario scenario;
    if (base.kind != Node::Kind::mapping) {
        assembly.read(base, "scenario", [&](Fields& fields) { describe(fields, scenario); });
        assembly.finish();
    }
    assembly.attempt([&] { split_paths(base); });
    for (const Node& change : changes.to_scenario) merge(base, change);
    Node variants = take(base, "variants");
    const Node expectations = take(base, "expect");
    assembly.expand_references(base);

    if (variants.kind != Node::Kind::null && variants.kind != Node::Kind::mapping)
        assembly.report(variants.mark, "'variants' is not a mapping", "it maps a name to the keys that differ");
    if (variants.entries.empty()) {
        Node unchanged;
        unchanged.kind = Node::Kind::mapping;
        variants.entries.push_back({"base", base.mark, unchanged});
    }

    for (Entry& entry : variants.entries) {
        if (!prepare(assembly, entry)) continue;
        Node document = base;
        merge_expanded(assembly, document, entry.value);
        for (const Node& change : changes.to_all) merge_expanded(assembly, document, change);
        Variant variant;
        variant.name = entry.key;
        variant.training = place_of(document, "training");
        scenario.name = std::filesystem::path(path).stem().string();
        GridChoices choices;
        assembly.read(document, "scenario",
                      [&](Fields& fields) { describe_variant(fields, scenario.name, variant, choices, inspect); });
        if (!scenario.variants.empty() && variant.collective.has_value() != scenario.variants[0].collective.has_value())
            assembly.report(entry.mark,
                            fmt::format("variant '{}' trains where others are exchanges alone, or the other "
                                        "way round",
                                        entry.key),
                            "compare like with like: one scenario for each");
        add_variants(scenario, std::move(variant), std::move(choices));
    }
    read_expectations(assembly, expectations, !assignments.empty(), scenario);
    assembly.finish();
    return scenario;
}

}  // namespace syncline::config
