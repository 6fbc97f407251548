#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_lstopo(std::string_view input) {
    import_as("lstopo.xml", input, "lstopo");
}
