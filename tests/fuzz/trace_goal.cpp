#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_goal(std::string_view input) {
    trace("goal", input, 0);
}
