#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "sim/base/number.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"

// Options that several verbs have.

namespace syncline::cli {

CLI::Option* add_argument(CLI::App& verb, const std::string& key, const std::string& shown,
                          const std::string& description, std::vector<config::Argument>& arguments) {
    return verb
        .add_option_function<std::string>(
            "--" + key,
            [&arguments, key](const std::string& value) {
                arguments.push_back({key, value});
            },
            description)
        ->option_text(shown);
}

CLI::Option* add_repeated(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                          const std::string& shown, const std::string& description) {
    return verb.add_option(name, values, description)->option_text(shown + " ...")->allow_extra_args(false);
}

void add_set(CLI::App& verb, std::vector<std::string>& assignments, const std::string& description) {
    add_repeated(verb, "--set", assignments, "KEY.PATH=VALUE", description);
}

void add_variant(CLI::App& verb, std::vector<std::string>& names) {
    add_repeated(verb, "--variant", names, "NAME", "Only this variant of the scenario; may be repeated (default: all)");
}

void add_format(CLI::App& verb, Format& format) {
    static const std::map<std::string, Format> formats{
        {"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}};
    verb.add_option_function<std::string>(
            "--format", [&format](const std::string& word) { format = formats.at(word); },
            "Output format: table (default), json or csv")
        ->check(one_of({"table", "json", "csv"}))
        ->option_text("table|json|csv");
}

void add_out(CLI::App& verb, std::string& directory, const std::string& description) {
    verb.add_option("--out", directory, description)->option_text("DIR")->check(not_empty);
}

void add_seed(CLI::App& verb, std::uint64_t& seed) {
    verb.add_option("--seed", seed,
                    "Seed of `placement: random`, `schedule: random`, `jitter`, `stragglers`, `documents` and "
                    "`parallelism.experts.imbalance` (default: 1)")
        ->option_text("N")
        ->check([](const std::string& text) {
            return number_in<std::uint64_t>(text) ? "" : "'" + text + "' is not a whole number from 0 to 2^64-1";
        });
}

void refuse_same_file(const std::string& out, const std::string& input) {
    std::error_code error;
    if (!out.empty() && std::filesystem::equivalent(out, input, error))
        throw UsageError(fmt::format("--out {}: this would replace the file that is read\n  hint: name another", out));
}

}  // namespace syncline::cli
