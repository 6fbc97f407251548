#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_wfformat(std::string_view input) {
    trace("wfformat", input, 2);
}
