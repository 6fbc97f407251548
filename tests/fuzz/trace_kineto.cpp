#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_kineto(std::string_view input) {
    trace("kineto", input, 2);
}
