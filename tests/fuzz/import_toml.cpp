#include "tests/fuzz/foreign.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_toml(std::string_view input) {
    import_as("train.toml", input);
}
