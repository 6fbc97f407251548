#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_json(std::string_view input) {
    import_as("config.json", input);
}
