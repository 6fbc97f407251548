#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_simgrid_ti(std::string_view input) {
    trace("simgrid-ti", input, 0);
}
