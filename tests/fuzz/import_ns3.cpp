#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_ns3(std::string_view input) {
    import_as("topology.txt", input);
}
