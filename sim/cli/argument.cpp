#include "sim/cli/verbs.hpp"

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

void add_variant(CLI::App& verb, std::vector<std::string>& names) {
    verb.add_option("--variant", names, "Only this variant of the scenario; may be repeated (default: all)")
        ->option_text("NAME ...")
        ->allow_extra_args(false);
}

}  // namespace syncline::cli
