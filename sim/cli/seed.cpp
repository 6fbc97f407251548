#include <charconv>
#include <system_error>

#include "sim/cli/verbs.hpp"

namespace syncline::cli {

void add_seed(CLI::App& verb, std::uint64_t& seed) {
    verb.add_option("--seed", seed,
                    "Seed of `placement: random`, `schedule: random`, `jitter`, `stragglers` and "
                    "`parallelism.experts.imbalance` (default: 1)")
        ->option_text("N")
        ->check([](const std::string& text) {
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool whole = !text.empty() && error == std::errc() && end == text.data() + text.size();
            return whole ? "" : "'" + text + "' is not a whole number from 0 to 2^64-1";
        });
}

}  // namespace syncline::cli
