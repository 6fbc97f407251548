#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_options(std::string_view input) {
    import_as("launch.sh", input);
}
