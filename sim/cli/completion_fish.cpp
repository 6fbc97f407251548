#include <fmt/format.h>

#include "sim/cli/completion.hpp"

namespace syncline::cli {

namespace {

/// Returns a text in single quotes.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') result += '\\';
        result += letter;
    }
    return result + "'";
}

/// Returns the option -a of `complete`.
std::string offered(const Offer& offer) {
    return "-a " + quoted("(__syncline_offer " + offer_arguments(offer) + ")");
}

}  // namespace

std::string fish_completion(const std::vector<CompletedVerb>& verbs) {
    std::string lines;
    for (const CompletedVerb& verb : verbs) {
        const std::string line = "complete -c syncline -n " + quoted("__syncline_at " + verb.path) + " ";
        for (const CompletedVerb& other : verbs)
            if (!other.path.empty() && other.path.find(' ') == other.path.npos && verb.path.empty())
                lines += fmt::format("{}-a {} -d {}\n", line, other.path, quoted(other.description));
        for (const CompletedOption& option : verb.options) {
            lines += line;
            for (const std::string& name : option.names)
                lines += name[1] == '-' ? "-l " + name.substr(2) + " " : "-s " + name.substr(1) + " ";
            if (option.takes_value) lines += "-x " + offered(option.values) + " ";
            lines += "-d " + quoted(option.description) + "\n";
        }
        if (!verb.path.empty()) lines += line + offered(verb.arguments) + "\n";
    }
    return R"(# Completion of Syncline for fish, as `syncline completion fish` prints it.

function __syncline_offer --argument-names words kinds paths
    set -l program (commandline -opc)[1]
    string split -n ' ' -- $words
    for kind in (string split -n ' ' -- $kinds)
        $program list $kind --names 2>/dev/null </dev/null
    end
    switch $paths
        case files
            __fish_complete_path (commandline -ct)
        case directories
            __fish_complete_directories (commandline -ct)
    end
end

# Succeeds if the words before the cursor begin with these verbs; without verbs, if there is no word yet.
function __syncline_at
    set -l before (commandline -opc)[2..]
    if test (count $argv) -eq 0
        test (count $before) -eq 0
    else
        set -l first $before[1..(count $argv)]
        test "$first" = "$argv"
    end
end

complete -c syncline -f
)" + lines;
}

}  // namespace syncline::cli
