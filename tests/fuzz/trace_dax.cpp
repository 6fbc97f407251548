#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_dax(std::string_view input) {
    trace("dax", input, 2);
}
