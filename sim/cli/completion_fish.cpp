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
    return "-a " + quoted("(__syncline_offer " + offer_arguments(offer) + " | string split0)");
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

# Prints the paths in the directory of the word before the cursor, each with a zero byte after it.
function __syncline_paths --argument-names kind
    set -l typed (commandline -ct | string collect)
    # A quote may still be open.
    set -l word (string unescape -- $typed | string collect; or string unescape -- $typed\' | string collect; or string unescape -- $typed\" | string collect)
    set -l base (string match -r -- '^(?s).*/' $word | string collect)
    set -l from $base
    if string match -q -- '~/*' $typed
        set from (string replace -- '~' $HOME $base | string collect)
    end
    for path in "$from"* "$from".*
        set -l name "$base"(string sub -s (math 1 + (string length -- "$from")) -- $path | string collect)
        if test -d $path
            set name $name/
        else if test $kind = directories
            continue
        end
        # At its beginning a dash would make it an option, and a tilde somebody's directory. For an empty word fish does
        # not show paths that begin with a dot.
        test -z "$base"; and string match -qr -- '^[-~]' $name; and set name $PWD/$name
        # After a tab fish expects a description.
        string match -q -- \*\t\* $name; or printf '%s\0' $name
    end
end

function __syncline_offer --argument-names words kinds paths
    set -l program (commandline -opc)[1]
    for name in (string split -n ' ' -- $words)
        printf '%s\0' $name
    end
    set -l typed
    test "$kinds" = variants; and set typed -- (commandline -opc)[2..] # of a scenario among the words
    set -l first
    set -l end
    test "$kinds" = keys; and set end =
    test "$kinds" = columns; and set first (string match -r -- '^.*,' (commandline -ct))
    for kind in (string split -n ' ' -- $kinds)
        for name in ($program list $kind --names $typed 2>/dev/null </dev/null)
            printf '%s\0' "$first$name$end"
        end
    end
    test -n "$paths"; and __syncline_paths $paths
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
