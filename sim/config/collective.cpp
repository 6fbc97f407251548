#include <fmt/format.h>

#include <cmath>

#include "sim/collective/algorithm.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/files.hpp"
#include "sim/config/override.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t largest_group = 1 << 20;
const std::string parameter_server = "parameter-server";

std::vector<std::pair<std::string, std::string>> same(const std::vector<std::string>& words) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& word : words) pairs.emplace_back(word, word);
    return pairs;
}

void describe(Fields& fields, CollectiveQuestion& question) {
    std::vector<std::string> algorithms = algorithm_names();
    algorithms.push_back(parameter_server);
    fields.section({"platform", "The cluster.", true}, [&](Fields& inner) { describe(inner, question.cluster); });
    fields.integer({"ranks", "How many take part.", true}, question.ranks, 1, largest_group);
    fields.one_of({"operation", "What is done with the buffers."}, question.operation, same({"allreduce"}));
    fields.one_of({"algorithm", "How."}, question.algorithm, same(algorithms));
    fields.integer({"servers", "Of a parameter server: how many, on nodes of their own."}, question.servers, 1,
                   largest_group);
    fields.quantity({"bytes", "Of the whole buffer, the same on every rank.", true}, question.bytes, Dimension::bytes,
                    {.zero = true, .most = 1e15});
    if (question.bytes != std::floor(question.bytes))
        fields.reject("bytes", "'bytes' is not a whole number of bytes", "");
    const bool served = question.algorithm == parameter_server;
    if (!fields.sound()) return;
    if (fields.given("servers") && !served)
        fields.reject("servers", fmt::format("'{}' has no servers", question.algorithm),
                      "`--algorithm parameter-server` has");
    require_nodes(fields, "ranks", question.cluster, question.ranks, served ? question.servers : 0);
    require_countable(fields, "bytes", question.bytes, question.ranks);
    if (served) require_connections(fields, "servers", question.ranks, question.servers);
}

/// An option as a document's entry, whose place is the option as it was typed.
Entry entry(Assembly& assembly, const Argument& argument) {
    const std::string option = "--" + argument.key;
    const Mark start = assembly.library.cite(option, option + " " + argument.value, "");
    Node value;
    value.kind = Node::Kind::scalar;
    value.mark = {start.source, 1, static_cast<int>(option.size()) + 2};
    value.scalar = argument.value;
    return {argument.key, start, std::move(value)};
}

}  // namespace

CollectiveQuestion load_collective(const std::vector<Argument>& arguments,
                                   const std::vector<std::string>& assignments) {
    Assembly assembly;
    Node document;
    document.kind = Node::Kind::mapping;
    for (const Argument& argument : arguments) document.entries.push_back(entry(assembly, argument));
    if (!document.entries.empty()) document.mark = document.entries.front().mark;
    assembly.expand_references(document);
    for (const std::string& text : assignments) {
        assembly.attempt([&] {
            merge(document, parse_assignment(assembly.library, text));
            assembly.expand_references(document);
        });
    }
    CollectiveQuestion question;
    assembly.read(document, "collective", [&](Fields& fields) { describe(fields, question); });
    assembly.finish();
    return question;
}

}  // namespace syncline::config
