#include "sim/config/scenario.hpp"
#include "sim/check/check.hpp"
#include "sim/output/expected_fields.hpp"
#include "tests/fuzz/reading.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::scenario(std::string_view input) {
    reading([&] {
        const std::string file = file_with("scenario.yaml", input);
        if (config::check_file(file) != "scenario") return;
        const config::Scenario read = config::load_scenario(file, {});
        require_fields(read.expectations, read.variants.front().collective.has_value());
    });
}
