#include <fmt/format.h>

#include "sim/cli/completion.hpp"

namespace syncline::cli {

namespace {

/// Returns a description for _arguments and _describe, to stand in single quotes.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        if (letter == ':' || letter == '[' || letter == ']' || letter == '\\') result += '\\';
        result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return result;
}

/// Returns an action of _arguments; its single quotes stand in single quotes.
std::string action(const Offer& offer) {
    std::string text = offer_arguments(offer), result;
    for (const char letter : text) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return "{_syncline_offer " + result + "}";
}

}  // namespace

std::string zsh_completion(const std::vector<CompletedVerb>& verbs) {
    std::string names, inner, cases;
    for (const CompletedVerb& verb : verbs) {
        if (verb.path.empty()) continue;
        if (verb.path.find(' ') == verb.path.npos)
            names += fmt::format("        '{}:{}'\n", verb.path, escaped(verb.description));
        else
            inner += fmt::format("{}'{}'", inner.empty() ? "" : "|", verb.path);
        cases += fmt::format("        '{}')\n            _arguments", verb.path);
        for (const CompletedOption& option : verb.options)
            for (const std::string& name : option.names)
                cases += fmt::format(" \\\n                '*{}{}[{}]{}'", name,
                                     option.takes_value && name[1] == '-' ? "=" : "", escaped(option.description),
                                     option.takes_value ? ":value:" + action(option.values) : "");
        cases += fmt::format(" \\\n                '*:argument:{}' ;;\n", action(verb.arguments));
    }
    return R"(#compdef syncline
# Completion of Syncline for zsh, as `syncline completion zsh` prints it.

_syncline_offer() {  # WORDS KINDS PATHS
    local kind listed
    local -a names directories safe dashed typed more
    names=(${=1})
    [[ $2 == columns ]] && compset -P '*,'
    [[ $2 == columns ]] && more=(-S '')  # a comma may follow
    [[ $2 == keys ]] && more=(-S '=')
    [[ $2 == variants ]] && typed=(-- ${(Q)words})  # of a scenario among the words
    for kind in ${=2}; do
        listed=$($program list $kind --names $typed 2>/dev/null </dev/null)
        names+=(${(f)listed})
    done
    compadd "${more[@]}" -a names
    [[ $3 ]] || return 0
    [[ $3 == directories ]] && directories=(-/)
    if [[ -z $PREFIX ]]; then  # a dash at its beginning would make a path an option
        safe=(-F '(-*)')
        dashed=(./-*(N))
        [[ $3 == directories ]] && dashed=(./-*(N/))
        compadd -f -a dashed
    fi
    _files $directories $safe
}

_syncline() {
    local program=$words[1] verb=$words[2]
    local -a verbs
    verbs=(
)" + names +
           R"(    )
    if (( CURRENT == 2 )); then
        _describe verb verbs
        _arguments '--help[Print help]' '--version[Print the version]'
        return
    fi
    if (( CURRENT > 3 )); then
        case "$verb $words[3]" in
            )" +
           inner +
           R"() verb="$verb $words[3]"; shift words; (( CURRENT-- )) ;;
        esac
    fi
    shift words
    (( CURRENT-- ))
    case $verb in
)" + cases +
           R"(    esac
}

if [[ $funcstack[1] == _syncline ]]; then
    _syncline "$@"
else
    compdef _syncline syncline
fi
)";
}

}  // namespace syncline::cli
