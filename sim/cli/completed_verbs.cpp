#include <fmt/format.h>

#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "sim/check/check.hpp"
#include "sim/cli/completion.hpp"
#include "sim/cli/help.hpp"

namespace syncline::cli {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

/// Returns the words that an option can be: those of its key, or of its placeholder, as in `x|y|xy`.
std::vector<std::string> words_of(const CLI::Option& option) {
    if (const std::optional<Key> key = key_of(option)) return config::words_of(key->kind, key->path);
    const std::string& shown = option.get_option_text();
    if (std::regex_match(shown, std::regex("[a-z-]+(\\|[a-z-]+)+"))) return split(shown, '|');
    return {};
}

/// Stands for all kinds of files.
constexpr const char* any_kind = "any";

/// Returns the kinds of presets that a description names by their folders: "the name of one in platforms/devices/".
std::vector<std::string> kinds_in(const std::string& description) {
    static const std::regex folder("\\b(?:in|or) (?:[a-z]+/)*([a-z]+)/(?![a-z])");
    if (description.starts_with("Name of a preset")) return {any_kind};
    std::vector<std::string> kinds;
    for (std::sregex_iterator at(description.begin(), description.end(), folder), end; at != end; ++at)
        kinds.push_back((*at)[1]);
    return kinds;
}

/// Returns "files", "directories" or nothing.
std::string paths_of(const CLI::Option& option, const std::string& description) {
    static const std::regex file("FILE|[Ff]iles?\\b"), directory("DIR");
    const std::string shown =
        option.get_positional() ? option.get_name(true) + " " + description : option.get_option_text();
    if (std::regex_search(shown, file)) return "files";
    return std::regex_search(shown, directory) ? "directories" : "";
}

/// Returns the list of `syncline list` that has the values of an option, other than presets; nothing if there is none.
std::string list_of(const std::string& verb, const CLI::Option& option) {
    static const std::set<std::string> of_results{"run", "collective", "results", "plot"};
    static const std::set<std::string> of_columns{"columns", "sort", "group", "x", "y", "series", "facet"};
    const std::string name = option.get_lnames().empty() ? "" : option.get_lnames().front();
    if (option.get_option_text().starts_with("KEY.PATH=")) return "keys";
    if (name == "variant") return "variants";
    if (name == "what-if") return "what-ifs";
    return of_results.contains(verb) && of_columns.contains(name) ? "columns" : "";
}

Offer offer_of(const std::string& verb, const CLI::Option& option) {
    if (const std::string list = list_of(verb, option); !list.empty()) return {{}, {list}, {}};
    if (const std::vector<std::string> words = words_of(option); !words.empty()) return {words, {}, {}};
    const std::string description = description_of(option);
    return {{}, kinds_in(description), paths_of(option, description)};
}

/// Returns the first phrase of a description.
std::string in_short(const std::string& description) {
    static const std::regex phrase("^((?:`[^`]*`|[^`])*?)(?:\\. (?=[A-Z])|: |; | \\(|, for example|$)");
    std::smatch found;
    return std::regex_search(description, found, phrase) ? found.str(1) : description;
}

void add_verb(const CLI::App& app, const std::string& path, std::vector<CompletedVerb>& verbs) {
    CompletedVerb verb{path, in_short(app.get_description()), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional()) {
            verb.arguments = offer_of(path, *option);
            continue;
        }
        CompletedOption completed{{}, in_short(description_of(*option)), option->get_items_expected_max() > 0, {}};
        for (const std::string& name : option->get_lnames()) completed.names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) completed.names.push_back("-" + name);
        if (completed.takes_value) completed.values = offer_of(path, *option);
        verb.options.push_back(std::move(completed));
    }
    const std::vector<const CLI::App*> inner = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* one : inner) verb.arguments.words.push_back(one->get_name());
    verbs.push_back(std::move(verb));
    for (const CLI::App* one : inner)
        add_verb(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), verbs);
}

}  // namespace

std::vector<CompletedVerb> completed_verbs(const CLI::App& program) {
    std::vector<CompletedVerb> verbs;
    add_verb(program, "", verbs);
    // `where` takes a name of any kind of file.
    std::set<std::string> kinds;
    const auto collect = [&kinds](const Offer& offer) {
        if (offer.paths == "files") kinds.insert(offer.kinds.begin(), offer.kinds.end());
    };
    for (const CompletedVerb& verb : verbs) {
        collect(verb.arguments);
        for (const CompletedOption& option : verb.options) collect(option.values);
    }
    kinds.erase(any_kind);
    for (CompletedVerb& verb : verbs)
        if (verb.arguments.kinds == std::vector<std::string>{any_kind})
            verb.arguments.kinds.assign(kinds.begin(), kinds.end());
    // `help VERB` is none of CLI11's.
    verbs.push_back({"help", "Describe a verb and its options", {}, verbs.front().arguments});
    verbs.front().arguments.words.emplace_back("help");
    return verbs;
}

std::string offer_arguments(const Offer& offer) {
    return fmt::format("'{}' '{}' '{}'", fmt::join(offer.words, " "), fmt::join(offer.kinds, " "), offer.paths);
}

}  // namespace syncline::cli
