#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_astra(std::string_view input) {
    import_as("network.yml", input);
}
