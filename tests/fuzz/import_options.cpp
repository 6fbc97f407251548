#include "sim/config/import_question.hpp"
#include "tests/fuzz/reading.hpp"
#include "tests/fuzz/targets.hpp"

void syncline::fuzz::import_options(std::string_view input) {
    const std::string file = file_with("launch.sh", input);
    reading([&] { config::import_files({.files = {file}}); });
    // A plan needs what its file does not say.
    reading([&] {
        config::import_files(
            {.files = {file},
             .assignments = {"platform=dgx-h100", "workload=gpt-2", "training.ranks=8", "training.batch=8"}});
    });
}
