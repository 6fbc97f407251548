#include <fmt/format.h>

#include "sim/cli/completion.hpp"

namespace syncline::cli {

std::string bash_completion(const std::vector<CompletedVerb>& verbs) {
    std::string paths, options, values, arguments;
    for (const CompletedVerb& verb : verbs) {
        std::vector<std::string> names;
        for (const CompletedOption& option : verb.options)
            for (const std::string& name : option.names) {
                names.push_back(name);
                if (option.takes_value)
                    values += fmt::format("        '{} {}') _syncline_offer {}; return ;;\n", verb.path, name,
                                          offer_arguments(option.values));
            }
        if (!verb.path.empty()) paths += fmt::format("{}'{}'", paths.empty() ? "" : "|", verb.path);
        options +=
            fmt::format("            '{}') _syncline_offer {} ;;\n", verb.path, offer_arguments({names, {}, {}}));
        arguments += fmt::format("        '{}') _syncline_offer {} ;;\n", verb.path, offer_arguments(verb.arguments));
    }
    return R"(# Completion of Syncline for bash, as `syncline completion bash` prints it.

_syncline_offer() {  # WORDS KINDS PATHS: adds those that begin with $word to COMPREPLY
    local kind name
    while read -r name; do
        [[ $name && $name == "$word"* ]] && COMPREPLY+=("$name")
    done < <(
        printf '%s\n' ${1}
        for kind in ${2}; do "${COMP_WORDS[0]}" list "$kind" --names 2>/dev/null </dev/null; done
        case $3 in
            files) compgen -f -- "$word" ;;
            directories) compgen -d -- "$word" ;;
        esac
    )
    [[ $3 ]] && compopt -o filenames 2>/dev/null
    return 0
}

_syncline() {
    local word=${COMP_WORDS[COMP_CWORD]} path='' option='' last next
    local before=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
    if [[ $word == = ]]; then  # bash divides --option=value into three words
        word=''
        before+=(=)
    fi
    for next in "${before[@]}"; do
        last=$option
        option=''
        case ${path:+$path }$next in
            )" +
           paths + R"() path=${path:+$path }$next ;;
            *' =') option=$last ;;
            *' -'*) option=$next ;;
        esac
    done
    COMPREPLY=()
    if [[ $word == -* ]]; then
        case $path in
)" + options +
           R"(        esac
        return
    fi
    case "$path $option" in
)" + values +
           R"(    esac
    case $path in
)" + arguments +
           R"(    esac
}

complete -F _syncline syncline
)";
}

}  // namespace syncline::cli
