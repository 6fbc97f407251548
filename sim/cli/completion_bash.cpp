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

# Takes the shell's quotes from $word; $quote is the one that is still open. A directory with which the word begins, ~ or
# $NAME, moves to $kept and its value to $from. Fails if the shell would replace another part of the word.
_syncline_unquote() {
    local raw=$word letter
    word=''
    if [[ $raw =~ ^(~|\$([A-Za-z_][A-Za-z_0-9]*))/ ]]; then
        kept=${BASH_REMATCH[1]}
        from=$HOME raw=${raw:${#kept}}
        [[ ${BASH_REMATCH[2]} ]] && from=${!BASH_REMATCH[2]}
    fi
    [[ $raw == '~'* ]] && return 1
    while [[ $raw ]]; do
        letter=${raw:0:1} raw=${raw:1}
        case $quote$letter in
            "'" | '"') quote=$letter ;;
            "''" | '""') quote='' ;;
            '$' | '`' | '"$' | '"`') return 1 ;;
            \\) word+=${raw:0:1} raw=${raw:1} ;;
            \"\\)
                [[ $raw == [\$\`\"\\]* ]] && letter=${raw:0:1} raw=${raw:1}
                word+=$letter
                ;;
            *) word+=$letter ;;
        esac
    done
}

_syncline_paths() {  # files|directories: prints the paths that begin with $word, each with a zero byte after it
    local path
    for path in "$from$word"*; do
        [[ -e $path || -L $path ]] || continue
        [[ $1 == files || -d $path ]] || continue
        path=${path:${#from}}
        # At its beginning a dash would make it an option, and a tilde somebody's directory.
        [[ ! $word && $path == [-~]* ]] && path=./$path
        printf '%s\0' "$path"
    done
}

_syncline_list() {  # LIST: prints the names in it; variants are those of a scenario among the words
    local words=()
    [[ $1 == variants ]] && words=(-- "${before[@]}")
    "${COMP_WORDS[0]}" list "$1" --names "${words[@]}"
}

_syncline_offer() {  # WORDS KINDS PATHS: adds those that begin with $word to COMPREPLY
    local kind name strange=$kept names=() first='' end=''
    [[ $2 == keys ]] && end='='
    [[ $2 == columns && $word == *,* ]] && first=${word%,*},
    while IFS= read -r -d '' name; do
        [[ $name && $first$name == "$word"* ]] || continue
        names+=("$first$name$end")
        [[ $name == *[\$\`]* ]] && strange=1
    done < <(
        {
            printf '%s\n' ${1}
            for kind in ${2}; do _syncline_list "$kind" 2>/dev/null </dev/null; done
        } | tr '\n' '\0'
        [[ $3 ]] && _syncline_paths "$3"
    )
    if [[ ! $strange ]]; then
        COMPREPLY=("${names[@]}")
        case $2$3 in
            '') ;;
            keys | columns) compopt -o nospace 2>/dev/null ;;  # a value or a comma follows
            *) compopt -o filenames 2>/dev/null ;;             # bash then quotes them
        esac
        return
    fi
    # It would not quote what looks like a variable or a command, unless a file has that name.
    for name in "${names[@]}"; do
        case $quote$name in
            \'*\'* | \"*[\$\`\"\\!]*) continue ;;  # not within these quotes
        esac
        [[ $3 && -d $from$name ]] && name+=/
        [[ $quote ]] || printf -v name %q "$name"
        COMPREPLY+=("$kept$name")
    done
    [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == */ ]] && compopt -o nospace 2>/dev/null
}

_syncline() {
    local word=${COMP_WORDS[COMP_CWORD]} quote='' kept='' from='' path='' option='' last next
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
            *' =') option=${last:-=} ;;
            *' -'*) option=$next ;;
        esac
    done
    COMPREPLY=()
    [[ $option == = ]] && return  # the value of a key
    _syncline_unquote || return
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
