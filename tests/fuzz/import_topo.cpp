#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_topo(std::string_view input) {
    import_as("topo.txt", input, "topo");
}
