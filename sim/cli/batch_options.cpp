#include "sim/cli/batch_options.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/base/units.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/work_check.hpp"
#include "sim/process/pool.hpp"

namespace syncline::cli {

namespace {

std::string check_time(const std::string& text) {
    const Quantity time = parse_quantity(text, Dimension::seconds);
    if (!time.value) return fmt::format("'{}': {}; {}", text, time.error, time.hint);
    return *time.value > 0 ? "" : fmt::format("'{}' is not a positive time", text);
}

}  // namespace

CLI::Option* add_jobs(CLI::App& verb, std::size_t& jobs) {
    jobs = default_jobs();
    return verb.add_option("--jobs", jobs, "Number of parallel simulations (default: number of cores)")
        ->option_text("N")
        ->check(whole_number(1, 4096));
}

void add_batch_options(CLI::App& verb, batch::BatchOptions& options) {
    add_jobs(verb, options.jobs);
    verb.add_option_function<std::string>(
            "--timeout",
            [&options](const std::string& text) { options.timeout_s = parse_quantity(text, Dimension::seconds).value; },
            "Kill a simulation after this time and record it as failed, for example '60 s'")
        ->option_text("TIME")
        ->check(check_time);
    verb.add_flag("--retry-failed", options.retry_failed, "Run failed points again");
    add_force(verb, options.force);
}

}  // namespace syncline::cli
