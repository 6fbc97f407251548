#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_chakra_json(std::string_view input) {
    trace("chakra-json", input, 2);
}
