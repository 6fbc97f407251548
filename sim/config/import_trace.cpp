#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/config/assembly.hpp"
#include "sim/config/import_question.hpp"
#include "sim/config/imported_text.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/execution/trace_files.hpp"
#include "sim/import/foreign.hpp"

namespace syncline::config {

namespace {

bool is_trace(const std::string& file) {
    return trace_format_of(file).has_value();
}

/// Returns a document with the key `trace`: the files, and what foreign files set.
Node trace_document(Assembly& assembly, Imported& imported, const std::vector<std::string>& files) {
    Node list = empty_at({}, Node::Kind::sequence);
    for (const std::string& file : files) {
        list.items.push_back(scalar_at({}, file));
        list.items.back().quoted = true;
    }
    Node document = parse_assignment(assembly.library, "trace.files=" + flow_text(list));
    // Other formats, and a file for each rank, say how many ranks there are.
    const std::string format = trace_format_of(files.front()).value_or("");
    const bool open = format == "astra-text" || format == "chakra" || format == "chakra-json";
    if (files.size() > 1 || !open) take(imported.trace, "ranks");
    std::ranges::move(imported.trace.entries, std::back_inserter(document.find("trace")->entries));
    if (imported.platform.kind != Node::Kind::null)
        document.entries.push_back({"platform", imported.platform.mark, imported.platform});
    return document;
}

/// Reports what a trace on a platform needs and no file says, and what has no place beside a trace.
void require_trace_parts(Assembly& assembly, const Imported& imported, const Node& document) {
    for (const Node* part : {&imported.workload, &imported.training, &imported.collective, &imported.measured})
        if (part->kind != Node::Kind::null)
            assembly.report(part->mark, "a trace takes the place of a model, a plan and measurements",
                            "import them without the trace");
    const Node* const platform = document.find("platform");
    if (platform == nullptr)
        assembly.report(document.mark, "a trace does not say on which platform it is replayed",
                        "write for example --set platform=dgx-h100; `syncline list platforms` has more");
    else if (platform->kind == Node::Kind::mapping && !platform->find("device") && !platform->find("simgrid_xml"))
        assembly.report(platform->mark, "the files say nothing of the device",
                        "add `--set platform.device=h100-sxm`; ASTRA-sim's system file has one");
    else if (platform->kind == Node::Kind::mapping && !platform->find("fabric") && !platform->find("simgrid_xml"))
        assembly.report(platform->mark, "the files say nothing of the network", "add its file, or `--set platform=…`");
}

}  // namespace

bool asks_for_trace(const ImportQuestion& question) {
    return question.kind.empty() && std::ranges::any_of(question.files, is_trace);
}

ImportAnswer import_trace(const ImportQuestion& question, const Inspect& inspect) {
    Assembly assembly;
    Imported imported;
    std::vector<std::string> traces;
    for (const std::string& file : question.files) {
        if (!is_trace(file)) {
            assembly.attempt([&] { read_foreign(assembly.library, assembly.library.argument(file), "", imported); });
            continue;
        }
        traces.push_back(file);
    }
    assembly.attempt([&] {
        if (!imported.findings.errors.empty()) throw ConfigError(imported.findings.errors);
    });
    assembly.finish();
    Node document = trace_document(assembly, imported, traces);
    for (const std::string& text : question.assignments)
        assembly.attempt([&] { merge(document, parse_assignment(assembly.library, text)); });
    require_trace_parts(assembly, imported, document);
    assembly.finish();
    Node expanded = document;
    assembly.expand_references(expanded);
    std::string name;
    GridChoices choices;
    const Variant variant = read_variant(assembly, expanded, "import", name, choices, inspect);
    assembly.finish();

    ImportAnswer answer;
    answer.kind = "scenario";
    answer.notes = imported.findings.notes;
    const ExecutionTrace& trace = *variant.trace->trace;
    const auto note = [&](const std::string& text) { answer.notes.push_back({{traces.front(), 1, 1, ""}, text, ""}); };
    for (const std::string& text : trace.notes) note(text);
    if (trace.ranks == 1) note("it has one rank; `--set trace.ranks=N` lets N ranks do the same");
    std::vector<Node>& written = document.find("trace")->find("files")->items;
    for (std::size_t i = 0; i < std::min(written.size(), traces.size()); ++i)
        written[i].scalar = question.named(traces[i]);
    name_parts(question, document);
    std::vector<std::string> origins;
    for (const std::string& file : traces)
        origins.push_back(fmt::format("{}: {}", file, trace_format_of(file).value_or("")));
    origins.insert(origins.end(), imported.origins.begin(), imported.origins.end());
    answer.text = imported_text(origins, imported.findings.notes, std::move(document));
    return answer;
}

}  // namespace syncline::config
