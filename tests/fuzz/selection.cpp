#include "sim/check/check.hpp"
#include "tests/fuzz/reading.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::selection(std::string_view input) {
    reading([&] { config::check_file(file_with("selection.yaml", input)); });
}
