#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_nccl(std::string_view input) {
    import_as("nccl.xml", input, "nccl");
}
