#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "tests/catch.hpp"
#include "tests/fuzz/targets.hpp"

// Inputs with which libFuzzer found a bug: tests/fuzz/crashers/TARGET/NAME.

using namespace syncline;
namespace fs = std::filesystem;

TEST_CASE("inputs that scripts/fuzz found bugs with are read or refused") {
    const std::map<std::string, std::function<fuzz::Target>> targets{
        {"dot", fuzz::dot},
        {"graphml", fuzz::graphml},
        {"import_astra", fuzz::import_astra},
        {"import_htsim", fuzz::import_htsim},
        {"import_ibnetdiscover", fuzz::import_ibnetdiscover},
        {"import_json", fuzz::import_json},
        {"import_lstopo", fuzz::import_lstopo},
        {"import_nccl", fuzz::import_nccl},
        {"import_ns3", fuzz::import_ns3},
        {"import_log", fuzz::import_log},
        {"import_options", fuzz::import_options},
        {"import_toml", fuzz::import_toml},
        {"import_topo", fuzz::import_topo},
        {"measured", fuzz::measured},
        {"result_texts", fuzz::result_texts},
        {"results", fuzz::results},
        {"scenario", fuzz::scenario},
        {"selection", fuzz::selection},
        {"simgrid_xml", fuzz::simgrid_xml},
        {"study", fuzz::study},
        {"topology", fuzz::topology},
        {"trace_astra_text", fuzz::trace_astra_text},
        {"trace_chakra", fuzz::trace_chakra},
        {"trace_chakra_json", fuzz::trace_chakra_json},
        {"trace_dax", fuzz::trace_dax},
        {"trace_dot", fuzz::trace_dot},
        {"trace_goal", fuzz::trace_goal},
        {"trace_kineto", fuzz::trace_kineto},
        {"trace_simgrid_ti", fuzz::trace_simgrid_ti},
        {"trace_wfformat", fuzz::trace_wfformat},
        {"where", fuzz::where},
    };
    const fs::path crashers = fs::path(SYNCLINE_SOURCE_DIR) / "tests/fuzz/crashers";
    int inputs = 0;
    for (const auto& entry : fs::recursive_directory_iterator(crashers)) {
        if (!entry.is_regular_file()) continue;
        CAPTURE(entry.path().string());
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string input(std::istreambuf_iterator<char>(file), {});
        CHECK_NOTHROW(targets.at(entry.path().parent_path().filename().string())(input));
        ++inputs;
    }
    CHECK(inputs > 0);
}
