#include "sim/cli/completion.hpp"

#include <map>
#include <memory>

#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

void add_completion(CLI::App& program, Action& action) {
    using Script = std::string (*)(const std::vector<CompletedVerb>&);
    static const std::map<std::string, Script> scripts{
        {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
    CLI::App* verb = add_verb(program, "completion", "syncline completion bash",
                              "Print a script that completes verbs, options and names in a shell");
    const auto shell = std::make_shared<std::string>();
    verb->add_option("SHELL", *shell, "Shell that reads the script")
        ->option_text("bash|zsh|fish")
        ->required()
        ->check(one_of({"bash", "zsh", "fish"}));
    verb->footer(
        "To complete in this shell: `source <(syncline completion bash)`, the same with zsh (after compinit), or\n"
        "`syncline completion fish | source`. Packages install the scripts.");
    verb->callback([shell, &program, &action] {
        action = [shell, &program] { write_stdout(scripts.at(*shell)(completed_verbs(program))); };
    });
}

}  // namespace syncline::cli
