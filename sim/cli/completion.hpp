#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/// Completion in shells: the program's table of options, in a form that the scripts for all shells are written from.
namespace syncline::cli {

/// The values of an option, or the arguments of a verb.
struct Offer {
    std::vector<std::string> words;  ///< an enumeration
    std::vector<std::string> kinds;  ///< lists that `syncline list KIND --names` prints when they are needed
    std::string paths;               ///< "files", "directories" or nothing
};

struct CompletedOption {
    std::vector<std::string> names;  ///< "--out", "-o"
    std::string description;         ///< a few words, without a full stop
    bool takes_value;
    Offer values;
};

struct CompletedVerb {
    std::string path;  ///< "run", or "results merge" for a verb of a verb
    std::string description;
    std::vector<CompletedOption> options;
    Offer arguments;  ///< and the names of its own verbs
};

/// Returns the program itself, with an empty path, its verbs, and after each of them its own.
std::vector<CompletedVerb> completed_verbs(const CLI::App& program);

/// Return the script for a shell: a fixed frame around a table. Names of presets and files are perhaps those of
/// strangers: the scripts must not let the shell expand them, and what a user accepts stays one argument and none of
/// the options.
std::string bash_completion(const std::vector<CompletedVerb>& verbs);
std::string zsh_completion(const std::vector<CompletedVerb>& verbs);
std::string fish_completion(const std::vector<CompletedVerb>& verbs);

/// Returns the arguments of the function `offer` of each script: words, kinds of presets, and paths.
std::string offer_arguments(const Offer& offer);

}  // namespace syncline::cli
