#include "sim/config/plan_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/config/assembly.hpp"
#include "sim/config/resolved.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/import/foreign.hpp"
#include "sim/workload/sample_tokens.hpp"

namespace syncline::config {

namespace {

/// Returns the samples of PlanQuestion::usual_tokens, rounded up to a power of two.
std::int64_t usual_batch(double tokens_of_sample) {
    std::int64_t batch = 1;
    while (static_cast<double>(batch) * tokens_of_sample < PlanQuestion::usual_tokens) batch *= 2;
    return batch;
}

/// What a launch file says besides the model.
struct Launched {
    std::optional<Node> batch;
    std::optional<Given> sequence;
};

Launched launched_by(Library& library, const Node& model) {
    if (!is_foreign_name(model.scalar)) return {};
    Imported imported;
    read_foreign(library, model, "", imported);
    const Node* const batch = imported.training.find("batch");
    return {batch ? std::optional(*batch) : std::nullopt, imported.sequence};
}

}  // namespace

PlanQuestion load_plan_question(const std::string& model, const std::vector<Argument>& arguments,
                                const std::vector<std::string>& assignments, const Inspect& inspect) {
    Assembly assembly;
    Node document = assembly.library.parse(
        "plan", "{training: {optimizer: adam, iterations: 1, fidelity: auto, parallelism: {auto: true}}}", "");
    const Node workload = assembly.library.argument(model);
    document.entries.push_back({"workload", workload.mark, workload});
    PlanQuestion question;
    question.usual_batch = true;
    std::vector<Entry> of_training, of_platform;
    for (const Argument& argument : arguments) {
        Entry option = option_entry(assembly.library, argument);
        if (argument.key == "platform") {
            document.entries.push_back(std::move(option));
        } else if (argument.key == "price") {
            option.key = "price_per_hour";
            Node nodes = mapping_at(option.mark, {option});
            of_platform.push_back({"per_node", option.mark, std::move(nodes)});
        } else if (argument.key == "tokens" || argument.key == "samples") {
            const auto run = std::ranges::find(of_training, "run", &Entry::key);
            if (run != of_training.end()) {
                run->value.entries.push_back(std::move(option));
                continue;
            }
            Node length = mapping_at(option.mark, {option});
            of_training.push_back({"run", option.mark, std::move(length)});
        } else {
            question.usual_batch = question.usual_batch && argument.key != "batch";
            of_training.push_back(std::move(option));
        }
    }
    Node& training = *document.find("training");
    for (Entry& entry : of_training) training.entries.push_back(std::move(entry));
    const Launched launched = launched_by(assembly.library, workload);
    if (question.usual_batch && launched.batch) {
        training.entries.push_back({"batch", launched.batch->mark, *launched.batch});
        question.usual_batch = false;
        question.batch_from = workload.scalar;
    }
    if (question.usual_batch)  // until the model is known, one sample for each rank
        if (const Entry* ranks = training.entry("ranks"))
            training.entries.push_back({"batch", ranks->mark, Node(ranks->value)});
    assembly.expand_references(document);
    if (Node* const length = launched.sequence ? document.find("workload")->find("sequence") : nullptr;
        length && length->scalar != std::to_string(launched.sequence->value)) {
        *length = scalar_at(launched.sequence->mark, std::to_string(launched.sequence->value));
        take(*document.find("workload"), "published");  // totals of another length
    }
    for (Entry& entry : of_platform) {
        const Mark mark = entry.mark;
        change(assembly, document, mapping_at(mark, {{"platform", mark, mapping_at(mark, {std::move(entry)})}}));
    }
    for (const std::string& text : assignments)
        assembly.attempt([&] { change(assembly, document, parse_assignment(assembly.library, text)); });
    GridChoices choices;
    std::string name;
    question.variant = read_variant(assembly, document, "plan", name, choices, inspect);
    assembly.finish();
    question.variant.resolved = resolve(document, assembly.other_files()).text();
    if (!question.usual_batch) return question;
    const std::optional<double> tokens = tokens_per_sample(question.variant.model);
    if (!tokens)
        throw ConfigError({{locate(workload.mark),
                            fmt::format("'{}' has no tokens, and so no usual batch", question.variant.model.name),
                            "write --batch, the samples of an iteration of all ranks together"}});
    question.variant.open.batch = usual_batch(*tokens);
    return question;
}

}  // namespace syncline::config
