#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_chakra(std::string_view input) {
    trace("chakra", input, 2);
}
