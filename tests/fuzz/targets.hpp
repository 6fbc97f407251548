#pragma once

#include <string_view>

/// Functions that read what strangers write, one per kind of input. None of them simulates.
///
/// Errors of the user are expected. Anything else that is thrown, and every report of a sanitizer, is a bug. libFuzzer
/// calls them with inputs of its own (entry.cpp), and tests/unit/check/fuzz_regressions_test.cpp with those that were
/// bugs.
namespace syncline::fuzz {

using Target = void(std::string_view input);

Target dot, graphml, measured, result_texts, results, scenario, selection, simgrid_xml, study, topology, where;
Target import_astra, import_htsim, import_ibnetdiscover, import_json, import_log, import_lstopo, import_nccl,
    import_ns3, import_options, import_toml, import_topo;
Target trace_astra_text, trace_chakra, trace_chakra_json, trace_dax, trace_dot, trace_goal, trace_kineto,
    trace_simgrid_ti, trace_wfformat;

}  // namespace syncline::fuzz
