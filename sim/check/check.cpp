#include "sim/check/check.hpp"

#include "sim/config/assembly.hpp"
#include "sim/config/framework_keys.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/override.hpp"
#include "sim/import/foreign.hpp"
#include "sim/measured/measured.hpp"
#include "sim/measured/mechanisms.hpp"
#include "sim/study/study.hpp"
#include "sim/study/study_file.hpp"

namespace syncline::config {

namespace {

/// Reads `node` as the kind of file that its top-level keys indicate, except a scenario, which is more than one
/// document.
std::string read_as(Assembly& assembly, Node& node, const Inspect& inspect) {
    if (node.find("layers")) {
        Model model;
        assembly.read(node, "workload", [&](Fields& fields) { describe(fields, model); });
        return "workload";
    }
    if (node.find("fabric") || node.find("per_node") || node.find("simgrid_xml")) {
        Cluster cluster;
        assembly.expand_platform(node);
        assembly.read(node, "platform", [&](Fields& fields) { describe(fields, cluster, inspect); });
        return "platform";
    }
    if (node.find("flops") || node.find("memory_bandwidth")) {
        Device device;
        assembly.read(node, "device", [&](Fields& fields) { describe(fields, device); });
        return "device";
    }
    if (node.find("topology")) {
        TopologySpec spec;
        assembly.read(node, "topology", [&](Fields& fields) {
            describe(fields, spec);
            if (fields.sound()) build(fields, spec, Use::fabric);
        });
        return "topology";
    }
    if (node.find("rows")) {
        Selection selection;
        assembly.expand_selection(&node);
        assembly.read(node, "selection", [&](Fields& fields) { describe(fields, selection); });
        return "selection";
    }
    for (const char* key : {"send_overhead", "receive_overhead", "inside_node", "host_bandwidth", "staging",
                            "driver_query", "reduction", "launch", "window", "latency", "bandwidth"}) {
        if (!node.find(key)) continue;
        Transport transport;
        if (Node* selection = node.find("selection")) assembly.expand_selection(selection);
        assembly.read(node, "transport", [&](Fields& fields) { describe(fields, transport); });
        return "transport";
    }
    assembly.report(
        node.mark,
        "this is not a scenario, platform, device, transport, workload, topology, selection, ablation or "
        "framework",
        "a scenario has 'training', 'collective' or 'trace', a platform 'fabric', a device 'flops' and "
        "'memory_bandwidth', a transport 'send_overhead', 'staging' or 'launch', a workload 'layers', a "
        "topology 'topology', a selection 'rows', an ablation 'mechanisms', a framework keys of 'training'");
    return "";
}

/// Recognises a scenario by its keys, which may be paths. In other files a path is an unknown key, which reading
/// reports.
bool is_scenario(const Node& node) {
    Node top = node;
    try {
        split_paths(top);
    } catch (const ConfigError&) {
        top = node;
    }
    return top.find("training") || top.find("collective") || top.find("trace") || top.find("jobs") ||
           top.find("variants");
}

}  // namespace

bool is_study_or_scenario(const std::string& path) {
    Assembly assembly;
    const Node node = assembly.load_argument(path);
    return is_study(node) || is_scenario(node);
}

std::string check_file(const std::string& path, const Inspect& inspect) {
    Assembly assembly;
    Node node = assembly.load_argument(path);
    adopt_workload(node);
    if (is_framework(node)) {
        assembly.expand_framework(&node);
        FrameworkFile file;
        assembly.read(node, "framework", [&](Fields& fields) { describe(fields, file); });
        assembly.finish();
        return "framework";
    }
    if (is_study(node)) {
        Study(path, {}, inspect).check();
        return "study";
    }
    if (is_scenario(node)) {
        if (!load_scenario(path, {}, inspect).knobs.empty()) check_knobs(path, inspect);
        if (!is_measured(path)) return "scenario";
        const MeasuredScenario measured({.scenario = path}, inspect);
        return "measured";
    }
    if (node.find("mechanisms")) {
        const Mechanisms mechanisms(path);
        return "ablation";
    }
    std::string kind = read_as(assembly, node, inspect);
    assembly.finish();
    return kind;
}

}  // namespace syncline::config
