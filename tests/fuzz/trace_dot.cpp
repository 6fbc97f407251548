#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_dot(std::string_view input) {
    trace("dot", input, 2);
}
