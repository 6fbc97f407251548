#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_htsim(std::string_view input) {
    import_as("tree.topo", input);
}
