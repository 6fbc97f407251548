#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sim/collective/algorithm.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/exchange.hpp"
#include "sim/config/files.hpp"
#include "sim/config/override.hpp"

namespace syncline::config {

namespace {

/// Which algorithms there are depends on the operation.
std::vector<std::string> algorithms_of(const std::string& operation) {
    std::vector<std::string> names = algorithm_names(operation);
    if (operation == "allreduce") names.push_back(served_allreduce);
    return names;
}

std::vector<std::pair<std::string, std::string>> same(const std::vector<std::string>& words) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& word : words) pairs.emplace_back(word, word);
    return pairs;
}

void describe(Fields& fields, CollectiveQuestion& question, const Inspect& inspect) {
    CollectivePlan& plan = question.plan;
    AlgorithmSpec& algorithm = plan.algorithm;
    fields.section({"platform", "The cluster.", true},
                   [&](Fields& inner) { describe(inner, question.cluster, inspect); });
    fields.integer({"ranks", "How many take part.", true}, plan.ranks, 1, largest_group);
    describe(fields, plan.placement);
    fields.one_of({"operation", "What is done with the buffers."}, algorithm.operation, same(operation_names()));
    algorithm.name = algorithms_of(algorithm.operation).front();
    fields.one_of({"algorithm", "How."}, algorithm.name, same(algorithms_of(algorithm.operation)));
    describe_algorithm(fields, algorithm);
    fields.integer({"servers", "Of a parameter server: how many, on nodes of their own."}, plan.servers, 1,
                   largest_group);
    double bytes = 0;
    fields.quantity({"bytes", "Of the whole buffer, the same on every rank.", true}, bytes, Dimension::bytes,
                    {.zero = true, .most = 1e15});
    if (bytes != std::floor(bytes)) fields.reject("bytes", "'bytes' is not a whole number of bytes", "");
    plan.bytes = static_cast<std::uint64_t>(bytes);
    if (!fields.sound()) return;
    if (fields.given("servers") && !plan.served())
        fields.reject("servers", fmt::format("'{}' has no servers", algorithm.name),
                      "`--algorithm parameter-server` has");
    check_placement(fields, question.cluster, plan.placement, plan.ranks);
    if (plan.served()) {
        check_no_algorithm(fields);
        require_connections(fields, "servers", plan.ranks, plan.servers);
    } else {
        check_algorithm(fields, algorithm, plan.ranks, plan.bytes);
    }
    if (!fields.sound()) return;
    require_nodes(fields, "ranks", question.cluster, plan.placement, plan.ranks, plan.served() ? plan.servers : 0);
    require_countable(fields, "bytes", bytes, plan.ranks, algorithm.operation == "neighbour-exchange");
}

/// An option as a document's entry, whose place is the option as it was typed.
Entry entry(Assembly& assembly, const Argument& argument) {
    const std::string option = "--" + argument.key;
    const std::string text = option + " " + argument.value;
    if (argument.value.starts_with('[') || argument.value.starts_with('{')) {
        Node value;
        assembly.attempt([&] { value = assembly.library.parse(option, text, "", option.size() + 1); });
        return {argument.key, value.mark, std::move(value)};
    }
    const Mark start = assembly.library.cite(option, text, "");
    Node value;
    value.kind = Node::Kind::scalar;
    value.mark = {start.source, 1, static_cast<int>(option.size()) + 2};
    value.scalar = argument.value;
    return {argument.key, start, std::move(value)};
}

/// A key of the platform's that has an option of its own.
void replace_in_platform(Node& document, Entry option) {
    Node* platform = document.find("platform");
    if (!platform || platform->kind != Node::Kind::mapping) return;  // which is an error, and said to be one
    std::erase_if(platform->entries, [&](const Entry& entry) { return entry.key == option.key; });
    platform->entries.push_back(std::move(option));
}

}  // namespace

CollectiveQuestion load_collective(const std::vector<Argument>& arguments, const std::vector<std::string>& assignments,
                                   const Inspect& inspect) {
    Assembly assembly;
    Node document;
    document.kind = Node::Kind::mapping;
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
        assembly.attempt([&] {
            merge(document, parse_assignment(assembly.library, text));
            assembly.expand_references(document);
        });
    }
    CollectiveQuestion question;
    assembly.read(document, "collective", [&](Fields& fields) { describe(fields, question, inspect); });
    assembly.finish();
    return question;
}

}  // namespace syncline::config
