#include "sim/cli/batch_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <system_error>

#include "sim/base/units.hpp"
#include "sim/cli/work_check.hpp"
#include "sim/process/pool.hpp"

namespace syncline::cli {

namespace {

std::string check_jobs(const std::string& text) {
    constexpr int most = 4096;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool good = error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most;
    return good ? "" : fmt::format("'{}' is not a whole number from 1 to {}", text, most);
}

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
        ->check(check_jobs);
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
