#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/trace.hpp"

void syncline::fuzz::trace_astra_text(std::string_view input) {
    trace("astra-text", input, 4);
}
