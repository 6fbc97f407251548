#include "sim/cli/typed_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/number.hpp"

namespace syncline::cli {

namespace {

/// Returns the verb of the command line, or the verb within it: `merge` of `results merge`.
const CLI::App& innermost(const CLI::App& program) {
    const std::vector<CLI::App*> verbs = program.get_subcommands();
    return verbs.empty() ? program : innermost(*verbs.front());
}

std::vector<std::string> options_of(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const CLI::Option* option : verb.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
    const std::string shown = fmt::format("{{{}}}", fmt::join(words, ","));  // as CLI::IsMember says it
    return CLI::Validator(
        [words = std::move(words)](const std::string& word) {
            if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
            return fmt::format("'{}' is not {}\n  hint: {}", word, fmt::join(words, ", "),
                               did_you_mean(word, words, "write one of them"));
        },
        shown);
}

std::function<std::string(const std::string&)> whole_number(std::uint64_t least, std::optional<std::uint64_t> most) {
    return [least, most](const std::string& text) {
        const auto number = number_in<std::uint64_t>(text);
        if (number && *number >= least && *number <= most.value_or(*number)) return std::string();
        return fmt::format("'{}' is not a whole number from {}{}", text, least,
                           most ? fmt::format(" to {}", *most) : "");
    };
}

std::string not_empty(const std::string& text) {
    return text.empty() ? "is empty" : "";
}

std::string unexpected(const CLI::App& program) {
    const CLI::App& verb = innermost(program);
    const std::vector<std::string> rest = program.remaining(true);
    const auto option = std::find_if(rest.begin(), rest.end(), [](const std::string& one) { return one[0] == '-'; });
    std::string path = verb.get_name();
    for (const CLI::App* outer = verb.get_parent(); outer != nullptr; outer = outer->get_parent())
        path = outer->get_name() + " " + path;
    const std::string help = fmt::format("`{} --help` lists all options", path);
    if (option == rest.end())
        return fmt::format("error: unexpected argument '{}'\n  hint: {}\n", rest.empty() ? "" : rest.front(), help);
    const std::string name = option->substr(0, option->find('='));
    return fmt::format("error: unknown option '{}'\n  hint: {}\n", name, did_you_mean(name, options_of(verb), help));
}

}  // namespace syncline::cli
