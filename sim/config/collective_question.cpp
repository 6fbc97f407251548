#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/collective/algorithm.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/keys.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/override.hpp"
#include "sim/lowering/feasibility.hpp"
#include "sim/lowering/rules.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline::config {

namespace {

/// Returns the mapping for `--sweep bytes=4B..512MB` or `--sweep bytes=1MB,2MB`.
Node sweep_of(Assembly& assembly, const std::string& value, const Mark& start, std::size_t at) {
    const auto mark = [&](std::size_t offset) { return Mark{start.source, 1, static_cast<int>(at + offset) + 1}; };
    const auto part = [&](std::size_t from, std::size_t to) {
        return scalar_at(mark(from), value.substr(from, to - from));
    };
    const std::size_t equals = value.find('=');
    const bool named = equals != std::string::npos;
    const std::size_t begin = named ? equals + 1 : 0;
    if (!named)
        assembly.report(mark(0), fmt::format("'{}' does not name the key to sweep", value),
                        "write for example --sweep bytes=4B..512MiB");
    Node sizes = part(begin, value.size());
    if (value.find(',') != std::string::npos) {
        sizes = empty_at(mark(begin), Node::Kind::sequence);
        for (std::size_t from = begin; from <= value.size();) {
            const std::size_t to = std::min(value.find(',', from), value.size());
            sizes.items.push_back(part(from, to));
            from = to + 1;
        }
    }
    return mapping_at(mark(0), {{named ? value.substr(0, equals) : "bytes", mark(0), std::move(sizes)}});
}

/// Returns an option as an entry of a document; its location is the option as typed.
Entry entry(Assembly& assembly, const Argument& argument) {
    const std::string option = "--" + argument.key;
    const std::string text = option + " " + argument.value;
    if (argument.value.starts_with('[') || argument.value.starts_with('{')) {
        Node value;
        assembly.attempt([&] { value = assembly.library.parse(option, text, "", option.size() + 1); });
        return {argument.key, value.mark, std::move(value)};
    }
    if (argument.key == "sweep") {
        const Mark start = assembly.library.cite(option, text, "");
        return {argument.key, start, sweep_of(assembly, argument.value, start, option.size() + 1)};
    }
    return option_entry(assembly.library, argument);
}

/// Replaces a key of the platform for which there is an option.
void replace_in_platform(Node& document, Entry option) {
    Node* platform = document.find("platform");
    if (!platform || platform->kind != Node::Kind::mapping) return;  // an error, which reading it reports
    std::erase_if(platform->entries, [&](const Entry& entry) { return entry.key == option.key; });
    platform->entries.push_back(std::move(option));
}

/// Returns the algorithms of all exchanges, each once.
std::vector<std::string> all_exchange_algorithms() {
    std::vector<std::string> names;
    for (const std::string& operation : exchange_operations())
        for (const std::string& name : exchange_algorithms(operation))
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

}  // namespace

void describe(Fields& fields, CollectivePlan& plan) {
    AlgorithmSpec& algorithm = plan.algorithm;
    // Before any of these keys is read, only a schema is not sound, or `syncline collective` after a wrong `platform`.
    const bool schema = !fields.sound() && !fields.given("platform");
    fields.integer({"ranks", "Number of ranks that take part.", true}, plan.ranks, 1, largest_group);
    describe(fields, plan.placement);
    fields.one_of({"operation", "Collective operation."}, algorithm.operation, exchange_operations());
    std::vector<std::string> algorithms = exchange_algorithms(algorithm.operation);
    algorithm.name = algorithms.front();
    if (schema) algorithms = all_exchange_algorithms();  // of all operations
    fields.one_of({"algorithm", "Algorithm that carries out the operation. Default: the operation's first one."},
                  algorithm.name, algorithms);
    algorithm.named = fields.given("algorithm");
    describe_algorithm(fields, algorithm);
    describe_schedule(fields, algorithm);
    std::int64_t round = plan.round;
    fields.integer({"round",
                    "Round of gossip to simulate, counted from 0, if peers change between rounds. Default: the mean "
                    "over all rounds."},
                   round, 0, std::numeric_limits<std::int32_t>::max());
    plan.round = static_cast<std::int32_t>(round);
    const auto subset = [&](Key key, std::uint32_t& members) {
        std::int64_t number = members;
        fields.integer(key, number, 1, largest_group);
        members = static_cast<std::uint32_t>(number);
    };
    subset({"contributors",
            "Number of ranks, the first ones, that contribute data. Applies to allgather and allreduce. Default: all "
            "ranks."},
           algorithm.contributors);
    subset({"receivers",
            "Number of ranks, the first ones, that receive the result. Applies to allgather and allreduce. Default: "
            "all ranks."},
           algorithm.receivers);
    describe_selection(fields, plan.selection);
    describe_channels(fields, plan.channels);
    fields.integer(
        {"servers",
         "Number of parameter servers, each on its own node, with a slice of the buffer. Applies to parameter-server."},
        plan.servers, 1, largest_group);
    describe(fields, plan.fidelity);
    const bool none = algorithm.operation == "barrier";
    double bytes = 0;
    fields.quantity({"bytes", "Size of the whole buffer, the same on every rank: `100 MB`. None for a barrier.", false,
                     false, none ? nullptr : "sweep"},
                    bytes, Dimension::bytes, {.zero = true, .most = 1e15});
    plan.bytes = static_cast<std::uint64_t>(bytes);
    fields.section(
        {"sweep", "Sweep over several sizes of the same exchange, one after the other; replaces `bytes`."},
        [&](Fields& inner) {
            inner.sizes({"bytes",
                         "Sizes: a list, or a range with factor 2 or another factor: `4B..512MiB`, `4B..1MB*4`.", true},
                        plan.sweep);
        });
    if (bytes != std::floor(bytes)) fields.reject("bytes", "'bytes' is not a whole number of bytes", "");
    if (!fields.sound()) return;
    OpenPlan open;
    open.written = written_keys(fields);
    report(fields, broken_rules(plan, open));
    if (fields.given("servers") && !plan.served())
        fields.reject("servers",
                      fmt::format("'{}' uses no servers", plan.selection ? plan.selection->name : algorithm.name),
                      "`--algorithm parameter-server` uses them");
}

CollectiveQuestion load_collective(const std::vector<Argument>& arguments, const std::vector<std::string>& assignments,
                                   const Inspect& inspect) {
    Assembly assembly;
    Node document = mapping_at({});
    std::optional<Entry> transport;
    for (const Argument& argument : arguments) {
        Entry option = entry(assembly, argument);
        if (argument.key == "transport")
            transport = std::move(option);
        else
            document.entries.push_back(std::move(option));
    }
    if (!document.entries.empty()) document.mark = document.entries.front().mark;
    assembly.expand_references(document);
    if (transport) {
        replace_in_platform(document, std::move(*transport));
        assembly.expand_references(document);
    }
    for (const std::string& text : assignments) {
        assembly.attempt([&] { change(assembly, document, parse_assignment(assembly.library, text)); });
    }
    CollectiveQuestion question;
    assembly.read(document, "collective", [&](Fields& fields) {
        fields.section({"platform", "Cluster on which the exchange runs.", true},
                       [&](Fields& inner) { describe(inner, question.cluster, inspect); });
        describe(fields, question.plan);
        if (!fields.sound()) return;
        report(fields, judge(question.cluster, question.plan));
        give_nodes(question.cluster, question.plan.placement, question.plan.ranks, question.plan.server_nodes());
    });
    assembly.finish();
    return question;
}

}  // namespace syncline::config
